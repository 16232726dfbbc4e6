"""Compares a whole `asara tournament run` with its peers and with a bare loop.

Two random Python bots play a tournament under the basic rules, with two seats. Each measurement is
one run of the command, from a tournament file to the standings. It includes starting the bots,
playing the decisions, keeping the journal, signing replays and computing the standings. Processor
time includes all descendants. Jobs and peers alternate in rounds, and each figure is the median
over the rounds.

- `tournament_floor`: the bare loop of `floor.py`, which starts the same bots and sends the
  messages of the same matches, with gRPC as installed. In `tournament_floor_alike`, the loop runs
  without an event engine, like the referee (see `referee`).
- `tournament_decisions`: kaggle-environments, two random agents of its connectx, in process.
- `tournament_pelita`: the command `pelita` without a display, with two of its random bots as
  processes.
- `tournament_slow_start`: bots that think 5 ms and connect after 2 s, with a process for each
  match. The peer is the same bots without the 2 s. The time runs from the end of the first match to
  the end of the last, because nothing can hide the first start.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from asara_server.system import usable_cores
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox
from scripts.benchmark.children import AS_INSTALLED, Child, child
from scripts.benchmark.figures import Bar, Figure, compare
from scripts.benchmark.processor_time import counts_all
from scripts.benchmark.tournaments.job import Job, JobRun, play
from scripts.benchmark.tournaments.peers import (
    Rate,
    check_installed,
    play_floor,
    play_kaggle,
    play_pelita,
)

KEPT_BAR: Final = Bar(1.15, most=True)
FRESH_BAR: Final = Bar(0.35, most=True)
RATE_BAR: Final = Bar(3)
FLOOR_BAR: Final = Bar(0.6)
KAGGLE_BAR: Final = Bar(4)
PELITA_BAR: Final = Bar(2)
START_BAR: Final = Bar(1.1, most=True)

_ROUNDS: Final = 3
_MATCHES: Final = 200
_FEW_MATCHES: Final = 24
"""Number of matches in a job that starts new bots for each match, which takes longer."""
_THOUGHT_MATCHES: Final = 16
_SLOW_MATCHES: Final = 12
_QUICK_SHARE: Final = 0.1
_SLOW_S: Final = 2.0
_THOUGHT_S: Final = 0.005
_KAGGLE_S: Final = 1.5
_FRESH_PEER: Final = "fresh processes"
_FLOOR_PEER: Final = "bare loop and bots"
_ALIKE_PEER: Final = "loop without event engine"
_WIDTH: Final = 130
_COSTS: Final = {"bots": "bots_cpu_s", "referee": "referee_cpu_s"}
"""Headings and fields for the parts of a run's processor time."""

_FRESH: Final = Job("mirrored, fresh", _FEW_MATCHES, processes="match")
_KEPT: Final = Job("mirrored, kept", _MATCHES)
_INDEPENDENT: Final = Job("independent, kept", _MATCHES, blocks="independent")
_THINKING: Final = Job(
    "mirrored, fresh, 5 ms", _THOUGHT_MATCHES, processes="match", thought_s=_THOUGHT_S
)
_SLOW_THINKING: Final = replace(
    _THINKING, name="mirrored, fresh, 5 ms, 2 s to start", start_s=_SLOW_S
)
_COMPARED: Final = (_FRESH, _KEPT, _INDEPENDENT, _THINKING, _SLOW_THINKING)
"""Jobs of every round, needed for the figures."""
_SHOWN: Final = (
    replace(_FRESH, name="independent, fresh", blocks="independent"),
    replace(_FRESH, name="mirrored, fresh, 2 s to start", start_s=_SLOW_S, matches=_SLOW_MATCHES),
    replace(_KEPT, name="mirrored, kept, 2 s to start", start_s=_SLOW_S, matches=_FEW_MATCHES),
    replace(_THINKING, name="mirrored, kept, 5 ms", processes="run"),
    replace(_KEPT, name="mirrored, kept, a match a core", concurrency=usable_cores()),
)
"""Jobs of the first round only, shown in the table."""
_UNCONFINED: Final = tuple(replace(job, contained=False) for job in (_FRESH, _KEPT, _INDEPENDENT))


@dataclass(slots=True)
class _Measured:
    """All measurements, in the order of the rounds."""

    jobs: dict[str, list[JobRun]] = field(default_factory=dict)
    """Measurements by job name."""
    floor: list[Rate] = field(default_factory=list)
    floor_alike: list[Rate] = field(default_factory=list)
    kaggle: list[float] = field(default_factory=list)
    pelita: list[Rate] = field(default_factory=list)


def tournament(quick: bool) -> list[Figure]:
    """Measure whole tournaments and their peers; print where the time went."""
    check_installed()
    contained = _can_contain()
    if not counts_all():
        _say("There are no control groups: the processor time of contained bots is incomplete")
    measured = _Measured()
    with (
        tempfile.TemporaryDirectory(prefix="asara-bench-") as folder,
        child("tournaments.kaggle_steps") as kaggle,
    ):
        replays = Path(folder) / "replays"
        warm_up = replace(_INDEPENDENT, contained=contained)  # the first round also fills caches
        play(_sized(warm_up, quick), replays)
        for number in range(1 if quick else _ROUNDS):
            for job in _jobs(contained, first=number == 0):
                _say(f"  {job.name}")
                measured.jobs.setdefault(job.name, []).append(play(_sized(job, quick)))
                if job.name == _KEPT.name:
                    _play_peers(measured, kaggle, replays, quick)
    _show(measured)
    return _figures(measured)


