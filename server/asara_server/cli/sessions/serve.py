"""Serves one table: bots that people start connect, and play each other and local opponents."""

import asyncio
import secrets
import shlex
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from asara_codec.clocks import Clocks
from asara_game.vocabulary import RuleSet
from asara_server.cli.commands.serve import Serve
from asara_server.cli.display.console import notify, out, warn
from asara_server.cli.display.faults import fault_lines
from asara_server.cli.display.results import show_match, show_standings
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.interruption import on_signals
from asara_server.cli.sessions.setup import (
    log_to_terminal,
    sandbox_of_bots,
    signing_key,
)
from asara_server.cli.sessions.web import web_for_run
from asara_server.event_loop import run
from asara_server.eventlog.file_lock import is_held
from asara_server.eventlog.journal import TABLE, Journal, JournalError, in_use
from asara_server.match.deal_secrets import secret_of, tournament_secret
from asara_server.match.spec import Player
from asara_server.network.addresses import ServeError, reachable_address
from asara_server.network.grpc_server import RunningServer, serve
from asara_server.network.open_files import files_needed, require_open_files
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from asara_server.replay.file import write_replay
from asara_server.replay.signing import PUBLIC_KEY_FILE, SigningKey, default_key_path
from asara_server.text import plain
from asara_server.tournament.config.seeds import check_seed, draw_seed
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.execution.match_runner import (
    ExecutionContext,
    MatchRunner,
    match_runner,
)
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.match_settings import MatchSettings
from asara_server.tournament.schedule.schedule import Attempt, bot_seed, rotated
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.standings import compute_standings
from asara_server.user_error import UserError


@dataclass(frozen=True, slots=True)
class ReplaySink:
    """A folder for replays, and the key that signs them."""

    folder: Path
    key: SigningKey
    temporary: bool = False
    """True if the folder is deleted at the end."""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Settings of a table."""

    listen: str
    """`host:port` or `unix:/path`."""
    tls: TlsFiles | None
    insecure_remote: bool
    """True if other machines may connect without TLS."""
    guests: tuple[Player, ...]
    """Free seats, and the tokens for the bots that take them."""
    opponents: tuple[Entry, ...]
    """Bots that run on this machine."""
    rule_sets: frozenset[RuleSet]
    matches: int | None
    """Number of matches; None for an unlimited number."""
    clocks: Clocks
    seed: str
    replays: ReplaySink | None
    sandbox: Sandbox | None = None
    """Sandbox for the opponents; None if they run with the user's rights."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all bots, by seat in the first match."""
        return (*(g.entry for g in self.guests), *(o.name for o in self.opponents))


def serve_table(options: Serve, log: LogOptions) -> int:
    """Serve a table with these options; return the exit status."""
    log_to_terminal(log, default_level="warning")
    settings = _settings(options)
    with ExitStack() as stack:
        page = stack.enter_context(
            web_for_run(options.web, insecure_remote=options.insecure_remote)
        )
        if options.web is None:
            server = TableServer(settings)
        else:
            folder = options.out_directory or _empty_folder(stack)
            journal = _open_journal(stack, folder / TABLE)
            # The page shows a folder once there is a journal in it.
            server = TableServer(settings, journal, partial(page.show, folder))
        status = run(server.run())
        if not server.stopped:
            page.stay()
        return status


def _empty_folder(stack: ExitStack) -> Path:
    """Return an empty folder that exists within the context; the page uses it for replays."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="asara-"))) / "table"
    folder.mkdir()
    return folder


def _open_journal(stack: ExitStack, path: Path) -> Journal:
    """Open a journal within the context, from which a page can show the running matches."""
    try:
        if is_held(path):
            raise JournalError(f"{path}: {in_use(0)}")
        path.unlink(missing_ok=True)  # left by a table that was killed
        stack.callback(path.unlink, missing_ok=True)
        return stack.enter_context(Journal(path))
    except (OSError, JournalError) as error:
        raise UserError(f"--web: {error}", status=1) from None


def _settings(options: Serve) -> ServeSettings:
    """Check the options, test the sandbox, and create the folder of the replays."""
    opponents = _opponents(options.bots or [], options.seats)
    if (options.tls_cert is None) != (options.tls_key is None):
        raise UserError("TLS needs both --tls-cert and --tls-key")
    tls = None
    if options.tls_cert and options.tls_key:
        tls = TlsFiles(options.tls_cert, options.tls_key)
    folder = options.out_directory
    secret = [path for path in (default_key_path(), options.tls_key, folder) if path]
    directories = [opponent.directory for opponent in opponents]
    sandbox = sandbox_of_bots(options.sandbox, directories, secret=secret) if opponents else None
    return ServeSettings(
        listen=options.listen,
        tls=tls,
        insecure_remote=options.insecure_remote,
        guests=tuple(
            Player(f"guest-{number}", secrets.token_urlsafe(24))
            for number in range(1, options.seats - len(opponents) + 1)
        ),
        rule_sets=rule_sets(options.rules),
        matches=options.matches or None,
        clocks=options.clock.in_microseconds(),
        seed=_seed(options.seed),
        sandbox=sandbox,
        replays=None if folder is None else replay_sink(folder),
        opponents=built_bots(opponents, sandbox),
    )


def _seed(option: str | None) -> str:
    """Return the seed, which must be strong because guests may be anybody's bots."""
    if option is None:
        return draw_seed()
    try:
        return check_seed(option)
    except ValueError as error:
        raise UserError(f"--seed: {error}") from None


