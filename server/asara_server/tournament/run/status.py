"""Reads the status of a run from its journal.

`StatusReader` reads only what was added since its last call, so that the status of a long run can
be read often.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from asara_codec.results import Termination
from asara_server.journal.file_lock import known_holder
from asara_server.tournament.run.directory import JOURNAL, RemoteInfo, read_remote
from asara_server.tournament.run.read_run import RunJournal
from asara_server.tournament.run.run_record import RunInfo
from asara_server.tournament.schedule.schedule import MAX_ATTEMPTS
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome


class RunState(Enum):
    PREPARED = "prepared"
    """State of a run whose manifest is signed, but whose first match has not begun."""
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    KILLED = "killed"
    """State of a run that has not ended, although no process has the journal open."""


class Forfeit(NamedTuple):
    """A forfeit of an entry."""

    result: MatchResult
    seat: SeatOutcome


@dataclass(frozen=True, slots=True)
class FailingEntry:
    """An entry that forfeited matches."""

    entry: str
    matches: int
    """Number of matches that the entry played, including forfeits."""
    kinds: Counter[Termination]
    """Number of the entry's forfeits, by kind."""
    latest: Forfeit
    """The last forfeit while the entry still took part, or else its last forfeit."""

    @property
    def forfeits(self) -> int:
        """Total number of forfeits, of all kinds."""
        return sum(self.kinds.values())

    @property
    def share(self) -> float:
        """Share of the entry's matches that it forfeited."""
        return self.forfeits / self.matches


@dataclass(frozen=True, slots=True)
class Pace:
    """Number of matches and seconds since the run last started or resumed, its builds excluded."""

    matches: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Matches per minute; 0 before the first match has ended."""
        return 60 * self.matches / self.seconds if self.seconds > 0 else 0.0

    def left_s(self, matches: int) -> float | None:
        """Estimated seconds for this number of matches; None before the first match has ended."""
        return matches * self.seconds / self.matches if self.matches else None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The status of a run at one moment."""

    info: RunInfo
    state: RunState
    process: int
    """Number of the process that plays the run; 0 if unknown or if there is no process."""
    over: int
    """Number of matches that are finished or no longer needed."""
    void: int
    """Number of these matches that have no result."""
    blocks: int
    """Number of blocks with a result."""
    rules: tuple[str, ...]
    """Combinations of rule sets in the matches with a result, sorted."""
    seats: tuple[int, ...]
    """Numbers of seats in these matches, sorted."""
    elapsed_s: float
    """Seconds from the start of the run to its end or until now, including interruptions; if it was
    killed, until its last match ended.
    """
    pace: Pace
    idle_s: float | None
    """Seconds since the last match ended; None before the first match has ended."""
    failing: tuple[FailingEntry, ...]
    """Entries that forfeited matches, largest share of forfeits first."""
    building: Mapping[str, float] = field(default_factory=dict)
    """Entries being built, each with the seconds since its build began."""
    to_build: tuple[str, ...] = ()
    """Entries whose build has not started yet."""
    remote: RemoteInfo | None = None
    """Presence of remote bots; None if there are no remote bots or the run is not being played."""

    @property
    def left(self) -> int:
        """Number of matches still to be played."""
        return max(self.info.scheduled - self.over, 0)


