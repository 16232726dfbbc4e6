"""The content of a report, independent of files, clock and HTML. Pure.

The standings are those of `compute_standings`, unchanged. Names, reasons and all other untrusted
text pass through `plain` before they are stored here, and reasons lose the absolute paths of the
organiser, because a report is published.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from asara_codec.results import Termination
from asara_server.report.run import ReportedRun
from asara_server.report.times import Times
from asara_server.text import on_one_line, plain, plain_words, without_paths
from asara_server.tournament.bots.error_output import known_error
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.directory import RunInfo
from asara_server.tournament.standings.match_result import MatchResult, output_of, without_output
from asara_server.tournament.standings.model import Standings, StandingsRow

LATEST_REASONS = 3
"""Distinct reasons shown for each entry and kind of fault."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Reason(NamedTuple):
    """The reason of one forfeit."""

    match: str
    detail: str


class _Ended(NamedTuple):
    """A forfeit at the end of a match."""

    when: float
    """End of the match, Unix time."""
    number: int
    """Index of the match in the schedule."""
    reason: Reason
    kind: str
    """The reason without what differs between matches; see `_kind_of`."""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """The forfeits of one kind by one entry."""

    entry: str
    kind: str
    """Kind in words, such as "time out"."""
    forfeits: int
    matches: int
    """All matches of the entry."""
    latest: tuple[Reason, ...]
    """Latest distinct reasons, latest first."""


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of a match in the list of matches."""

    entry: str
    seat: int
    rank: int
    prestige: int
    fault: str
    """Kind of the forfeit, or ""."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match in the list of matches."""

    name: str
    rules: str
    ranking: tuple[SeatRow, ...]
    """Best first."""
    replay: str | None
    """Name of the replay file, if there is one."""


class Exclusion(NamedTuple):
    """Reason why an entry forfeited its remaining matches unplayed."""

    kind: Literal["suspended", "out"]
    """suspended: too many faults; out: it could not be built or started."""
    why: str
    printed: tuple[str, ...] = ()
    """Last lines of its build, if that failed."""


class Cell(NamedTuple):
    """One entry against another."""

    score: float
    matches: int


@dataclass(frozen=True, slots=True)
class Report:
    """The content of the report."""

    run: ReportedRun
    standings: Standings
    """Standings with the names as they are; code that shows them calls `plain`."""
    times: Times
    seats: tuple[int, ...]
    """Numbers of seats of the tables played, in ascending order."""
    last_end: datetime | None
    """End of the last match."""
    faults: tuple[FaultRow, ...]
    failed: tuple[str, ...]
    """Entries that forfeited every match they played."""
    excluded: Mapping[str, Exclusion]
    """Exclusions by name of the entry, in the order of the standings."""
    left_out: Mapping[str, str]
    """Folders without a usable `bot.toml`, by name, and why."""
    idle: tuple[str, ...]
    """Entries that have played no match."""
    void: tuple[str, ...]
    """Matches without a result because the referee failed."""
    cross: Mapping[tuple[str, str], Cell]
    """Cells by (row, column) entry, in both directions."""
    matches: tuple[MatchRow, ...]
    """Matches in the order of the schedule."""

    @property
    def costs(self) -> RunCosts | None:
        """Where the time of the run went; None before it has ended."""
        info = self.run.recorded.info
        return info.costs if info.ended else None

    @property
    def forfeits(self) -> int:
        return sum(fault.forfeits for fault in self.faults)

    @property
    def forfeits_by_kind(self) -> dict[str, int]:
        """Numbers of forfeits by kind, most frequent first."""
        numbers: Counter[str] = Counter()
        for fault in self.faults:
            numbers[fault.kind] += fault.forfeits
        return dict(numbers.most_common())

    @property
    def over(self) -> bool:
        """True if the run has finished, so that its seed and replays may be shown."""
        return self.run.recorded.info.state == "finished"


def public(text: str, private: Sequence[str]) -> str:
    """Return a text of unknown origin as it may be published; see `without_paths`."""
    return plain(without_paths(text, private))


def counted(results: Iterable[MatchResult]) -> list[MatchResult]:
    """Return the results that count."""
    return [result for result in results if not result.void]


