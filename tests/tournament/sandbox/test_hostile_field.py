"""A field of hostile entries, all at once, in a tournament with six honest ones.

The hostile programs are those of `attacks/`. Each attacks from the start of its match
to the end of the run, and the honest entries play each other meanwhile.
"""

import json
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import permutations
from pathlib import Path

import pytest

from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.setup import log_to_file
from asara_server.tournament.config.seeds import local_seed
from asara_server.tournament.runner import RunEnd, Runner
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from tests.tournament.runs import BASIC, play
from tests.tournament.sample_bots import entry_table
from tests.tournament.sandbox.test_hostile import own_cgroups
from tests.tournament.sandbox_config import living, sandbox_or_skip

ROOT = Path(__file__).parents[3]
ATTACKS = Path(__file__).with_name("attacks")
HONEST = ("random-1", "random-2", "random-3", "greedy-1", "greedy-2", "greedy-3")

OPEN_FILES = 1_024
"""Descriptors of the referee, as on most machines."""
MEMORY_MB = 300
"""Memory that the referee may need beyond that of a process with this test."""
LOG_BYTES = 1_000_000

MANY = (
    *("silent-streams", "health-names", "rapid-reset", "pings", "continuations"),
    *("half-messages", "inflated-messages", "varints", "hello-loop", "output-flood", "full-disk"),
)
"""All of them."""

FILE = """
title = "Field"
seats = [2, 3]
rules = "basic"
seed = "{seed}"
blocks = "independent"
process_per = "match"
jobs = {concurrency}

[clocks]
start_up_s = {start_up_s}
time_bank_s = 20
reconnect_s = 5

[limits]
output_bytes = 50_000
idle_processes = 4
memory_mib = 256
processes = 64
disk_mib = 16
"""


def write_field(folder: Path, hostile: Sequence[str], seconds: str, start_up_s: int) -> Path:
    """Write a tournament of these attacks, which last so long, and the honest entries."""
    folder.mkdir()
    text = FILE.format(
        concurrency=2 + (len(hostile) + 1) // 2,
        start_up_s=start_up_s,
        seed=local_seed("field"),
    )
    for name in HONEST:
        shutil.copytree(ROOT / "bots" / name.partition("-")[0], folder / name)
        text += entry_table(name)
    for name in hostile:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ATTACKS, folder / name / ATTACKS.name, ignore=ignored)
        text += entry_table(name, f"python -m attacks {name} {seconds}")
    (folder / "field.toml").write_text(text)
    return folder / "field.toml"


def tables(hostile: Sequence[str], honest_matches: int) -> list[ScheduledMatch]:
    """Return matches in which hostile entries meet honest ones, then those of the honest alone."""
    pairs = list(permutations(HONEST, 2))
    seats: list[tuple[str, ...]] = [
        (*hostile[number : number + 2], HONEST[number // 2 % len(HONEST)])
        for number in range(0, len(hostile), 2)
    ]
    found = [ScheduledMatch(f"x{n:02}", 1, BASIC, names) for n, names in enumerate(seats)]
    found += [
        ScheduledMatch(f"h{n:02}", 1, BASIC, pairs[n * 7 % len(pairs)])
        for n in range(honest_matches)
    ]
    return found


def played(file: Path, matches: Sequence[ScheduledMatch], sandbox: Sandbox) -> RunEnd:
    """Play as `asara tournament run` does, with the log of the run."""
    out = file.parent / "run"

    def log(_: Runner) -> None:
        stack.enter_context(log_to_file(LogOptions(), out / "run.log"))

    with ExitStack() as stack:
        return play(file, out, sandbox=sandbox, begun=log, matches=matches)


@contextmanager
def usual_descriptors() -> Iterator[None]:
    """Limit the descriptors of this process; they are as many at the exit as before."""
    before = names_in("/proc/self/fd")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(names_in("/proc/self/fd")) <= len(before) + 4  # gRPC opens a few once


def names_in(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def memory_mib(what: str) -> float:
    """Return memory of this process, `VmRSS` now or `VmHWM` at most since it was last cleared."""
    fields = Path("/proc/self/status").read_text().partition(f"{what}:")[2].split()
    return int(fields[0]) / 1024


def honest_only(end: RunEnd) -> list[MatchResult]:
    """Return the results of the matches among honest entries, by match."""
    found = [one for one in end.results if {seat.entry for seat in one.seats} <= set(HONEST)]
    return sorted(found, key=lambda one: one.match_id)


def outcome(result: MatchResult) -> tuple[object, ...]:
    return result.match_id, [(s.entry, s.rank, s.prestige, s.termination) for s in result.seats]


def check_field(
    folder: Path, hostile: Sequence[str], *, honest_matches: int, attack_s: float
) -> None:
    """Play with and without the hostile entries, and compare."""
    sandbox = sandbox_or_skip()
    # The calm run comes first: what gRPC keeps open and in memory is there before the other.
    calm = played(write_field(folder / "calm", (), "", 15), tables((), honest_matches), sandbox)
    mark = f"{attack_s + os.getpid() / 1e6:.6f}"
    matches = tables(hostile, honest_matches)
    files = write_field(folder / "hostile", hostile, mark, 15)
    shared = names_in("/dev/shm")
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory("field") as temporary:
        patch.setattr(tempfile, "tempdir", temporary)
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts anew
        before_mib = memory_mib("VmRSS")
        with usual_descriptors():
            end = played(files, matches, sandbox)
        assert memory_mib("VmHWM") - before_mib < MEMORY_MB
        assert names_in(temporary) == set()
    assert living(mark) == []
    assert own_cgroups() == []
    assert not {name for name in names_in("/dev/shm") - shared if "asara" in name}
    assert (folder / "hostile" / "run" / "run.log").stat().st_size < LOG_BYTES
    assert json.loads((folder / "hostile" / "run" / "run.json").read_text())["state"] == "finished"
    assert len(end.results) == len(matches)
    assert not set(HONEST) & {*end.unstartable, *end.suspended}
    forfeits = [s for one in end.results for s in one.seats if s.termination.forfeit]
    assert [seat for seat in forfeits if seat.entry in HONEST] == []
    assert list(map(outcome, honest_only(end))) == list(map(outcome, honest_only(calm)))


@pytest.mark.long
def test_honest_bots_do_not_suffer_from_hostile_ones(tmp_path: Path) -> None:
    check_field(tmp_path, MANY, honest_matches=30, attack_s=30)
