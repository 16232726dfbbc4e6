"""Shows the progress of a run or a check."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from asara_server.cli.display.console import err, notify, shows_progress
from asara_server.cli.display.quantities import duration, listed
from asara_server.cli.display.results import ScoreSoFar, scores_table
from asara_server.outcome import match_scores
from asara_server.text import count
from asara_server.tournament.standings.match_result import MatchResult

if TYPE_CHECKING:
    from asara_server.referee.hosted import Wait
    from asara_server.tournament.runner import Runner

LINE_INTERVAL_S = 5.0
"""Seconds between two progress lines if standard error is not a terminal."""
SLOW_INTERVAL_S = 20.0
"""Seconds between two lines that only report that a single build or match is still running."""

NAMES_SHOWN = 3


WAIT_SHOWN_S = 3.0
"""Seconds after which a bot that a match is waiting for is shown by name."""
LONGEST_LEFT_S = 3600.0
"""Most seconds left for a reply that are shown; a person at a debugger has a day."""


class Meter:
    """Shows a line of progress: in place on a terminal, otherwise every few seconds."""

    def __init__(self, total: int, done: int = 0, *, bar: bool = True) -> None:
        """`bar` puts a bar before the line."""
        self._total = total
        self._done = done
        self._bar = _Bar(
            *([BarColumn(bar_width=30)] if bar else []),
            TextColumn("{task.description}", markup=False),
            console=err,
            transient=True,
            disable=not shows_progress(),
        )
        self._task = self._bar.add_task("", total=total)

    def summary(self) -> str:
        """Return the line."""
        raise NotImplementedError

    def notice(self) -> str:
        """Return the line to print without a terminal; "" to print nothing."""
        return self.summary()

    def below(self) -> Iterator[RenderableType]:
        """Yield what a terminal shows below the line."""
        yield from ()

    def refresh(self) -> None:
        self._bar.update(self._task, completed=self._done, description=self.summary())

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the line off the terminal, so that standard output can be printed there."""
        self._bar.stop()
        yield
        self._bar.start()

    async def show(self) -> None:
        """Show the progress until cancelled."""
        printed = ""
        with self._bar:
            while True:
                await asyncio.sleep(LINE_INTERVAL_S if self._bar.disable else 1.0)
                self.refresh()
                if not self._bar.disable:
                    self._bar.below = list(self.below())
                elif (line := self.notice()) not in ("", printed):
                    notify(line)
                    printed = line


class _Bar(Progress):
    below: Sequence[RenderableType] = ()
    """What is shown below the line. Another thread draws it, so it is replaced as a whole."""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield from self.below


class RunMeter(Meter):
    """Counts the results of a run; on a terminal, also shows the scores so far."""

    def __init__(self, total: int, *, bar: bool = True, paced: bool = True) -> None:
        """`paced` is False if a person sets the pace, so that it tells nothing of the time left."""
        self._runner: Runner | None = None
        self._paced = paced
        self._scores: dict[str, ScoreSoFar] = defaultdict(ScoreSoFar)
        self._done_at_start = 0
        self._started = time.monotonic()
        super().__init__(total, bar=bar)

    @property
    def decided(self) -> Callable[[], bool] | None:
        """A function that tells if the run can end early; None if all blocks are played."""
        return None

    def start(self, runner: "Runner") -> None:
        """Start with the number and the results of the matches that a resumed run has played."""
        self._runner = runner
        self._done = self._done_at_start = runner.progress.matches_over
        for result in runner.progress.results:
            self.count(result)
        self.refresh()

    def add_result(self, result: MatchResult) -> None:
        """Count a match that has just ended."""
        self._done += 1
        self.count(result)
        self.refresh()

    def count(self, result: MatchResult) -> None:
        """Take the result of a match into account."""
        if not self._bar.disable and self._total > 1:
            scores = match_scores([line.rank for line in result.seats])
            for line, score in zip(result.seats, scores, strict=True):
                self._scores[line.entry] = self._scores[line.entry].plus(score)

    def notice(self) -> str:
        waiting = self.waiting()
        return f"{self.summary()}; {waiting}" if waiting else self.summary()

    def waiting(self) -> str:
        """Return a clause about the bot that a match has been waiting for; "" if there is none."""
        return wait_text(self._runner.executor.waits) if self._runner else ""

    def below(self) -> Iterator[RenderableType]:
        if waiting := self.waiting():
            yield Text(waiting, no_wrap=True, overflow="ellipsis")
        if self._scores:
            yield scores_table(self._scores)

    def summary(self) -> str:
        """Return one line with the matches played, the pace, the estimated time left, and awaited
        bots.

        Before the first match, the line lists the entries being built.
        """
        runner = self._runner
        if runner is not None and (runner.building or runner.to_build):
            self._started = time.monotonic()  # the pace counts matches only
            now = time.time()
            elapsed = {
                name: max(now - datetime.fromisoformat(since).timestamp(), 0.0)
                for name, since in runner.building.items()
            }
            return building_text(elapsed, runner.to_build)
        played = f"{self._done:,} of {count(self._total, 'match')}"
        if self._done >= self._total:
            return f"{played}; writing the results"
        seconds = time.monotonic() - self._started
        awaited = awaited_text(runner.executor.awaited if runner is not None else ())
        if self._done == self._done_at_start or not self._paced:
            return f"{played} after {duration(seconds, whole_s=True)}{awaited}"
        rate = (self._done - self._done_at_start) / seconds
        pace = f"{played}, {60 * rate:.1f} per minute"
        if runner is not None and runner.progress.stopping.is_set():
            return pace
        left = duration((self._total - self._done) / rate, whole_s=True)
        return f"{pace}, about {left} left{awaited}"


def wait_text(waits: "Sequence[Wait]") -> str:
    """Return a clause about the bot with the longest wait; "" if no wait is long."""
    late = [wait for wait in waits if wait.waited_s >= WAIT_SHOWN_S]
    if not late:
        return ""
    wait = late[0]
    task = f"decision {wait.decision_id} of {wait.match_id}" if wait.decision_id else "to connect"
    left = duration(wait.left_s, whole_s=True)
    shown = f" ({left} left)" if wait.left_s <= LONGEST_LEFT_S else ""
    others = f", and for {count(len(late) - 1, 'more bot')}" if len(late) > 1 else ""
    colon = ": " if wait.decision_id else " "
    return f"waiting for {wait.entry}{colon}{task}{shown}{others}"


def building_text(building: Mapping[str, float], to_build: Sequence[str]) -> str:
    """Return a line that lists the first entries being built, with the seconds for each so far."""
    names = [f"{name} for {duration(s, whole_s=True)}" for name, s in building.items()]
    text = f"building {listed(names, NAMES_SHOWN)}"
    return f"{text}; {count(len(to_build), 'entry')} still to build" if to_build else text


def awaited_text(entries: Sequence[str]) -> str:
    """Return a clause that lists the first entries with awaited bots; "" if there are none."""
    return f"; waiting for {listed(entries, NAMES_SHOWN)} to connect" if entries else ""
