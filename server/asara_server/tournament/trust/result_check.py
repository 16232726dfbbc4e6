"""Compares the attempts at matches with the schedule, and each replay with its place in the run.

Nothing is read from the disk here.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from asara_game.rules import format_rule_sets
from asara_server.journal.describe import value_words
from asara_server.match.inputs import LateReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.replay.file import SUFFIX, ReplayFile
from asara_server.tournament.run.directory import RESULTS
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_text
from asara_server.tournament.trust.manifest import MANIFEST, Manifest


def mismatch(place: str, expected: object, found: object, source: str) -> str:
    """Return a sentence about a value that differs from the value derived from another file."""
    return f"{place}: expected {value_words(expected)} by {source}; found {value_words(found)}"


# The attempts


@dataclass(slots=True)
class AttemptCheck:
    """The attempts of a run, compared with its schedule."""

    faults: list[str] = field(default_factory=list)
    expected: dict[str, "ExpectedMatch"] = field(default_factory=dict)
    """What the replay of each attempt that counts must agree with, by the replay's name."""
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
    attempts: dict[str, dict[int, MatchResult]] = {}
    """The attempts at each match, by their line in `results.jsonl`."""
    first_line: dict[str, int] = {}
    """The first line with each replay, by the replay's hash."""
    for line, result in enumerate(results, 1):
        attempts.setdefault(result.match_id, {})[line] = result
        match = scheduled.get(result.match_id)
        place = f"{RESULTS}: line {line}"
        check.faults += attempt_faults(place, result, match, manifest.max_attempts)
        if match is not None and not result.void:
            check.expected[result.played_as] = ExpectedMatch(manifest, match, result, place)
        digest = result.replay_sha256
        if digest and (first := first_line.setdefault(digest, line)) != line:
            check.faults.append(
                f"{place}: {result.played_as} has the replay of {results[first - 1].played_as} "
                f"(line {first})"
            )
    for match_id, own in attempts.items():
        _check_order(check, match_id, own)
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
    void = "void" if result.void else ""
    attempt = Attempt(match, result.attempt)
    own = MatchResult.of(attempt, started="", seats=result.seats, void_reason=void)
    for name in ("round", "rule_sets", "block", "duplicate_deal"):
        expected, found = getattr(own, name), getattr(result, name)
        if expected != found:
            yield mismatch(f"{start}: {name}", expected, found, "the schedule")
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


def _check_order(check: AttemptCheck, match_id: str, results: Mapping[int, MatchResult]) -> None:
    """Check the numbering of a match's attempts, which are given by line; add its repetitions."""
    expected = 1
    counts = 0
    """Line of the attempt that counts."""
    for line, result in results.items():
        attempt = result.attempt
        start = f"{RESULTS}: line {line}: {match_id}"
        if counts:
            check.faults.append(
                f"{start}: attempted twice: attempt {attempt}, although attempt "
                f"{results[counts].attempt} (line {counts}) counts"
            )
        elif attempt < expected:
            check.faults.append(f"{start}: attempted twice: attempt {attempt} is there already")
        elif attempt > expected:
            missing = ", ".join(map(str, range(expected, attempt)))
            check.faults.append(f"{start}: attempt {attempt}, but attempt {missing} is missing")
        expected = attempt + 1
        counts = counts or (0 if result.void else line)
        own = f"{match_id}: attempt {attempt}"
        check.repeated += [
            f"{own} was given to a worker before, which did not return it: {why}"
            for why in result.lost
        ]
        if result.void:
            check.repeated.append(f"{own} is void: {result.void_reason}")


def _check_completeness(
    check: AttemptCheck,
    manifest: Manifest,
    schedule: Sequence[ScheduledMatch],
    attempts: Mapping[str, Mapping[int, MatchResult]],
) -> None:
    blocks: dict[str, list[str]] = {}
    for match in schedule:
        blocks.setdefault(match.deal_block, []).append(match.match_id)
    begun = {name for name, matches in blocks.items() if not attempts.keys().isdisjoint(matches)}
    for match in schedule:
        own = attempts.get(match.match_id, {})
        if any(not result.void for result in own.values()):
            continue
        if len(own) >= manifest.max_attempts:
            check.given_up.append(match.match_id)
            continue
        check.unplayed.append(match.match_id)
        check.open_blocks.add(match.deal_block)
        if match.deal_block in begun:
            check.unplayed_in_begun_blocks.append(match.match_id)
    check.begun = sum(len(blocks[name]) for name in begun)
    in_order = [name in begun for name in blocks]
    if in_order != sorted(in_order, reverse=True):
        check.skipped = next(name for name in blocks if name not in begun)


# The replays


