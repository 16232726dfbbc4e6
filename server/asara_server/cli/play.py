"""Plays matches while it shows how far they are, and stops in good order when told to."""

import asyncio
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn

from asara_game.edition import load_edition
from asara_server.cli.console import count, duration, err, say
from asara_server.cli.errors import UserError
from asara_server.cli.log import LogOptions, log_to_file
from asara_server.cli.loop import run
from asara_server.replay.keys import SigningKey
from asara_server.tournament.config import Tournament
from asara_server.tournament.directory import RunDirectory, RunDirectoryError
from asara_server.tournament.results import MatchResult
from asara_server.tournament.runner import RunEnd, Runner
from asara_server.tournament.schedule import Match

_EVERY_S = 5.0
"""Between two lines of progress where there is no terminal."""


class Meter:
    """How far a run is: a bar on a terminal, elsewhere a line every few seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._bar = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.description}"),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        )
        self._task = self._bar.add_task(self._words(), total=total)

    def finished(self, _result: MatchResult) -> None:
        self._done += 1
        self._bar.update(self._task, completed=self._done, description=self._words())

    async def show(self) -> None:
        """Until cancelled."""
        with self._bar:
            while True:
                await asyncio.sleep(_EVERY_S if self._bar.disable else 1.0)
                self._bar.update(self._task, description=self._words())
                if self._bar.disable:
                    say(self._words())

    def _words(self) -> str:
        words = f"{self._done:,} of {count(self._total, 'match')}"
        seconds = time.monotonic() - self._began
        if not self._done:
            return f"{words}, {duration(seconds, whole_s=True)}"
        rate = self._done / seconds
        pace = f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute"
        left = duration((self._total - self._done) / rate, whole_s=True)
        return f"{words}, {pace}, about {left} left"


@contextmanager
def new_run_directory(path: Path, *, replace: bool) -> Iterator[RunDirectory]:
    """An empty directory for a run, with errors for the user."""
    try:
        directory = RunDirectory.create(path, replace=replace)
    except RunDirectoryError as error:
        raise UserError(str(error)) from None
    with directory:
        yield directory


def play_run(
    tournament: Tournament,
    matches: Sequence[Match],
    directory: RunDirectory,
    key: SigningKey,
    options: LogOptions,
    *,
    publish: bool = False,
) -> tuple[RunEnd, int]:
    """Play the matches. With the exit status: 0, 1 where the referee failed, 128 + signal.

    With `publish`, it is said what binds the referee to the deals, and in the end what opens it.
    """
    try:
        with log_to_file(options, directory.path / "run.log"):
            return run(_play(tournament, matches, directory, key, publish))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise UserError(f"{place}{error.strerror or error}", status=1) from None


async def _play(
    tournament: Tournament,
    matches: Sequence[Match],
    directory: RunDirectory,
    key: SigningKey,
    publish: bool,
) -> tuple[RunEnd, int]:
    meter = Meter(len(matches))
    runner = Runner(
        tournament,
        matches,
        edition=load_edition(),
        directory=directory,
        key=key,
        finished=meter.finished,
    )
    if publish:
        say(f"Deals are bound by SHA-256 {runner.deal_commitment}")
    run = asyncio.create_task(runner.run())
    show = asyncio.create_task(meter.show())
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        signals.append(number)
        if len(signals) == 1:
            say("Stopping: open decisions are finished. Once more to stop at once.")
            runner.stop()
        else:
            run.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        end = await run
    except asyncio.CancelledError:
        text = "stopped at once; the standings hold what was finished"
        raise UserError(text, status=128 + signals[0]) from None
    finally:
        show.cancel()
        await asyncio.gather(show, return_exceptions=True)
    if publish and end.standings.complete:
        say(f"Deals are opened by {runner.tournament_secret}")
    if signals:
        return end, 128 + signals[0]
    return end, 1 if end.standings.matches.void else 0
