"""The executor that is chosen by measurement: the same results, and the choice is recorded."""

import sys
from pathlib import Path

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
    """A folder with a tournament of twelve blocks, and its run as one referee plays it."""
    folder = tmp_path_factory.mktemp("auto")
    programs = dict.fromkeys(("ann", "bob", "cid", "dot"), STEADY)
    write_tournament(folder, programs, HEADER + 'blocks = "mirrored"\nrounds = 2\n', PATIENT)
    play(folder / "cup.toml", folder / "local")
    return folder


def auto(
    cup: Path,
    name: str,
    found: Measurement | None,
    cores: int = 8,
    only_local: str = "",
    file: Path | None = None,
) -> tuple[RunInfo, list[str]]:
    """Play with this measurement after the first match; return run.json and what is printed."""

    async def measure(progress: RunProgress, concurrency: int) -> Measurement:
        assert concurrency == 2
        real = await measured(progress, 1)
        assert real.busy > 0
        assert real.left_s > 0
        return found or real

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
    assert printed == [f"Executor: processes, because {why}"]
    assert (info.executor, info.executor_reason) == ("processes", why)
    run = cup / "handed-over"
    by_workers = (run / "submissions.jsonl").read_text().count('"block"')
    assert 0 < by_workers < 12
    assert outcome(run) == outcome(cup / "local")
    assert "submissions.jsonl:" not in asara("audit", run).stdout
    assert not (run / "journals").exists()


def test_a_referee_that_keeps_up_plays_on(cup: Path) -> None:
    info, printed = auto(cup, "kept", Measurement(busy=0.4, left_s=600.0))
    why = "the referee uses 40% of a core and keeps up with the bots"
    assert printed == [f"Executor: local, because {why}"]
    assert (info.executor, info.executor_reason) == ("local", why)
    assert not (cup / "kept" / "submissions.jsonl").exists()


@pytest.mark.parametrize(
    ("cores", "only_local", "why"),
    [
        (2, "", "of 2 cores, bots use what one referee leaves"),
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
    _, printed = auto(cup, f"never-{cores}", BUSY, cores, only_local)
    assert printed == [f"Executor: local, because {why}"]


def test_workers_that_could_keep_no_processes_are_not_chosen(cup: Path) -> None:
    text = (cup / "cup.toml").read_text()
    file = cup / "few.toml"
    file.write_text(f"{text}\n[limits]\nidle_processes = 15\n")
    _, printed = auto(cup, "few", BUSY, file=file)
    assert len(printed) == 1
    assert printed[0].startswith("Executor: local, because the referee uses 97% of a core, so bots")
    assert printed[0].endswith("their next matches (limits.idle_processes = 15)")


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
