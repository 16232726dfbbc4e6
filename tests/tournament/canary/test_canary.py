"""What a bot carries from match to match, by the lifetime of its processes and the kind of block.

`canary.py` tries everything. Each test states exactly what arrives, and from where.
"""

import os
import secrets
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.execution.executor import Executor
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.workers.process_workers import process_workers
from asara_server.tournament.workers.worker_executor import WorkerExecutor
from tests.sizes import others_long
from tests.tournament.runs import play
from tests.tournament.sample_bots import SEED, entry_table

CANARY = Path(__file__).parent / "canary.py"
BUNDLED = Path(__file__).parents[3] / "bots"

Origin = Literal["same process", "same block", "other process"]
"""Sender of a note: the same process, another one of its entry in a match of the same block, or
any other one."""

MEMORY = {"global", "random", "environment", "thread"}
FILES = {"/tmp", "own folder", "home", "/dev/shm"}
SOCKETS = {"abstract socket", "path socket"}
CHILDREN = {"command line", "child"}
CONTAINED = MEMORY | FILES | SOCKETS | CHILDREN
"""Everything that works within a sandbox."""
KERNEL = {"System V memory", "message queue"}
"""Refused in the sandbox."""


class Arrival(NamedTuple):
    entry: str
    carrier: str
    origin: Origin


class Report(NamedTuple):
    """The lines of all canaries of a run."""

    arrivals: set[Arrival]
    processes: Mapping[str, list[str]]
    """The process of each match, by entry."""
    met_twice: set[tuple[str, str]]
    """Processes that played several matches of a block, each with the block."""


def enter(folder: Path, head: str, policies: Mapping[str, str], nest: str = "nest-{name}") -> Path:
    """Write a tournament of canaries, whose names are the keys of `policies`.

    Those with one `nest` leave each other messages.
    """
    text = f'title = "Cup"\nseats = 2\nrules = "basic"\nseed = "{SEED}"\n{head}\n'
    for name, processes in policies.items():
        (folder / name).mkdir()
        shutil.copy(CANARY, folder / name)
        settings = f'{{ NEST = "{nest.format(name=name)}" }}'
        policy = f'"{processes}"'
        text += entry_table(name, "python canary.py", process_per=policy, environment=settings)
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


def block_of(match_id: str) -> str:
    return match_id.rpartition("-")[0]