class StatusReader:
    """Reads the status of a run repeatedly."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = RunJournal(directory)
        self._tally = _Tally(self.log.results)

    def read(self, now: float | None = None) -> RunStatus:
        """Return the status; `now` is in seconds since 1970. Raises RunError."""
        now = time.time() if now is None else now
        state, process = read_state(self.log)
        remote = read_remote(self.directory) if state is RunState.RUNNING else None
        info = self.log.info
        if self._tally.results is not self.log.results:  # the journal was replaced
            self._tally = _Tally(self.log.results)
        tally, results = self._tally, self.log.results
        tally.update()
        started = _seconds(info.started) or now
        end = now
        if state is not RunState.RUNNING:
            end = _seconds(info.ended) or (_end(results[-1]) if results else started)
        session = max(_seconds(info.resumed) or started, _seconds(info.built) or started)
        before = bisect_left(results, session, key=_end)
        return RunStatus(
            info=info,
            state=state,
            process=process or 0,
            over=len(tally.with_result) + tally.void,
            void=tally.void,
            blocks=len(tally.blocks),
            rules=tuple(sorted(tally.rules)),
            seats=tuple(sorted(tally.seats)),
            elapsed_s=max(end - started, 0.0),
            pace=Pace(len(results) - before, max(end - session, 0.0)),
            idle_s=max(now - _end(results[-1]), 0.0) if results else None,
            failing=tally.failing_entries(info.out | info.suspended),
            building={
                name: max(now - (_seconds(since) or now), 0.0)
                for name, since in info.building.items()
                if state is RunState.RUNNING
            },
            to_build=info.to_build if state is RunState.RUNNING else (),
            remote=remote,
        )


class _Tally:
    """The results of a run and their totals."""

    def __init__(self, results: list[MatchResult]) -> None:
        self.results = results
        self._seen = 0
        """Number of results in the totals."""
        self.with_result: set[str] = set()
        self.blocks: set[str] = set()
        self.rules: set[str] = set()
        self.seats: set[int] = set()
        self._void_attempts: Counter[str] = Counter()
        self._matches: Counter[str] = Counter()
        self._forfeits: dict[str, Counter[Termination]] = {}
        self._causes: dict[str, dict[str, Forfeit]] = {}
        """By entry and reason, the entry's latest forfeit for this reason, excluding suspension.
        The most recent reason comes last.
        """
        self._latest: dict[str, Forfeit] = {}
        """By entry, the entry's latest forfeit of any kind."""

    @property
    def void(self) -> int:
        """Number of matches that have no result and will not be played again."""
        return sum(
            attempts >= MAX_ATTEMPTS and match_id not in self.with_result
            for match_id, attempts in self._void_attempts.items()
        )

    def update(self) -> None:
        """Add the results that have been appended."""
        for result in self.results[self._seen :]:
            self._add(result)
        self._seen = len(self.results)

    def _add(self, result: MatchResult) -> None:
        if result.void:
            self._void_attempts[result.match_id] += 1
            return
        self.with_result.add(result.match_id)
        self.blocks.add(result.deal_block)
        self.rules.add(result.rule_sets)
        self.seats.add(len(result.seats))
        for seat in result.seats:
            self._matches[seat.entry] += 1
            if not seat.termination.forfeit:
                continue
            self._forfeits.setdefault(seat.entry, Counter())[seat.termination] += 1
            forfeit = Forfeit(result, seat)
            self._latest[seat.entry] = forfeit
            if seat.termination is not Termination.SUSPENDED:
                causes = self._causes.setdefault(seat.entry, {})
                causes.pop(seat.explanation, None)
                causes[seat.explanation] = forfeit

    def failing_entries(self, excluded: Mapping[str, str]) -> tuple[FailingEntry, ...]:
        """Return the entries that forfeited; `excluded` lists entries that are out, with
        reasons.
        """
        found = [
            FailingEntry(entry, self._matches[entry], kinds, self._latest_cause(entry, excluded))
            for entry, kinds in self._forfeits.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.share, -one.matches, one.entry)))

    def _latest_cause(self, entry: str, excluded: Mapping[str, str]) -> Forfeit:
        """Return an entry's latest forfeit that did not follow from an earlier forfeit."""
        for forfeit in reversed(self._causes.get(entry, {}).values()):
            if forfeit.seat.detail != excluded.get(entry):
                return forfeit
        return self._latest[entry]


def read_state(log: RunJournal) -> tuple[RunState, int | None]:
    """Read what is new about a run; return its state, and the process that plays it.

    The process is 0 if its number is unknown, and None if no process plays the run. Raises
    RunError.
    """
    journal = log.directory / JOURNAL
    process = known_holder(journal)
    log.read()  # after the lock: a run writes its end before it unlocks
    state = _state(log.info, process)
    if state is RunState.KILLED:  # or it began after its lock was looked at
        process = known_holder(journal)
        state = _state(log.info, process)
    return state, process


def _state(info: RunInfo, process: int | None) -> RunState:
    if info.state == "finished":
        return RunState.FINISHED
    if process is not None:
        return RunState.RUNNING
    if info.state == "prepared":
        return RunState.PREPARED
    return RunState.STOPPED if info.state == "cut short" else RunState.KILLED


def _end(result: MatchResult) -> float:
    """Return when an attempt ended, in seconds since 1970."""
    return (_seconds(result.started) or 0.0) + result.seconds


def _seconds(moment: str | None) -> float | None:
    """Convert an ISO 8601 text to seconds since 1970; None if the text is empty or invalid."""
    try:
        return datetime.fromisoformat(moment).timestamp() if moment else None
    except (ValueError, OverflowError):
        return None
