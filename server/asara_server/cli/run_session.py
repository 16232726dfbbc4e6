"""Plays matches while it shows how far they are, and stops in good order when told to."""

import asyncio
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TextColumn

from asara_game.edition import load_edition
from asara_server.cli.display.console import count, duration, err, ladder_table, say
from asara_server.cli.errors import UserError
from asara_server.cli.options.log import LogOptions, log_to_file
from asara_server.event_loop import run
from asara_server.eventlog.journal import Durability, JournalError
from asara_server.network.addresses import ServeError
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.execution.executor import Executor
from asara_server.tournament.run.directory import RunDirectory, RunDirectoryError, RunInfo
from asara_server.tournament.runner import RunEnd, Runner
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.ladder import Ladder
from asara_server.tournament.standings.match_result import MatchResult, read_results
from asara_server.tournament.workers.backend import WorkerError

EVERY_S = 5.0
"""Between two lines of progress where there is no terminal."""

_NAMES = 3


class _BarAndLadder(Progress):
    """A bar with a table below it, once there is one."""

    below: RenderableType | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.below is not None:
            yield self.below


class Follower(Protocol):
    """Hears of every match of a run, shows how far it is, and may end it early."""

    def skip(self, matches: int, results: Iterable[MatchResult]) -> None:
        """So many were played before, with these results."""

    def finished(self, result: MatchResult) -> None:
        """A match is over."""

    def enough(self) -> bool:
        """Whether no further deal block need begin."""

    async def show(self) -> None:
        """Until cancelled."""


class Meter:
    """How far a run is: a bar and a ladder on a terminal, elsewhere a line every few seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        #: Names of entries whose bots matches wait for.
        self.awaited: Callable[[], Sequence[str]] = tuple
        self._ladder = Ladder()
        self._over = self._done = 0
        self._began = time.monotonic()
        self._bar = _BarAndLadder(
            BarColumn(bar_width=30),
            TextColumn("{task.description}"),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        )
        self._task = self._bar.add_task(self.words(), total=total)

    def skip(self, matches: int, results: Iterable[MatchResult]) -> None:
        self._over = self._done = matches
        for result in results:
            self._rate(result)
        self._bar.update(self._task, completed=self._done, description=self.words())

    def finished(self, result: MatchResult) -> None:
        self._done += 1
        self._rate(result)
        self._bar.update(self._task, completed=self._done, description=self.words())

    def enough(self) -> bool:
        return False

    def _rate(self, result: MatchResult) -> None:
        if not self._bar.disable and self._total > 1:
            self._ladder.add(result)

    async def show(self) -> None:
        with self._bar:
            while True:
                await asyncio.sleep(EVERY_S if self._bar.disable else 1.0)
                self._bar.update(self._task, description=self.words())
                if self._bar.disable:
                    say(self.words())
                elif lines := self._ladder.rows:
                    self._bar.below = ladder_table(lines)

    def words(self) -> str:
        words = f"{self._done:,} of {count(self._total, 'match')}"
        seconds = time.monotonic() - self._began
        waiting = awaited_words(self.awaited())
        if self._done == self._over:
            return f"{words}, {duration(seconds, whole_s=True)}{waiting}"
        rate = (self._done - self._over) / seconds
        pace = f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute"
        left = duration((self._total - self._done) / rate, whole_s=True)
        return f"{words}, {pace}, about {left} left{waiting}"


def awaited_words(entries: Sequence[str]) -> str:
    """Whose bots are waited for, to be put behind something; not more names than a line takes."""
    if not entries:
        return ""
    more = f" and {len(entries) - _NAMES} more" if len(entries) > _NAMES else ""
    return f"; waiting for {', '.join(entries[:_NAMES])}{more} to dial in"


@contextmanager
def new_run_directory(
    path: Path, *, replace: bool, durability: Durability = "normal"
) -> Iterator[RunDirectory]:
    """An empty directory for a run, with errors for the user."""
    try:
        directory = RunDirectory.create(path, replace=replace, durability=durability)
    except RunDirectoryError as error:
        raise UserError(str(error)) from None
    with closing(directory):
        yield directory


@contextmanager
def kept_or_temporary(path: Path | None, *, replace: bool) -> Iterator[RunDirectory]:
    """A new run directory; without a path one that is gone in the end."""
    if path is not None:
        with new_run_directory(path, replace=replace) as directory:
            yield directory
        return
    folder = Path(tempfile.mkdtemp(prefix="asara-"))
    try:
        with new_run_directory(folder, replace=False) as directory:
            yield directory
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def old_run_directory(
    path: Path, *, file: Path, key: SigningKey, durability: Durability
) -> Iterator[tuple[RunDirectory, RunInfo]]:
    """The directory of a run that is to go on by the same file, with errors for the user."""
    try:
        directory, info = RunDirectory.reopen(path, durability=durability)
    except RunDirectoryError as error:
        raise UserError(str(error)) from None
    with closing(directory):
        if not directory.tournament_file.is_file():
            raise UserError(f"{path}: this run was not begun with a tournament file")
        if directory.tournament_file.read_bytes() != file.read_bytes():
            raise UserError(
                f"{file}: differs from {directory.tournament_file}, which the run was begun with; "
                "restore it, or start another run"
            )
        if info.edition_sha256 != load_edition().sha256.hex():
            raise UserError(f"{path}: this run was begun with another edition of the game")
        if directory.public_key not in (None, key.public_pem):
            raise UserError(
                f"{path}: the replays of this run are signed with another key; name it with --key"
            )
        yield directory, info


def play_run(
    tournament: Tournament,
    matches: Sequence[ScheduledMatch],
    directory: RunDirectory,
    key: SigningKey,
    options: LogOptions,
    *,
    publish: bool = False,
    resumed: RunInfo | None = None,
    follower: Follower | None = None,
    sandbox: Sandbox | None = None,
    executor: Executor | None = None,
) -> tuple[RunEnd, int]:
    """Play the matches. With the exit status: 0, 1 where the referee failed, 128 + signal.

    With `publish`, it is said what binds the referee to the deals, and in the end what opens it.
    `resumed` is what run.json says of a run that is to go on. Without a `follower` a meter shows
    how far it is. Without a `sandbox` bots run with the user's rights. Without a `executor` a
    referee in this process plays.
    """
    meter = Meter(len(matches))
    follower = follower or meter
    try:
        with log_to_file(options, directory.path / "run.log"):
            runner = Runner(
                tournament,
                matches,
                edition=load_edition(),
                directory=directory,
                key=key,
                finished=follower.finished,
                enough=follower.enough,
                resumed=resumed,
                sandbox=sandbox,
                executor=executor,
            )
            meter.awaited = lambda: runner.awaited
            follower.skip(runner.matches_over, read_results(directory.path / "results.jsonl"))
            return run(_play(runner, follower, publish))
    except (WorkerError, JournalError) as error:
        raise UserError(str(error), status=1) from None
    except ServeError as error:
        raise UserError(f"remote: {error}", status=1) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise UserError(f"{place}{error.strerror or error}", status=1) from None


async def _play(runner: Runner, follower: Follower, publish: bool) -> tuple[RunEnd, int]:
    if publish:
        say(f"Deals are bound by SHA-256 {runner.deal_commitment}")
    run = asyncio.create_task(runner.run())
    show = asyncio.create_task(follower.show())
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
