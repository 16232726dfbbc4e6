"""Compares the attempts in `results.jsonl` with the schedule. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from asara_game.rules import format_rule_sets
from asara_server.tournament.run.directory import RESULTS
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.trust.manifest import MANIFEST, Manifest


class Line(NamedTuple):
    """An attempt, with its line in `results.jsonl`."""

    number: int
    result: MatchResult


@dataclass(slots=True)
class AttemptCheck:
    """The attempts of a run, compared with its schedule."""

    faults: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """A line for each match that was attempted more than once, or that a worker lost."""
    unplayed: list[str] = field(default_factory=list)
    """Matches without a result that may still get a result."""
    unplayed_in_begun_blocks: list[str] = field(default_factory=list)
    """Unplayed matches in blocks in which another match was attempted."""
    given_up: list[str] = field(default_factory=list)
    """Matches that are permanently void."""
    open_blocks: set[str] = field(default_factory=set)
    """Blocks with unplayed matches."""
    begun: int = 0
    """Number of matches in blocks that have begun."""
    skipped: str = ""
    """The first block that has not begun although a later block has; "" if there is none."""


def check_attempts(
    manifest: Manifest, schedule: Sequence[ScheduledMatch], results: Sequence[MatchResult]
) -> AttemptCheck:
    """Compare all attempts with the schedule, and with each other."""
    check = AttemptCheck()
    scheduled = {match.match_id: match for match in schedule}
    attempts: dict[str, list[Line]] = {}
    replays: dict[str, Line] = {}
    for line in map(Line, count(1), results):
        attempts.setdefault(line.result.match_id, []).append(line)
        match = scheduled.get(line.result.match_id)
        place = f"{RESULTS}: line {line.number}"
        check.faults += attempt_faults(place, line.result, match, manifest.max_attempts)
        digest = line.result.replay_sha256
        if digest and (first := replays.setdefault(digest, line)) is not line:
            check.faults.append(
                f"{RESULTS}: line {line.number}: {line.result.played_as} has the replay of "
                f"{first.result.played_as} (line {first.number})"
            )
    for match_id, own in attempts.items():
        check.faults += _order_faults(match_id, own)
        check.repeated += _repetitions(match_id, own)
    _check_completeness(check, manifest, schedule, attempts)
    return check


def attempt_faults(
    place: str, result: MatchResult, match: ScheduledMatch | None, max_attempts: int
) -> Iterator[str]:
    """Yield the faults of a single attempt; `match` is None if the attempt is not scheduled."""
    start = f"{place}: {result.match_id}"
    if match is None:
        yield f"{start}: not in the schedule that follows from {MANIFEST}"
        return
    compared = match.kind == "duplicate" and not result.void
    duplicate_deal = match.block if compared else ""
    for name, expected, found in (
        ("round", match.round, result.round),
        ("rule_sets", format_rule_sets(match.rule_sets), result.rule_sets),
        ("block", match.block, result.block),
        ("duplicate_deal", duplicate_deal, result.duplicate_deal),
    ):
        if expected != found:
            yield f"{start}: {name}: expected {expected!r} by the schedule; found {found!r}"
    entries = tuple(seat.entry for seat in result.seats)
    if entries != (() if result.void else match.entries):
        expected_names = "none" if result.void else ", ".join(match.entries)
        yield (
            f"{start}: entries by seat: expected {expected_names}; "
            f"found {', '.join(entries) or 'none'}"
        )
    if result.void and (result.replay_sha256 or not result.void_reason):
        wrong = "has a replay" if result.replay_sha256 else "has no reason"
        yield f"{start}: attempt {result.attempt} is void, but {wrong}"
    if not result.void and (result.void_reason or not result.replay_sha256):
        wrong = "has a reason to be void" if result.void_reason else "has no replay"
        yield f"{start}: attempt {result.attempt} counts, but {wrong}"
    if not 1 <= result.attempt <= max_attempts:
        yield f"{start}: attempt {result.attempt}: expected 1 to {max_attempts}"


def _order_faults(match_id: str, lines: Sequence[Line]) -> Iterator[str]:
    """Yield faults in the numbering of a match's attempts."""
    expected = 1
    counted: Line | None = None
    for line in lines:
        attempt = line.result.attempt
        start = f"{RESULTS}: line {line.number}: {match_id}"
        if counted is not None:
            yield (
                f"{start}: attempted twice: attempt {attempt}, although attempt "
                f"{counted.result.attempt} (line {counted.number}) counts"
            )
        elif attempt < expected:
            yield f"{start}: attempted twice: attempt {attempt} is there already"
        elif attempt > expected:
            missing = ", ".join(map(str, range(expected, attempt)))
            yield f"{start}: attempt {attempt}, but attempt {missing} is missing"
        expected = attempt + 1
        counted = counted or (None if line.result.void else line)


def _repetitions(match_id: str, lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        result = line.result
        for why in result.lost:
            yield (
                f"{match_id}: attempt {result.attempt} was given to a worker before, which did not "
                f"return it: {why}"
            )
        if result.void:
            yield f"{match_id}: attempt {result.attempt} is void: {result.void_reason}"


def _check_completeness(
    check: AttemptCheck,
    manifest: Manifest,
    schedule: Sequence[ScheduledMatch],
    attempts: Mapping[str, Sequence[Line]],
) -> None:
    sizes: dict[str, int] = {}
    begun: set[str] = set()
    for match in schedule:
        own = attempts.get(match.match_id, ())
        sizes[match.deal_block] = sizes.get(match.deal_block, 0) + 1
        if own:
            begun.add(match.deal_block)
        if any(not line.result.void for line in own):
            continue
        if len(own) >= manifest.max_attempts:
            check.given_up.append(match.match_id)
        else:
            check.unplayed.append(match.match_id)
            check.open_blocks.add(match.deal_block)
    blocks = {match.match_id: match.deal_block for match in schedule}
    check.unplayed_in_begun_blocks = [name for name in check.unplayed if blocks[name] in begun]
    check.begun = sum(sizes[block] for block in begun)
    in_order = [block in begun for block in sizes]
    if in_order != sorted(in_order, reverse=True):
        check.skipped = next(block for block in sizes if block not in begun)
