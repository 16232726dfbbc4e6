"""How a run goes, from the files that it leaves; nothing of the run is touched.

`Follower` reads what is new each time it is asked, so that a long run can be looked at often.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from asara_codec.results import Termination
from asara_server.tournament.run.directory import (
    JOURNAL,
    RemoteInfo,
    RunInfo,
    read_info,
    read_remote,
)
from asara_server.tournament.run.progress import MAX_ATTEMPTS
from asara_server.tournament.run.sqlite_lock import holder
from asara_server.tournament.standings.ladder import Ladder
from asara_server.tournament.standings.match_result import MatchResult, result_in

RESULTS: Final = "results.jsonl"

_SIGNS: Final = (RESULTS, "run.log", f"{JOURNAL}-wal", JOURNAL)
"""What a run writes to while it plays."""


class State(Enum):
    """Whether a run goes on, or how it ended."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    KILLED = "killed"
    """`run.json` says that it runs, but nobody has its journal open."""


@dataclass(frozen=True, slots=True)
class Failing:
    """An entry that forfeited."""

    entry: str
    matches: int
    """It played; forfeits among them."""
    kinds: Counter[Termination]
    """How often it forfeited, by kind."""
    latest: MatchResult
    """The last match that it forfeited."""
    why: str
    """Why it did, in words."""

    @property
    def forfeits(self) -> int:
        """How often in all."""
        return sum(self.kinds.values())

    @property
    def share(self) -> float:
        """Of its matches."""
        return self.forfeits / self.matches


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a run plays, since it was begun or resumed last."""

    matches: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Matches; 0 before there is one."""
        return 60 * self.matches / self.seconds if self.seconds > 0 else 0.0

    def left_s(self, matches: int) -> float | None:
        """Seconds that so many more matches take; None where nothing tells."""
        return matches * self.seconds / self.matches if self.matches else None


@dataclass(frozen=True, slots=True)
class Status:
    """A run at one moment."""

    info: RunInfo
    state: State
    process: int
    """That plays it; 0 where there is none, or its number is not known."""
    over: int
    """Matches that need not be played any more."""
    void: int
    """Of these, matches without a result."""
    blocks: int
    """Deal blocks that matches with a result are of."""
    elapsed_s: float
    """From the start of the run to its end, or to now; a break counts."""
    pace: Pace
    idle_s: float | None
    """Since the last match was over; None where there is none."""
    failing: tuple[Failing, ...]
    """Those with the largest share of forfeits first."""
    out: Mapping[str, str]
    """Entries that do not take part any more, and why."""
    suspended: Mapping[str, str]
    remote: RemoteInfo | None = None
    """Which bots on other machines are here; only while the run goes on."""

    @property
    def left(self) -> int:
        """Matches to be played."""
        return max(self.info.scheduled - self.over, 0)


class Follower:
    """Reads the files of a run again and again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._forget()

    def _forget(self) -> None:
        """Begin anew."""
        #: In the order in which they ended.
        self.results: list[MatchResult] = []
        self.ladder = Ladder()
        #: Which file was read, and how far: lines and bytes.
        self._file = 0, 0
        self._lines = 0
        self._offset = 0
        #: When matches were over, seconds since 1970.
        self._ends: list[float] = []
        self._sound: set[str] = set()
        #: How often a match was void.
        self._voids: Counter[str] = Counter()
        self._blocks: set[str] = set()
        self._matches: Counter[str] = Counter()
        self._forfeits: dict[str, Counter[Termination]] = {}
        self._latest: dict[str, tuple[MatchResult, str]] = {}

    def look(self, now: float | None = None) -> Status:
        """How the run stands; `now` in seconds since 1970.

        Raises RunDirectoryError or ResultsError for a file that cannot be understood, and OSError
        for one that cannot be read. Only `run.json` has to be there.
        """
        now = time.time() if now is None else now
        process = self._process()
        info = read_info(self.directory)  # behind the look at the lock: the end is told before it
        self._read_on()
        state = _state(info, process)
        if state is State.KILLED:  # or it began between the two looks
            process = self._process()
            state = _state(info, process)
        started = _seconds(info.started) or now
        end = now
        if state is not State.RUNNING:
            end = _seconds(info.ended) or self._last_sign() or now
        session = _seconds(info.resumed) or started
        voids = sum(
            n >= MAX_ATTEMPTS and match_id not in self._sound for match_id, n in self._voids.items()
        )
        return Status(
            info=info,
            state=state,
            process=process or 0,
            over=len(self._sound) + voids,
            void=voids,
            blocks=len(self._blocks),
            elapsed_s=max(end - started, 0.0),
            pace=Pace(sum(over >= session for over in self._ends), max(end - session, 0.0)),
            idle_s=max(now - max(self._ends), 0.0) if self._ends else None,
            failing=self._failing(),
            out=info.out,
            suspended=info.suspended,
            remote=read_remote(self.directory) if state is State.RUNNING else None,
        )

    def _process(self) -> int | None:
        """The process that plays the run; 0 where its number is not known, None for nobody."""
        try:
            return holder(self.directory / JOURNAL)
        except FileNotFoundError:
            return None

    def _last_sign(self) -> float | None:
        """When a run that was killed last wrote anything."""
        times = []
        for name in _SIGNS:
            with suppress(FileNotFoundError):
                times.append((self.directory / name).stat().st_mtime)
        return max(times, default=None)

    def _read_on(self) -> None:
        """Read the results that are new; a line that is not whole yet is left for the next time."""
        path = self.directory / RESULTS
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                identity = found.st_dev, found.st_ino
                if identity != self._file or found.st_size < self._offset:  # written anew
                    self._forget()
                    self._file = identity
                file.seek(self._offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._add(result_in(line, path, self._lines + 1))
                    self._lines += 1
                    self._offset += len(line)
        except FileNotFoundError:
            self._forget()

    def _add(self, result: MatchResult) -> None:
        over = (_seconds(result.started) or math.nan) + result.seconds
        if math.isfinite(over):
            self._ends.append(over)
        self.results.append(result)
        if result.void:
            self._voids[result.match_id] += 1
            return
        self.ladder.add(result)
        self._sound.add(result.match_id)
        self._blocks.add(result.deal_block)
        self._matches.update(line.entry for line in result.seats)
        for line in result.forfeits:
            self._forfeits.setdefault(line.entry, Counter())[line.termination] += 1
            self._latest[line.entry] = result, line.detail

    def _failing(self) -> tuple[Failing, ...]:
        found = [
            Failing(entry, self._matches[entry], kinds, *self._latest[entry])
            for entry, kinds in self._forfeits.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.share, -one.matches, one.entry)))


def _state(info: RunInfo, process: int | None) -> State:
    if info.state == "finished":
        return State.FINISHED
    if process is not None:
        return State.RUNNING
    return State.STOPPED if info.state == "cut short" else State.KILLED


def _seconds(moment: str | None) -> float | None:
    """Seconds since 1970 of a moment in ISO 8601; None where there is none."""
    try:
        return datetime.fromisoformat(moment).timestamp() if moment else None
    except (ValueError, OverflowError):
        return None
