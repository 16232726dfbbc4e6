"""Shows the progress of a run while it is played."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from asara_server.cli.display.console import err, notify, shows_progress
from asara_server.cli.display.quantities import duration
from asara_server.cli.display.results import ScoreSoFar, scores_table
from asara_server.outcome import match_scores
from asara_server.referee.hosted import Wait
from asara_server.text import count
from asara_server.tournament.standings.match_result import MatchResult

LINE_INTERVAL_S = 5.0
"""Seconds between two progress lines if standard error is not a terminal."""
SLOW_INTERVAL_S = 20.0
"""Seconds between two lines that only report that a single build or match is still running."""

_NAMES_SHOWN = 3


WAIT_SHOWN_S = 3.0
"""Seconds after which a bot that a match is waiting for is shown by name."""


class RunActivity(Protocol):
    """The current builds of a run, and the bots that it is waiting for."""

    @property
    def awaited(self) -> Sequence[str]:
        """Entries whose bots on other machines are not connected, although matches need them."""

    @property
    def waits(self) -> Sequence[Wait]:
        """Bots that running matches are waiting for, longest wait first."""

    @property
    def building(self) -> Mapping[str, str]:
        """Entries being built, with the time when each build began, in ISO 8601 and UTC."""

    @property
    def to_build(self) -> Sequence[str]:
        """Entries whose build has not started yet."""


class ProgressMeter(Protocol):
    """Counts the results of a run, and shows its progress."""

    def start(self, over: int, results: Iterable[MatchResult], activity: RunActivity) -> None:
        """Start with the number and the results of the matches that a resumed run has played."""

    def add_result(self, result: MatchResult) -> None:
        """Count a finished match."""

    async def show(self) -> None:
        """Show the progress until cancelled."""

    @property
    def decided(self) -> Callable[[], bool] | None:
        """Return a function that tells if the run can end early; None if all blocks are played."""


class RunMeter:
    """Shows a bar and the scores so far on a terminal, otherwise a line every few seconds."""

    decided = None

    def __init__(self, total: int) -> None:
        self._total = total
        self._activity: RunActivity | None = None
        self._scores: dict[str, ScoreSoFar] = defaultdict(ScoreSoFar)
        self._over = self._over_at_start = 0
        self._started = time.monotonic()
        self._bar = _BarWithTable(
            BarColumn(bar_width=30),
            TextColumn("{task.description}", markup=False),
            console=err,
            transient=True,
            disable=not shows_progress(),
        )
        self._task = self._bar.add_task(self.summary(), total=total)

    def start(self, over: int, results: Iterable[MatchResult], activity: RunActivity) -> None:
        self._activity = activity
        self._over = self._over_at_start = over
        for result in results:
            self._count(result)
        self._update_bar()

    def add_result(self, result: MatchResult) -> None:
        self._over += 1
        self._count(result)
        self._update_bar()

    async def show(self) -> None:
        with self._bar:
            while True:
                await asyncio.sleep(LINE_INTERVAL_S if self._bar.disable else 1.0)
                self._update_bar()
                waiting = wait_text(self._activity.waits) if self._activity else ""
                if self._bar.disable:
                    notify(f"{self.summary()}; {waiting}" if waiting else self.summary())
                    continue
                self._bar.waiting = waiting
                if self._scores:
                    self._bar.table = scores_table(self._scores)

    def summary(self) -> str:
        """Return one line with the matches played, the pace, the estimated time left, and awaited
        bots.

        Before the first match, the line lists the entries being built.
        """
        activity = self._activity
        if activity is not None and (activity.building or activity.to_build):
            self._started = time.monotonic()  # the pace counts matches only
            now = time.time()
            elapsed = {
                name: max(now - datetime.fromisoformat(since).timestamp(), 0.0)
                for name, since in activity.building.items()
            }
            return building_text(elapsed, activity.to_build)
        played = f"{self._over:,} of {count(self._total, 'match')}"
        seconds = time.monotonic() - self._started
        over = self._over >= self._total
        awaited = awaited_text(activity.awaited if activity is not None and not over else ())
        if self._over == self._over_at_start:
            return f"{played} after {duration(seconds, whole_s=True)}{awaited}"
        rate = (self._over - self._over_at_start) / seconds
        pace = f"{rate:.1f} per second" if rate >= 1 else f"{60 * rate:.1f} per minute"
        left = duration((self._total - self._over) / rate, whole_s=True)
        return f"{played}, {pace}, about {left} left{awaited}"

    def _count(self, result: MatchResult) -> None:
        if not self._bar.disable and self._total > 1:
            scores = match_scores([line.rank for line in result.seats])
            for line, score in zip(result.seats, scores, strict=True):
                self._scores[line.entry] = self._scores[line.entry].plus(score)

    def _update_bar(self) -> None:
        self._bar.update(self._task, completed=self._over, description=self.summary())


class _BarWithTable(Progress):
    """A progress bar with a line and a table below it, as soon as they exist."""

    waiting = ""
    table: RenderableType | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.waiting:
            yield Text(self.waiting, no_wrap=True, overflow="ellipsis")
        if self.table is not None:
            yield self.table


def wait_text(waits: Sequence[Wait]) -> str:
    """Return a clause about the bot with the longest wait; "" if no wait is long."""
    late = [wait for wait in waits if wait.waited_s >= WAIT_SHOWN_S]
    if not late:
        return ""
    wait = late[0]
    task = f"decision {wait.decision_id} of {wait.match_id}" if wait.decision_id else "to connect"
    left = duration(wait.left_s, whole_s=True)
    others = f", and for {count(len(late) - 1, 'more bot')}" if len(late) > 1 else ""
    colon = ": " if wait.decision_id else " "
    return f"waiting for {wait.entry}{colon}{task} ({left} left){others}"


def building_text(building: Mapping[str, float], to_build: Sequence[str]) -> str:
    """Return a line that lists the first entries being built, with the seconds for each so far."""
    shown = [
        f"{name} for {duration(seconds, whole_s=True)}"
        for name, seconds in list(building.items())[:_NAMES_SHOWN]
    ]
    more = len(building) - _NAMES_SHOWN
    text = f"building {', '.join(shown)}" + (f" and {more} more" if more > 0 else "")
    return f"{text}; {count(len(to_build), 'entry')} still to build" if to_build else text


def awaited_text(entries: Sequence[str]) -> str:
    """Return a clause that lists the first entries with awaited bots; "" if there are none."""
    if not entries:
        return ""
    more = f" and {len(entries) - _NAMES_SHOWN} more" if len(entries) > _NAMES_SHOWN else ""
    return f"; waiting for {', '.join(entries[:_NAMES_SHOWN])}{more} to connect"