def make_report(
    run: ReportedRun, ordered: Sequence[MatchResult], standings: Standings, times: Times
) -> Report:
    """Return the report of a run; `ordered` has all its results, void ones too, by schedule."""
    results = counted(ordered)
    ends = [_end(result) for result in results]
    played = {result.match_id for result in results}
    return Report(
        run=run,
        standings=standings,
        times=times,
        seats=tuple(sorted({len(result.seats) for result in results})),
        last_end=max(filter(None, ends), default=None),
        faults=_faults(results, standings.overall, run.private),
        failed=tuple(
            line.entry
            for line in standings.overall
            if line.matches and sum(line.faults.values()) == line.matches
        ),
        excluded=_excluded(run.recorded.info, standings.overall, run.private),
        left_out={
            plain(folder): public(on_one_line(_in_folder(folder, why)), run.private)
            for folder, why in run.recorded.info.left_out.items()
        },
        idle=tuple(line.entry for line in standings.overall if not line.matches),
        void=tuple(
            dict.fromkeys(
                plain(result.match_id)
                for result in ordered
                if result.void and result.match_id not in played
            )
        ),
        cross=_cross(standings),
        matches=tuple(_match(result, run.replay_names) for result in results),
    )


def _end(result: MatchResult) -> datetime | None:
    """Return the end of a match; None if its times cannot be read."""
    try:
        return (moment(result.started) + timedelta(seconds=result.seconds)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def moment(text: str) -> datetime:
    """Parse an ISO time that has an offset; raise ValueError."""
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError(f"{text}: without an offset")
    return when


def _faults(
    results: Sequence[MatchResult], lines: Sequence[StandingsRow], private: Sequence[str]
) -> tuple[FaultRow, ...]:
    """Return the forfeits by entry, best first, then by kind."""
    reasons: dict[tuple[str, Termination], list[_Ended]] = defaultdict(list)
    for number, result in enumerate(results):
        ended = _end(result)
        when = ended.timestamp() if ended else float(number)
        for seat in result.forfeits:
            reason = Reason(plain(result.played_as), public(on_one_line(seat.detail), private))
            kind = _kind_of(seat.detail, result)
            reasons[seat.entry, seat.termination].append(_Ended(when, number, reason, kind))
    return tuple(
        FaultRow(
            entry=line.entry,
            kind=plain_words(termination.name),
            forfeits=len(found),
            matches=line.matches,
            latest=_latest(found),
        )
        for line in lines
        for termination in Termination
        if (found := reasons.get((line.entry, termination)))
    )


def _in_folder(folder: str, why: str) -> str:
    """Return why a folder was left out, with the paths that begin its lines shortened to it."""
    lines = []
    for line in why.split("\n"):
        before, found, after = line.partition(f"/{folder}")
        lines.append(folder + after if found and ": " not in before else line)
    return "\n".join(lines)


def _excluded(
    info: RunInfo, lines: Sequence[StandingsRow], private: Sequence[str]
) -> dict[str, Exclusion]:
    found = {}
    for name, why in info.out.items():
        printed = tuple(public(line, private) for line in info.build_output.get(name, ()))
        found[name] = Exclusion("out", public(why, private), printed)
    for name, why in info.suspended.items():
        found[name] = Exclusion("suspended", public(why, private))
    return {line.entry: found[line.entry] for line in lines if line.entry in found}


def _latest(found: Iterable[_Ended]) -> tuple[Reason, ...]:
    """Return the latest distinct reasons, each with its latest match."""
    last: dict[str, Reason] = {}
    for one in sorted(found, key=lambda one: one[:2], reverse=True):
        last.setdefault(one.kind, one.reason)
        if len(last) == LATEST_REASONS:
            break
    return tuple(last.values())


def _kind_of(detail: str, result: MatchResult) -> str:
    """Return the reason of a forfeit without names of matches, numbers and printed lines.

    Of what a bot printed only the first and the last line of a known error message count: the rest
    differs in every match.
    """
    error = known_error(output_of(detail))
    text = " | ".join((without_output(detail), *error[:1], *error[-1:]))
    for name in (result.played_as, result.match_id):
        text = text.replace(name, "")
    return _NUMBER.sub("0", text)


def _cross(standings: Standings) -> dict[tuple[str, str], Cell]:
    cells = {}
    for pair in standings.cross_table:
        cells[pair.entry, pair.opponent] = Cell(pair.score, pair.matches)
        cells[pair.opponent, pair.entry] = Cell(1 - pair.score, pair.matches)
    return cells


def _match(result: MatchResult, replays: frozenset[str]) -> MatchRow:
    replay = f"{result.played_as}.asara"
    ranked = sorted(enumerate(result.seats), key=lambda pair: (pair[1].rank, pair[0]))
    return MatchRow(
        name=plain(result.played_as),
        rules=plain(result.rule_sets),
        ranking=tuple(
            SeatRow(
                plain(line.entry),
                seat,
                line.rank,
                line.prestige,
                plain_words(line.termination.name) if line.termination.forfeit else "",
            )
            for seat, line in ranked
        ),
        replay=replay if replay in replays else None,
    )
