"""How long bots thought: from the replays, which are read but not played again."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asara_server.eventlog.replay import Replay, ReplayError
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_signed
from asara_server.replay.signing import fingerprint
from asara_server.report.run import ReportedRun
from asara_server.tournament.standings.match_result import MatchResult

MOST_REPLAYS = 2_000
"""Replays that are read; of more, so many evenly spread ones."""


class Spent(NamedTuple):
    """The time of a bot in one match."""

    entry: str
    bot_us: tuple[int, ...]
    """Of each reply."""
    clock_share: float
    """Of the time that the clock gave it, what it was charged: 0 to 1."""


@dataclass(frozen=True, slots=True)
class TimeUse:
    """The time of an entry. Decisions that ran out of time had no reply, and are not in it."""

    entry: str
    matches: int
    replies: int
    """One may answer several decisions in a row."""
    median_s: float
    p95_s: float
    """95 % of the replies took no longer."""
    longest_s: float
    match_s: float
    """Mean of the whole match."""
    clock_share: float
    """Mean over the matches of the share that it used of the time that the clock gave it."""
    highest_share: float


@dataclass(frozen=True, slots=True)
class Times:
    """What the replays tell."""

    entries: tuple[TimeUse, ...]
    """The slowest first, by median."""
    read: int
    """Replays that were read and are sound."""
    matches: int
    """Matches that count, each of which should have one."""
    asked: int
    """Of these, how many were to be read: all, or a sample."""
    missing: int
    """Of those that should have been read, how many are not there."""
    problems: tuple[str, ...]
    """Replays that could not be read, and why."""


def time_use(run: ReportedRun, results: Sequence[MatchResult], most: int = MOST_REPLAYS) -> Times:
    """The times in the replays of these results, which are in the order of the schedule.

    Of more than `most` matches, `most` are read, evenly spread over that order.
    """
    chosen = evenly(results, most)
    spent: list[Spent] = []
    problems: list[str] = []
    read = missing = 0
    for result in chosen:
        name = f"{result.played_as}.asara"
        if name not in run.replay_names:
            missing += 1
            continue
        try:
            spent += _read(run, result, name)
            read += 1
        except ReplayError as error:
            problems.append(f"{name}: {error}")
    return Times(tuple(_totals(spent)), read, len(results), len(chosen), missing, tuple(problems))


def evenly(results: Sequence[MatchResult], most: int) -> list[MatchResult]:
    """`most` of these, evenly spread; all where there are not more."""
    if len(results) <= most:
        return list(results)
    return [results[number * len(results) // most] for number in range(most)]


def _read(run: ReportedRun, result: MatchResult, name: str) -> list[Spent]:
    path = run.replays / name
    try:
        file = read_signed(path)
    except ReplayError as error:
        raise ReplayError(str(error).removeprefix(f"{path}: ")) from None
    signer = file.signature.public_key
    if run.public_key not in (None, signer):
        raise ReplayError(f"signed by another key than the referee's: {fingerprint(signer)}")
    header = file.replay.header
    played = tuple(line.entry for line in result.seats)
    if (header.match_id, header.entries) != (result.played_as, played):
        raise ReplayError("is of another match than its name and the results say")
    return list(_spent(file.replay))


def _spent(replay: Replay) -> Iterable[Spent]:
    clocks = replay.header.clocks
    by_seat: list[list[int]] = [[] for _ in replay.header.entries]
    for record in replay.records:
        if isinstance(record, ReplyRecord):
            by_seat[record.seat].append(record.bot_us)
    for entry, bot_us in zip(replay.header.entries, by_seat, strict=True):
        charged = sum(max(0, cost - clocks.grace_us) for cost in bot_us)
        given = clocks.bank_us + clocks.increment_us * len(bot_us)
        yield Spent(entry, tuple(bot_us), charged / given if given else 0.0)


def _totals(spent: Iterable[Spent]) -> Iterable[TimeUse]:
    by_entry: dict[str, list[Spent]] = defaultdict(list)
    for one in spent:
        by_entry[one.entry].append(one)
    lines = [
        _total(entry, own) for entry, own in by_entry.items() if any(one.bot_us for one in own)
    ]
    return sorted(lines, key=lambda line: (-line.median_s, -line.p95_s, line.entry))


def _total(entry: str, own: Sequence[Spent]) -> TimeUse:
    seconds = np.array([cost for one in own for cost in one.bot_us]) / 1e6
    median, p95 = np.percentile(seconds, (50, 95)).tolist()
    shares = [one.clock_share for one in own]
    return TimeUse(
        entry=entry,
        matches=len(own),
        replies=len(seconds),
        median_s=median,
        p95_s=p95,
        longest_s=float(seconds.max()),
        match_s=float(seconds.sum()) / len(own),
        clock_share=sum(shares) / len(shares),
        highest_share=max(shares),
    )