def _opponents(arguments: list[str], seats: int) -> tuple[Entry, ...]:
    opponents = find_bots(arguments)
    if len(opponents) >= seats:
        raise UserError(
            f"{len(opponents)} bots leave no free seat at a table of {seats}; "
            "raise --seats or pass fewer bots"
        )
    if any(bot.name.startswith("guest-") for bot in opponents):
        raise UserError("names that begin with guest- are reserved for free seats")
    return tuple(opponents)


def replay_sink(folder: Path) -> ReplaySink:
    """Create the folder, unless it contains replays: match names are the same at every table."""
    try:
        if folder.is_file():
            raise UserError(f"--out {folder}: is a file; choose a folder")
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("*.asara")):
            raise UserError(f"--out {folder}: already contains replays; choose another folder")
        key = signing_key(None)
        (folder / PUBLIC_KEY_FILE).write_bytes(key.public_pem)
    except OSError as error:
        raise UserError(f"--out {folder}: {error.strerror}") from None
    return ReplaySink(folder, key)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


class TableServer:
    """Waits for the guests, plays the matches, and prints their results."""

    finish_s = 5.0
    """Seconds for open decisions to be answered after the table is stopped."""

    def __init__(
        self,
        settings: ServeSettings,
        journal: Journal | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """`begun` is called in a thread once the table can be shown."""
        self.settings = settings
        self.referee = Referee(journal=journal)
        self.results: list[MatchResult] = []
        self._stop_task: asyncio.Task[None] | None = None
        self._signal: signal.Signals | None = None
        self._begun = begun
        self._journal = journal

    @property
    def stopped(self) -> bool:
        """True if a signal has stopped the table."""
        return self._stop_task is not None

    async def run(self) -> int:
        """Serve until all matches are played or a signal stops it; return the exit status."""
        async with AsyncExitStack() as stack:
            signals = stack.enter_context(ExitStack())  # caught until everything has ended
            serving = await self._listen()
            stack.push_async_callback(serving.stop, 1.0)
            logs = stack.enter_context(tempfile.TemporaryDirectory(prefix="asara-logs-"))
            runner = await stack.enter_async_context(self._match_runner(Path(logs)))
            if self._begun is not None:
                await asyncio.to_thread(self._begun)
            for guest in self.settings.guests:
                runner.pool.add_guest(guest.entry, guest.token)
            play_task = asyncio.create_task(self._play(runner))
            stack.push_async_callback(_end, play_task)  # before its bots, whatever is raised here
            signals.enter_context(on_signals(partial(self._stop, play_task)))
            self.announce(serving.address)
            await asyncio.wait([play_task])
            if self._stop_task:
                await self._stop_task
            elif not play_task.cancelled():
                play_task.result()  # raises its exception
        status = self.print_summary()
        return status if self._signal is None else 128 + self._signal

    async def _listen(self) -> RunningServer:
        settings = self.settings
        try:
            self._require_open_files()
            return await serve(
                self.referee,
                settings.listen,
                tls=settings.tls,
                allow_insecure_remote=settings.insecure_remote,
            )
        except ServeError as error:
            raise UserError(f"--listen: {error}") from None

    def _require_open_files(self) -> None:
        """Raise OpenFilesError if guests and unknown clients could use up this process's files."""
        settings, limits = self.settings, self.referee.limits
        opponents = len(settings.opponents)
        if settings.listen.startswith("unix:"):
            needed = files_needed(limits, processes=opponents) + limits.socket_connections
            require_open_files(needed, "name fewer opponents")
        else:
            guests = len(settings.guests)
            needed = files_needed(limits, processes=opponents, remote_bots=guests)
            require_open_files(needed, "listen at a Unix socket (unix:/path)")

    def _match_runner(self, logs: Path) -> AbstractAsyncContextManager[MatchRunner]:
        """Return the context in which the opponents run."""
        settings = self.settings
        hidden = [logs] if self._journal is None else [logs, self._journal.path.parent]
        entries = settings.opponents
        match_settings = MatchSettings(
            entries=entries,
            processes={entry.name: "run" for entry in entries},
            clocks=settings.clocks,
            bot_seeds={entry.name: bot_seed(settings.seed, entry.name) for entry in entries},
        )
        context = ExecutionContext(
            match_settings,
            partial(secret_of, tournament_secret(settings.seed)),
            settings.sandbox.with_hidden(*hidden) if settings.sandbox else None,
        )
        return match_runner(context, self.referee, logs)

    async def _play(self, match_runner: MatchRunner) -> None:
        settings = self.settings
        for match in rotated(settings.names, settings.rule_sets, settings.matches):
            await self.wait_for_guests()
            async for played, _ in match_runner.play(Attempt(match)):
                self.record(*played)
            if self._stop_task:
                return

    async def wait_for_guests(self) -> None:
        """Wait until the next match can begin."""
        for guest in self.settings.guests:
            if not self.referee.is_connected(guest.token):
                notify(f"Waiting for {guest.entry} to connect")
                await self.referee.wait_until_connected(guest.token)

    def record(self, result: MatchResult, records: Sequence[bytes]) -> Path | None:
        """Write the replay of a match, and print its result; return the path of the replay."""
        path: Path | None = None
        self.results.append(result)
        if self._journal is not None:
            self._journal.end(result.played_as, result.to_json())
        if result.void:
            warn(f"{result.match_id} has no result, because the referee failed")
        else:
            show_match(result)
            sink = self.settings.replays
            if sink is not None:
                path = sink.folder / f"{result.played_as}.asara"
                write_replay(path, records, sink.key)
                if not sink.temporary:
                    out.print(f"Replay: {plain(str(path), None)}", soft_wrap=True)
            out.print()
        for line in fault_lines([result]):
            warn(line)
        return path

    def _stop(self, play_task: asyncio.Task[None], number: signal.Signals) -> None:
        if self._stop_task is None:
            self._signal = number
            self._stop_task = asyncio.create_task(self._stop_referee(play_task))
            # last, because printing to a closed terminal raises an error
            notify("Stopping once the pending decisions have been answered.")

    async def _stop_referee(self, play_task: asyncio.Task[None]) -> None:
        for line in (await self.referee.stop(finish_s=self.finish_s)).values():
            warn(line)
        play_task.cancel()  # it may be waiting for a guest

    def announce(self, address: str) -> None:
        """Print the address and, for each guest, the environment variables for its command."""
        settings = self.settings
        notify(f"Listening on {address} ({'TLS' if settings.tls else 'no TLS'})")
        for seat, guest in enumerate(settings.guests):
            heading = f"Start your bot for seat {seat} ({guest.entry}) with these variables:"
            out.print(f"\n{heading}")
            variables = " ".join(self._variables(guest, address))
            out.print(f"    {variables}", soft_wrap=True)
        out.print()

    def _variables(self, guest: Player, address: str) -> Iterator[str]:
        """Yield the environment variables for a guest's bot, quoted for a shell."""
        yield f"ASARA_ADDRESS={shlex.quote(reachable_address(address))}"
        yield f"ASARA_TOKEN={guest.token}"
        yield f"ASARA_SEED={bot_seed(self.settings.seed, guest.entry)}"
        if self.settings.tls is not None:
            yield f"ASARA_CA={shlex.quote(str(self.settings.tls.certificate.resolve()))}"

    def print_summary(self) -> int:
        """Print the standings of several matches; return the exit status."""
        names = self.settings.names
        scheduled = len({result.match_id for result in self.results})
        standings = compute_standings(" – ".join(names), names, scheduled, self.results)
        if standings.matches.played > 1:
            show_standings(standings)
        return 1 if standings.matches.void else 0
