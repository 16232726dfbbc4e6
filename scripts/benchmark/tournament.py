"""The whole job, `asara tournament run`, beside its peers and beside a bare loop.

Two random Python bots play a tournament by the basic rules, with two seats. Each measurement is one
run of the command, from a tournament file to the standings, so it contains starting bots, playing
their decisions, the journal, signing replays and the standings. Processor time is that of all
descendants. Jobs and peers alternate in rounds, and a figure is the median over the rounds.

- `tournament_floor`: the bare loop of `tournament_floor`, which starts the same bots and sends the
  messages of the same matches.
- `tournament_decisions`: kaggle-environments, two random agents of its connectx, in process.
- `tournament_pelita`: the command `pelita` without a display, two of its random bots as processes.
- `tournament_slow_start`: bots that think 5 ms and dial in after 2 s, a process for each match,
  beside the same bots without these 2 s. The time goes from the end of the first match to that of
  the last, because nothing can hide the first start.
"""

import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.sandbox.probe import SandboxError, find_sandbox
from scripts.benchmark.children import Child, child
from scripts.benchmark.figures import Bar, Figure, compare
from scripts.benchmark.processor_time import counts_all
from scripts.benchmark.tournament_job import Job, JobRun, play
from scripts.benchmark.tournament_peers import (
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
_MATCHES: Final = 100
_FEW_MATCHES: Final = 24
"""Matches of a job that starts the bots of each, which takes longer."""
_THOUGHT_MATCHES: Final = 16
_QUICK_SHARE: Final = 0.1
_SLOW_S: Final = 2.0
_THOUGHT_S: Final = 0.005
_KAGGLE_S: Final = 1.5
_WIDTH: Final = 132
_COSTS: Final = {
    "starts": "start_cpu_s",
    "bots": "bots_cpu_s",
    "referee": "referee_cpu_s",
    "journal": "journal_cpu_s",
    "runner": "runner_cpu_s",
}
"""Headings and fields of the parts of a run's processor time."""

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
"""Jobs of every round, which the figures need."""
_SHOWN: Final = (
    replace(_FRESH, name="independent, fresh", blocks="independent"),
    replace(_FRESH, name="mirrored, fresh, 2 s to start", start_s=_SLOW_S),
    replace(_KEPT, name="mirrored, kept, 2 s to start", start_s=_SLOW_S),
    replace(_THINKING, name="mirrored, kept, 5 ms", processes="run"),
)
"""Jobs of the first round, which only the table shows."""
_UNCONFINED: Final = tuple(replace(job, contained=False) for job in (_FRESH, _KEPT, _INDEPENDENT))


@dataclass(slots=True)
class _Measured:
    """All measurements, in the order of the rounds."""

    jobs: dict[str, list[JobRun]] = field(default_factory=dict)
    """By name of the job."""
    floor: list[Rate] = field(default_factory=list)
    kaggle: list[float] = field(default_factory=list)
    pelita: list[Rate] = field(default_factory=list)


def tournament(quick: bool) -> list[Figure]:
    """Measure whole tournaments beside their peers; print where their time went."""
    check_installed()
    contained = _can_contain()
    if not counts_all():
        _say("There are no control groups: the processor time of contained bots is incomplete")
    measured = _Measured()
    with (
        tempfile.TemporaryDirectory(prefix="asara-bench-") as folder,
        child("kaggle_steps") as kaggle,
    ):
        replays = Path(folder) / "replays"
        play(
            _sized(replace(_INDEPENDENT, contained=contained), quick), replays
        )  # fills caches, too
        for number in range(1 if quick else _ROUNDS):
            for job in _jobs(contained, first=number == 0):
                _say(f"  {job.name}")
                measured.jobs.setdefault(job.name, []).append(play(_sized(job, quick)))
                if job.name == _KEPT.name:
                    _play_peers(measured, kaggle, replays, quick)
    _show(measured)
    return _figures(measured)


def _jobs(contained: bool, *, first: bool) -> list[Job]:
    """Return the jobs of a round; without a sandbox, all are unconfined."""
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
    measured.floor.append(play_floor(replays, matches, usable_cores()))
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
    cpu = [run.cpu_per_match * 1e3 for run in kept]
    matches = [run.matches_per_s for run in kept]
    decisions = [run.decisions_per_s for run in kept]
    per_decision = [run.cpu_s / run.decisions * 1e6 for run in kept]
    beside_independent = zip(cpu, (run.cpu_per_match * 1e3 for run in independent), strict=True)
    beside_fresh = zip(cpu, (run.cpu_per_match * 1e3 for run in fresh), strict=True)
    rates = zip(matches, (run.matches_per_s for run in fresh), strict=True)
    floor = zip(matches, (rate.per_s for rate in measured.floor), strict=True)
    floor_cpu = zip(cpu, (rate.cpu_s * 1e3 for rate in measured.floor), strict=True)
    kaggle = zip(decisions, measured.kaggle, strict=True)
    pelita = zip(decisions, (rate.per_s for rate in measured.pelita), strict=True)
    pelita_cpu = zip(per_decision, (rate.cpu_s * 1e6 for rate in measured.pelita), strict=True)
    starts = zip((run.between_s for run in slow), (run.between_s for run in thinking), strict=True)
    ms = "ms of processor/match"
    peer = "bare loop of processes and echo"
    return [
        compare("tournament_kept", beside_independent, unit=ms, peer="independent", bar=KEPT_BAR),
        compare("tournament_fresh", beside_fresh, unit=ms, peer="fresh processes", bar=FRESH_BAR),
        compare("tournament_rate", rates, unit="matches/s", peer="fresh processes", bar=RATE_BAR),
        compare("tournament_floor", floor, unit="matches/s", peer=peer, bar=FLOOR_BAR),
        compare("tournament_floor_cpu", floor_cpu, unit=ms, peer=peer),
        compare(
            "tournament_decisions",
            kaggle,
            unit="decisions/s",
            peer="kaggle-environments, in process",
            bar=KAGGLE_BAR,
        ),
        compare("tournament_pelita", pelita, unit="decisions/s", peer="Pelita", bar=PELITA_BAR),
        compare("tournament_pelita_cpu", pelita_cpu, unit="µs of processor", peer="Pelita"),
        compare("tournament_slow_start", starts, unit="s", peer="quick starts", bar=START_BAR),
    ]


def _show(measured: _Measured) -> None:
    """Print a table of the jobs, in medians, with processor milliseconds per match."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    table.add_column("job", no_wrap=True)
    for heading in ("matches/s", "decisions/s", "ms/match", *_COSTS, "cores busy", "deciding"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, runs in measured.jobs.items():
        rates = (
            median(run.matches_per_s for run in runs),
            median(run.decisions_per_s for run in runs),
        )
        cpu = median(run.cpu_per_match * 1e3 for run in runs)
        table.add_row(name, f"{rates[0]:.1f}", f"{rates[1]:,.0f}", f"{cpu:.0f}", *_division(runs))
    for name, peers in (("bare loop", measured.floor), ("Pelita", measured.pelita)):
        rate = f"{median(peer.per_s for peer in peers):,.1f}"
        cpu = median(peer.cpu_s * 1e3 for peer in peers)
        table.add_row(name, rate, "", f"{cpu:.0f}")
    console = Console()
    console.width = max(console.width, _WIDTH)
    console.print("Processor time per match, in ms; the command's own start is in the total only")
    console.print(table)


def _division(runs: list[JobRun]) -> list[str]:
    """Return the cells of where the processor time went; empty if the runs do not record it."""
    costs = [run.costs for run in runs if run.costs is not None]
    if not costs:
        return []
    parts = [
        f"{median(1e3 * cost.get(field, 0.0) / cost['matches'] for cost in costs):.1f}"
        for field in _COSTS.values()
    ]
    busy = median(
        sum(cost.get(field, 0.0) for field in _COSTS.values()) / cost["core_s"] for cost in costs
    )
    deciding = median(cost["deciding_s"] / cost["slot_s"] for cost in costs)
    return [*parts, f"{busy:.0%}", f"{deciding:.0%}"]


def _say(text: str) -> None:
    print(text, file=sys.stderr)