def _jobs(contained: bool, *, first: bool) -> list[Job]:
    """Return the jobs of a round; without a sandbox, all jobs are unconfined."""
    jobs = [*_COMPARED, *(_SHOWN if first else ())]
    if not contained:
        return [replace(job, contained=False) for job in jobs]
    unconfined = [replace(job, name=f"{job.name}, unconfined") for job in _UNCONFINED]
    return [*jobs, *(unconfined if first else ())]


def _sized(job: Job, quick: bool) -> Job:
    """Return a job with an even number of matches."""
    return replace(job, matches=2 * max(1, round(job.matches * _QUICK_SHARE / 2))) if quick else job


def _play_peers(measured: _Measured, kaggle: Child, replays: Path, quick: bool) -> None:
    _say("  bare loop, kaggle-environments, Pelita")
    matches = _sized(_KEPT, quick).matches
    measured.floor.append(play_floor(replays, matches, usable_cores(), AS_INSTALLED))
    measured.floor_alike.append(play_floor(replays, matches, usable_cores()))
    measured.kaggle.append(play_kaggle(kaggle, 0.2 if quick else _KAGGLE_S))
    measured.pelita.append(play_pelita())


def _can_contain() -> bool:
    try:
        find_sandbox()
    except SandboxError as error:
        _say(f"All bots run unconfined: {error}")
        return False
    return True


def _figures(measured: _Measured) -> list[Figure]:
    fresh, kept, independent, thinking, slow = (measured.jobs[job.name] for job in _COMPARED)
    bots = _each(kept, "decisions_per_s")
    cpu = _each(kept, "match_ms")
    matches = _each(kept, "matches_per_s")
    floor, pelita, alike = measured.floor, measured.pelita, measured.floor_alike
    figures = (
        ("kept", cpu, _each(independent, "match_ms"), "ms/match", "independent", KEPT_BAR),
        ("fresh", cpu, _each(fresh, "match_ms"), "ms/match", _FRESH_PEER, FRESH_BAR),
        ("rate", matches, _each(fresh, "matches_per_s"), "matches/s", _FRESH_PEER, RATE_BAR),
        ("floor", matches, [one.per_s for one in floor], "matches/s", _FLOOR_PEER, FLOOR_BAR),
        ("floor_cpu", cpu, [one.cpu_s * 1e3 for one in floor], "ms/match", _FLOOR_PEER, None),
        ("floor_alike", matches, [one.per_s for one in alike], "matches/s", _ALIKE_PEER, None),
        ("decisions", bots, measured.kaggle, "decisions/s", "kaggle-environments", KAGGLE_BAR),
        ("pelita", bots, [one.per_s for one in pelita], "decisions/s", "Pelita", PELITA_BAR),
        (
            "pelita_cpu",
            _each(kept, "decision_us"),
            [one.cpu_s * 1e6 for one in pelita],
            "µs/decision",
            "Pelita",
            None,
        ),
        (
            "slow_start",
            _each(slow, "between_s"),
            _each(thinking, "between_s"),
            "s",
            "quick starts",
            START_BAR,
        ),
    )
    return [
        compare(f"tournament_{name}", zip(ours, theirs, strict=True), unit=unit, peer=peer, bar=bar)
        for name, ours, theirs, unit, peer, bar in figures
    ]


def _each(runs: Sequence[JobRun], name: str) -> list[float]:
    return [float(getattr(run, name)) for run in runs]


def _show(measured: _Measured) -> None:
    """Print a table of the jobs: medians, with processor milliseconds per match."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    table.add_column("job", no_wrap=True)
    for heading in ("matches/s", "decisions/s", "total", *_COSTS, "busy"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, runs in measured.jobs.items():
        rate, decisions, cpu = (
            median(_each(runs, column))
            for column in ("matches_per_s", "decisions_per_s", "match_ms")
        )
        table.add_row(name, f"{rate:.1f}", f"{decisions:,.0f}", f"{cpu:.0f}", *_division(runs))
    floor = median(rate.per_s for rate in measured.floor)
    floor_cpu = median(rate.cpu_s * 1e3 for rate in measured.floor)
    table.add_row("bare loop", f"{floor:.1f}", "", f"{floor_cpu:.0f}")
    console = Console()
    console.width = max(console.width, _WIDTH)
    console.print(
        "Processor time per match and its parts, in ms. Only the total contains the start and the "
        "end of the command.\nBusy: share of the cores."
    )
    console.print(table)


def _division(runs: Sequence[JobRun]) -> list[str]:
    """Return table cells that show where the processor time went."""
    parts = [
        f"{median(1e3 * getattr(run.costs, field) / run.matches for run in runs):.1f}"
        for field in _COSTS.values()
    ]
    busy = median(run.costs.cpu_s / run.costs.core_s for run in runs)
    return [*parts, f"{busy:.0%}"]


def _say(text: str) -> None:
    print(text, file=sys.stderr)