class ExpectedMatch(NamedTuple):
    """What a replay must agree with: the manifest, the schedule and `results.jsonl`.

    It can be pickled.
    """

    manifest: Manifest
    match: ScheduledMatch
    result: MatchResult
    place: str
    """Position of the result, such as "results.jsonl: line 3"."""

    def header_fault(self, file: ReplayFile) -> str | None:
        """Return the first field of a replay's header that contradicts its match."""
        manifest, match, header = self.manifest, self.match, file.replay.header
        by_seat = manifest.processes_by_seat(match.entries)
        for name, wanted, found in (
            ("match_id", self.result.played_as, header.match_id),
            ("entries", match.entries, header.entries),
            ("rule_sets", format_rule_sets(match.rule_sets), format_rule_sets(header.rule_sets)),
            ("shared_deal", match.shared_deal, header.shared_deal),
            ("edition", manifest.edition_sha256, sha256(header.edition).hexdigest()),
            ("rules_version", manifest.rules_version, header.rules_version),
            *(
                (f"clocks.{name}", wanted, getattr(header.clocks, name, None))
                for name, wanted in manifest.clocks.items()
            ),
            ("actions_per_reply", manifest.actions_per_reply, header.limits.actions_per_reply),
            (
                "rejections_forgiven",
                manifest.rejections_forgiven,
                header.limits.rejections_forgiven,
            ),
            ("processes", by_seat, header.processes),
            ("a nonce of every seat", manifest.deals == "joint", bool(header.nonces)),
        ):
            if wanted != found:
                return mismatch(f"{file.place(0)}: {name}", wanted, found, "manifest and schedule")
        return None

    def changed(self, data: bytes) -> str | None:
        """Return a fault if a replay's hash differs from the hash in its result."""
        digest = sha256(data).hexdigest()
        if self.result.replay_sha256 == digest:
            return None
        return (
            f"changed: {self.place} has the SHA-256 {self.result.replay_sha256 or 'none'}; "
            f"the file has {digest}"
        )

    def result_fault(self, file: ReplayFile) -> str | None:
        """Return the first field of the result that does not follow from its replay."""
        for name, derived, found in _result_fields(file, self.result):
            if derived != found:
                return mismatch(f"{self.place}: {name}", derived, found, "the replay")
        return None


def _result_fields(file: ReplayFile, result: MatchResult) -> Iterator[tuple[str, Any, Any]]:
    replay = file.replay
    yield "void", False, result.void
    yield "started", utc_text(replay.header.started_unix_ms / 1000), result.started
    yield "number of seats", len(replay.ends), len(result.seats)
    entries = replay.header.entries
    for seat, (derived, found) in enumerate(zip(replay.ends, result.seats, strict=True)):
        yield f"seats[{seat}].entry", entries[seat], found.entry
        for name in ("rank", "prestige", "termination", "detail"):
            yield f"seats[{seat}].{name}", getattr(derived, name), getattr(found, name)
        if not derived.termination.forfeit:
            yield f"seats[{seat}].printed", None, found.printed
    # A late reply may have come after the end.
    inputs = (record for record in replay.records if not isinstance(record, LateReplyRecord))
    last_us = max((record.time_us for record in inputs), default=0)
    if result.seconds < round(last_us / SECOND_US, 3):
        yield "seconds", f"{last_us / SECOND_US:.3f} or more", result.seconds


def replay_faults(
    results: Iterable[MatchResult], replays: Mapping[str, str], *, withheld: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the names and faults of replays that are missing, extra, renamed, copied, exchanged or
    changed.

    `replays` maps each file name, without the suffix, to the file's SHA-256. Replays whose names
    are in `withheld` may be missing.
    """
    expected = {result.played_as: result.replay_sha256 for result in results if not result.void}
    names = {digest: name for name, digest in expected.items()}
    extra = {digest: name for name, digest in replays.items() if name not in expected}
    for name, digest in expected.items():
        found = replays.get(name)
        other = names.get(found or "")
        if found is None:
            if digest in extra:
                yield name, f"renamed to {replay_file(extra[digest])}"
            elif name not in withheld:
                yield name, f"missing, although {RESULTS} has its result"
        elif found == digest:
            continue
        elif other is None:
            yield name, f"changed: expected SHA-256 {digest or 'none'}, found {found}"
        elif replays.get(other) == digest:
            yield name, f"exchanged with {replay_file(other)}"
        else:
            yield name, f"replaced by a copy of {replay_file(other)}"
    for name, digest in replays.items():
        if name not in expected:
            original = names.get(digest)
            if original is None:
                yield name, f"extra: {RESULTS} has no such attempt"
            elif original in replays:
                yield name, f"extra: a copy of {replay_file(original)}"


def replay_file(name: str) -> str:
    return f"replays/{name}{SUFFIX}"
