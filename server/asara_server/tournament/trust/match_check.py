"""Compares each replay with its place in its run: file, schedule, settings and result."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from asara_game.rules import format_rule_sets
from asara_server.eventlog.describe import value_words
from asara_server.eventlog.replay import ReplayHeader
from asara_server.match.inputs import LateReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.replay.file import ReplayFile
from asara_server.tournament.run.directory import RESULTS
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_text
from asara_server.tournament.trust.manifest import Manifest
from asara_server.tournament.trust.run_files import SUFFIX


class ExpectedMatch(NamedTuple):
    """What manifest, schedule and `results.jsonl` require of a replay. Can be pickled."""

    manifest: Manifest
    match: ScheduledMatch
    result: MatchResult
    place: str
    """Position of the result, such as "results.jsonl: line 3"."""

    def header_fault(self, file: ReplayFile) -> str | None:
        """Return the first field of a replay's header that contradicts its match."""
        for name, wanted, found in self._header_fields(file.replay.header):
            if wanted != found:
                return (
                    f"{file.raw[0].place}: {name}: expected {value_words(wanted)} by manifest and "
                    f"schedule; found {value_words(found)}"
                )
        return None

    def other_file(self, file: ReplayFile, data: bytes) -> str | None:
        """Return a fault if a replay's hash differs from the hash in its result."""
        digest = sha256(data).hexdigest()
        if self.result.replay_sha256 == digest:
            return None
        return self.result_fault(file) or (
            f"changed: {self.place} has the SHA-256 {self.result.replay_sha256 or 'none'}; "
            f"the file has {digest}"
        )

    def result_fault(self, file: ReplayFile) -> str | None:
        """Return the first field of the result that does not follow from its replay."""
        for name, derived, found in _result_fields(file, self.result):
            if derived != found:
                return (
                    f"{self.place}: {name}: expected {value_words(derived)} by the replay; "
                    f"found {value_words(found)}"
                )
        return None

    def _header_fields(self, header: ReplayHeader) -> Iterator[tuple[str, Any, Any]]:
        manifest, match = self.manifest, self.match
        yield "match_id", self.result.played_as, header.match_id
        yield "entries", match.entries, header.entries
        yield "rule_sets", format_rule_sets(match.rule_sets), format_rule_sets(header.rule_sets)
        yield "shared_deal", match.shared_deal, header.shared_deal
        yield "edition", manifest.edition_sha256, sha256(header.edition).hexdigest()
        yield "rules_version", manifest.rules_version, header.rules_version
        for name, wanted in manifest.clocks.items():
            yield f"clocks.{name}", wanted, getattr(header.clocks, name, None)
        yield "actions_per_reply", manifest.actions_per_reply, header.actions_per_reply
        yield "rejections_forgiven", manifest.rejections_forgiven, header.rejections_forgiven
        yield "processes", manifest.processes_by_seat(match.entries), header.processes
        yield "a nonce of every seat", manifest.deals == "joint", bool(header.nonces)


def _result_fields(file: ReplayFile, result: MatchResult) -> Iterator[tuple[str, Any, Any]]:
    replay = file.replay
    yield "void", False, result.void
    yield "started", utc_text(replay.header.started_unix_ms / 1000), result.started
    yield "number of seats", len(replay.results), len(result.seats)
    for seat, (derived, found) in enumerate(zip(replay.results, result.seats, strict=True)):
        for name in ("entry", "rank", "prestige", "termination"):
            yield f"seats[{seat}].{name}", getattr(derived, name), getattr(found, name)
        # what the bot printed follows the referee's own words
        own = found.detail[: len(derived.detail)]
        if found.detail[len(own) :][:1] not in ("", ";"):
            own = found.detail
        yield f"seats[{seat}].detail", derived.detail, own
        if not derived.termination.forfeit:
            yield f"seats[{seat}].detail", "", found.detail
    # A late reply may have come after the end.
    inputs = (record for record in replay.records if not isinstance(record, LateReplyRecord))
    last_us = max((record.time_us for record in inputs), default=0)
    if result.seconds < round(last_us / SECOND_US, 3):
        yield "seconds", f"{last_us / SECOND_US:.3f} or more", result.seconds


def replay_faults(
    results: Iterable[MatchResult], replays: Mapping[str, str], *, withheld: Collection[str]
) -> Iterator[str]:
    """Yield replays that are missing, extra, renamed, copied, exchanged or changed.

    `replays` maps each file name, without the suffix, to the file's SHA-256. Replays whose names
    are in `withheld` may be missing.
    """
    expected = {result.played_as: result.replay_sha256 for result in results if not result.void}
    names = {digest: name for name, digest in expected.items()}
    holders: dict[str, list[str]] = {}
    for name, digest in replays.items():
        holders.setdefault(digest, []).append(name)
    for name, digest in expected.items():
        if name not in replays:
            others = [other for other in holders.get(digest, ()) if other not in expected]
            if others:
                yield f"{_file(name)}: renamed to {_file(others[0])}"
            elif name not in withheld:
                yield f"{_file(name)}: missing, although {RESULTS} has its result"
        elif replays[name] != digest:
            yield _changed(name, digest, replays, names)
    for name, digest in replays.items():
        if name not in expected:
            original = names.get(digest)
            if original is None:
                yield f"{_file(name)}: extra: {RESULTS} has no such attempt"
            elif original in replays:
                yield f"{_file(name)}: extra: a copy of {_file(original)}"


def _changed(name: str, digest: str, replays: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the fault of a replay whose content differs from the hash in its result."""
    found = replays[name]
    other = names.get(found)
    if other is None:
        return f"{_file(name)}: changed: expected SHA-256 {digest or 'none'}, found {found}"
    if replays.get(other) == digest:
        return f"{_file(name)}: exchanged with {_file(other)}"
    return f"{_file(name)}: replaced by a copy of {_file(other)}"


def _file(name: str) -> str:
    return f"replays/{name}{SUFFIX}"
