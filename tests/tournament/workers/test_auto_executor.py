"""The executor that is chosen by measurement: the same results, and the choice is recorded."""

import asyncio
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from asara_server.tournament.execution.local_executor import LocalExecutor
from asara_server.tournament.run.directory import RunInfo, read_info
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.workers.auto_executor import AutoExecutor, Measurement, measured
from asara_server.tournament.workers.process_workers import process_workers
from tests.cli.command import asara
from tests.tournament.processes import running_processes
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.worker_runs import HEADER, PATIENT, outcome

BUSY = Measurement(busy=0.97, left_s=600.0)


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tournament of three blocks, and its run as one referee plays it.

    It has another tournament, `short.toml`, with one block.
    """
    folder = tmp_path_factory.mktemp("auto")
    header = HEADER + 'blocks = "mirrored"\n'
    programs = {"ann": STEADY, "bob": STEADY}
    write_tournament(folder, programs, header, PATIENT).rename(folder / "short.toml")
    write_tournament(folder, programs, header + "rounds = 3\n", PATIENT)
    play(folder / "cup.toml", folder / "local")
    return folder


def auto(
    cup: Path,
    name: str,
    found: Measurement,
    cores: int = 8,
    only_local: str = "",
    file: Path | None = None,
) -> tuple[RunInfo, list[str]]:
    """Play with this measurement after the first match; return run.json and what is printed."""

    async def measure(progress: RunProgress, concurrency: int) -> Measurement:
        assert concurrency == 2
        while True:
            if progress.results:
                return found
            await asyncio.sleep(0.01)

    printed: list[str] = []
    with process_workers(2) as backend:
        executor = AutoExecutor(
            LocalExecutor(),
            backend,
            only_local=only_local,
            notify=printed.append,
            cores=cores,
            measure=measure,
        )
        end = play(file or cup / "cup.toml", cup / name, executor)
    assert end.standings.complete
    assert end.costs.matches == len(end.results)
    return read_info(cup / name), printed


def test_a_referee_that_is_too_slow_hands_over_to_workers(cup: Path) -> None:
    info, printed = auto(cup, "handed-over", BUSY)
    why = "the referee uses 97% of a core, so bots wait for it"
    assert printed == [f"2 worker processes play the other deal blocks: {why}."]
    assert (info.executor, info.executor_reason) == ("processes", why)
    run = cup / "handed-over"
    by_workers = (run / "submissions.jsonl").read_text().count('"block"')
    assert 0 < by_workers < 3
    assert outcome(run) == outcome(cup / "local")
    assert "submissions.jsonl:" not in asara("audit", run).stdout
    assert not (run / "journals").exists()


def test_a_referee_that_keeps_up_plays_on(cup: Path) -> None:
    info, printed = auto(cup, "kept", Measurement(busy=0.4, left_s=600.0))
    why = "the referee uses 40% of a core and keeps up with the bots"
    assert printed == [f"One referee plays all matches: {why}."]
    assert (info.executor, info.executor_reason) == ("local", why)
    assert not (cup / "kept" / "submissions.jsonl").exists()


@pytest.mark.parametrize(
    ("cores", "only_local", "why"),
    [
        (2, "", "with 2 cores, workers would take processor time from bots"),
        (
            8,
            "bots on other machines connect to one referee",
            "bots on other machines connect to one referee",
        ),
    ],
)
def test_workers_are_not_chosen_if_they_would_not_help(
    cup: Path, cores: int, only_local: str, why: str
) -> None:
    _, printed = auto(cup, f"never-{cores}", BUSY, cores, only_local, cup / "short.toml")
    assert printed == [f"One referee plays all matches: {why}."]


def test_workers_that_could_keep_no_processes_are_not_chosen(cup: Path) -> None:
    text = (cup / "cup.toml").read_text()
    file = cup / "few.toml"
    file.write_text(f"{text}\n[limits]\nidle_processes = 7\n")
    _, printed = auto(cup, "few", BUSY, file=file)
    assert len(printed) == 1
    assert printed[0].startswith(
        "One referee plays all matches: the referee uses 97% of a core, so bots"
    )
    assert printed[0].endswith("their next matches (limits.idle_processes = 7).")


@dataclass
class Counting:
    """A run in which a match is over every 50 ms, until none is left."""

    results: list[int] = field(default_factory=list)
    left: int = 100

    def pending_matches(self) -> range:
        return range(self.left)

    async def play(self) -> None:
        while self.left:
            await asyncio.sleep(0.05)
            self.results.append(1)
            self.left -= 1


@pytest.mark.parametrize("works", [True, False])
def test_the_share_of_a_core_is_that_of_this_process(works: bool) -> None:
    async def scenario() -> Measurement:
        run = Counting()
        playing = asyncio.create_task(run.play())
        busy = threading.Event()
        worker = threading.Thread(target=spin, args=[busy])
        if works:
            worker.start()
        try:
            return await measured(cast("RunProgress", run), 4)
        finally:
            busy.set()
            playing.cancel()

    def spin(over: threading.Event) -> None:
        while not over.is_set():
            sum(range(1000))

    found = asyncio.run(scenario())
    assert found.left_s > 0
    assert (found.busy > 0.05) == works


def test_a_short_run_is_not_worth_workers() -> None:
    short = Measurement(busy=0.97, left_s=12.0)
    assert not short.needs_workers
    assert short.reason == (
        "the referee uses 97% of a core, but the run takes only about 12 s more"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_worker_is_started_before_the_choice() -> None:
    before = set(running_processes())
    with process_workers(4) as backend:
        AutoExecutor(LocalExecutor(), backend)
        assert not any(
            b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
            for pid in set(running_processes()) - before
            if Path(f"/proc/{pid}").exists()
        )
