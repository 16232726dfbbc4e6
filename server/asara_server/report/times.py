"""Replays and key of a run, and the thinking times in the replays, which are not re-simulated."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from asara_server.journal.replay import Replay, ReplayError
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import SUFFIX, parse_file, read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, KeyFileError, fingerprint, read_public_key
from asara_server.text import plain
from asara_server.tournament.standings.match_result import MatchResult


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """Replays and key of a run, in whatever state the run is."""

    replays: Path
    published: frozenset[str]
    """Names of the matches that have a replay file. Links do not count."""
    public_key: bytes | None
    """The key that should have signed the replays, 32 bytes; None if it cannot be read."""
    problems: tuple[str, ...]
    """Files that could not be read, with the reason."""


def read_published_files(directory: Path) -> PublishedFiles:
    problems = []
    key = None
    try:
        key = read_public_key(directory / PUBLIC_KEY_FILE)
    except KeyFileError as error:
        # without the path of the run, because the page is published
        problems.append(str(error).removeprefix(f"{directory}/"))
    replays = directory / "replays"
    names: frozenset[str] = frozenset()
    try:
        names = frozenset(replay_names(replays))
    except OSError as error:
        problems.append(f"{replays.name}: {error.strerror}")
    return PublishedFiles(replays, names, key, tuple(problems))


def replay_names(folder: Path) -> Iterator[str]:
    """Yield the names of a folder's replays, without the suffix; links do not count."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if (
                name != entry.name
                and not name.startswith(".")
                and plain(name, None) == name
                and entry.is_file(follow_symlinks=False)
            ):
                yield name


# Times

MOST_REPLAYS = 2_000
"""Maximum number of replays read; if there are more, an evenly spread sample is read."""


class Spent(NamedTuple):
    """Time that a bot used in one match."""

    entry: str
    bot_us: tuple[int, ...]
    """Microseconds used for each reply."""
    clock_share: float
    """Charged time as a share of the time that the bot's clock allowed, 0 to 1."""


@dataclass(frozen=True, slots=True)
class TimeUse:
    """Time that an entry used, without decisions that timed out and so had no reply."""

    entry: str
    matches: int
    replies: int
    """Number of replies; one reply may answer several consecutive decisions."""
    median_s: float
    p95_s: float
    """95th percentile of the time for a reply, in seconds."""
    longest_s: float
    match_s: float
    """Mean time used per match, in seconds."""
    clock_share: float
    """Mean over its matches of the charged share of the allowed time, 0 to 1."""
    highest_share: float


@dataclass(frozen=True, slots=True)
class Times:
    """Times of all entries, and which replays they come from."""

    entries: tuple[TimeUse, ...]
    """Entries by median time, slowest first."""
    read: int
    """Number of replays read."""
    missing: int
    """Number of matches in the sample without a replay file."""
    problems: tuple[str, ...]
    """Replays that could not be read, with the reason."""


def time_use(
    files: PublishedFiles, results: Sequence[MatchResult], most: int = MOST_REPLAYS
) -> Times:
    """Return the times from the replays of these results, which are given in schedule order.

    If there are more than `most` matches, an evenly spread sample of `most` matches is read.
    """
    used: list[Spent] = []
    problems: list[str] = []
    read = missing = 0
    for result in evenly(results, most):
        name = f"{result.played_as}{SUFFIX}"
        if result.played_as not in files.published:
            missing += 1
            continue
        try:
            data = read_file(files.replays / name)
            entries = tuple(seat.entry for seat in result.seats)
            used += _spent(replay_of(data, result.played_as, entries, files.public_key))
            read += 1
        except ReplayError as error:
            problems.append(f"{name}: {error}")
    return Times(tuple(_totals(used)), read, missing, tuple(problems))


def evenly(results: Sequence[MatchResult], most: int) -> list[MatchResult]:
    """Return `most` of these results, evenly spread, or all if there are not more."""
    if len(results) <= most:
        return list(results)
    return [results[number * len(results) // most] for number in range(most)]


def replay_of(
    data: bytes, match_id: str, entries: tuple[str, ...], public_key: bytes | None
) -> Replay:
    """Return the replay of a match; raises ReplayError unless it is signed, and of this match.

    Any key is accepted if `public_key` is None.
    """
    file = parse_file(data)
    file.check_signature()
    signer = file.signature.public_key
    if public_key not in (None, signer):
        raise ReplayError(f"signed with a key that is not the referee's: {fingerprint(signer)}")
    header = file.replay.header
    if (header.match_id, header.entries) != (match_id, entries):
        raise ReplayError("does not belong to the match named by its file and the results")
    return file.replay


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