def lines_of(run: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of all logs, each with the name of the entry."""
    for path in (run / "logs").glob("*/*.log"):
        for line in path.read_text().splitlines():
            if line.startswith(("MATCH ", "ARRIVED ")):
                yield path.stem.partition("-")[2], line.split(" ", 4)


def report_of(run: Path) -> Report:
    report = Report(set(), defaultdict(list), set())
    blocks: dict[tuple[str, str], str] = {}
    for entry, (kind, match_id, process, *arrival) in lines_of(run):
        if kind == "MATCH":
            report.processes[entry].append(process)
            if blocks.setdefault((process, block_of(match_id)), match_id) != match_id:
                report.met_twice.add((process, block_of(match_id)))
            continue
        note, carrier = arrival
        sender, _, sent_in = note.partition("/")
        other: Origin = "other process"
        if block_of(sent_in) == block_of(match_id):
            other = "same block"
        report.arrivals.add(Arrival(entry, carrier, "same process" if sender == process else other))
    return report


def arrived(report: Report, entry: str) -> dict[Origin, set[str]]:
    """Return the carriers that worked for an entry, by the origin of the notes."""
    found: dict[Origin, set[str]] = defaultdict(set)
    for arrival in report.arrivals:
        if arrival.entry == entry:
            found[arrival.origin].add(arrival.carrier)
    return found


POLICIES = {"kept": "run", "fresh": "match"}


@pytest.mark.parametrize(
    ("blocks", "at_once"),
    others_long([("independent", 1), ("mirrored", 1), ("mirrored", 2)], 3),
)
def test_a_contained_bot_is_reached_by_its_own_process_only(
    tmp_path: Path, sandbox: Sandbox, blocks: str, at_once: int
) -> None:
    head = f'blocks = "{blocks}"\nrounds = 3\njobs = {at_once}'
    end = play(enter(tmp_path, head, POLICIES), tmp_path / "run", sandbox=sandbox)
    assert not any(result.forfeits for result in end.results)
    report = report_of(tmp_path / "run")
    assert arrived(report, "kept") == {"same process": CONTAINED}
    assert arrived(report, "fresh") == {}
    assert {name: len(used) for name, used in report.processes.items()} == {"kept": 6, "fresh": 6}
    assert len(set(report.processes["fresh"])) == 6
    if blocks == "mirrored":
        assert report.met_twice == set()
    if at_once == 1:  # with one for each leg of mirrored blocks
        assert len(set(report.processes["kept"])) == 1 + (blocks == "mirrored")


@pytest.fixture
def nest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Prefix of the NEST of unconfined canaries; what they leave on this machine is removed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    nest = secrets.token_hex(4)
    yield nest
    for name in POLICIES:
        words = [sys.executable, str(CANARY), "clean"]
        subprocess.run(words, env={**os.environ, "NEST": f"{nest}-{name}"}, check=True)


@pytest.mark.long
def test_an_unconfined_bot_is_reached_by_all_processes_of_its_entry(
    tmp_path: Path, nest: str
) -> None:
    """So the canary works: it is the sandbox that keeps processes apart."""
    head = 'blocks = "mirrored"\nrounds = 2\njobs = 1'
    file = enter(tmp_path, head, POLICIES, nest + "-{name}")
    play(file, tmp_path / "run")
    report = report_of(tmp_path / "run")
    outside = FILES | KERNEL
    assert report.met_twice == set()
    for name in POLICIES:  # some carriers hold the last note only, which is of another block
        found = arrived(report, name)
        assert FILES <= found["same block"] <= outside | CHILDREN
        assert outside <= found["same block"] | found["other process"]
    assert MEMORY & set().union(*arrived(report, "fresh").values()) == set()
    assert arrived(report, "kept")["same process"] >= MEMORY | SOCKETS | {"loopback"}


def transcripts(run: Path) -> dict[str, object]:
    """Return everything that the bots decided and reached, by match."""
    return {
        path.name: (
            [(one.seat, one.actions) for one in replay.records if isinstance(one, ReplyRecord)],
            [(seat.entry, seat.rank, seat.prestige) for seat in replay.results],
        )
        for path in (run / "replays").iterdir()
        for replay in [read_replay(path)]
    }


@pytest.mark.long
@pytest.mark.parametrize(
    "blocks", ["mirrored", pytest.param("independent", marks=pytest.mark.long)]
)
def test_deterministic_bots_play_the_same_under_every_policy_order_and_executor(
    tmp_path: Path, blocks: str
) -> None:
    def played(name: str, processes: str, at_once: int, executor: Executor | None = None) -> Path:
        text = (
            f'title = "Cup"\nseats = 2\nrules = "basic"\nseed = "{SEED}"\nrounds = 2\n'
            f'blocks = "{blocks}"\njobs = {at_once}\nprocess_per = "{processes}"\n'
        )
        for entry in ("greedy", "random"):
            text += (
                f'\n[[entries]]\nname = "{entry}"\ncommand = "python main.py"\n'
                f'directory = "{BUNDLED / entry}"\n'
            )
        file = tmp_path / f"{name}.toml"
        file.write_text(text)
        play(file, tmp_path / name, executor)
        return tmp_path / name

    first = played("kept", "run", 2)
    with process_workers(1) as backend:
        others = [
            played("fresh", "match", 2),
            played("kept-by-workers", "run", 1, WorkerExecutor(backend)),
        ]
    expected = transcripts(first)
    assert len(expected) == 4
    assert len({str(match) for match in expected.values()}) == 4
    for run in others:
        assert transcripts(run) == expected
        assert (run / "standings.json").read_bytes() == (first / "standings.json").read_bytes()
