"""A table that people's own bots dial in to: who is awaited, what is played, how it went."""

import asyncio
import shlex
import signal
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from asara_game.edition import load_edition
from asara_game.vocabulary import RuleSet
from asara_server.cli.display.console import fault_lines, out, say, show_match, show_standings, warn
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import BotCommand
from asara_server.match.deal_secrets import secret_of, tournament_secret
from asara_server.match.spec import ClockSettings
from asara_server.network.addresses import ServeError, reachable_address
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.execution.local_socket import local_address
from asara_server.tournament.execution.match_runner import MatchRunner, PlayedMatch
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import bot_seed, rotated
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings

_FINISH_S = 5.0
"""Seconds that open decisions have to be answered when the referee is stopped."""

_LONG_S = 3600.0
"""One wait for a guest; another one follows."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A seat for somebody's own bot."""

    name: str
    token: str


@dataclass(frozen=True, slots=True)
class ReplaySink:
    """Where replays are left, and what signs them."""

    folder: Path
    key: SigningKey


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served."""

    listen: str
    tls: TlsFiles | None
    insecure_remote: bool
    guests: tuple[Guest, ...]
    opponents: tuple[BotCommand, ...]
    rule_sets: frozenset[RuleSet]
    matches: int | None
    clocks: ClockSettings
    seed: str
    replays: ReplaySink | None
    sandbox: Sandbox | None = None
    """What contains the opponents."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*(g.name for g in self.guests), *(o.name for o in self.opponents))


class TableServer:
    """Receives guests, plays the matches with them, and tells on the terminal how they go."""

    def __init__(self, settings: ServeSettings) -> None:
        self._offer = settings
        self.referee = Referee()
        self._results: list[MatchResult] = []
        self._cut: list[str] = []
        self._stopping: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Serve until all matches are played or a signal says to stop; the exit status."""
        settings = self._offer
        async with AsyncExitStack() as stack:
            try:
                serving = await serve(
                    self.referee,
                    settings.listen,
                    tls=settings.tls,
                    allow_insecure_remote=settings.insecure_remote,
                )
            except ServeError as error:
                hint = " (--insecure-remote)" if "allow it expressly" in str(error) else ""
                raise UserError(f"--listen: {error}{hint}") from None
            stack.push_async_callback(serving.server.stop, 1.0)
            local = ""
            if settings.opponents:
                local = await stack.enter_async_context(local_address(self.referee, "unix"))
            logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="asara-logs-")))
            opponents = [Entry.model_validate(bot.table()) for bot in settings.opponents]
            pool = BotPool(
                self.referee,
                local,
                opponents,
                reuse_processes=True,
                limits=Limits(),
                seeds={one.name: bot_seed(settings.seed, one.name) for one in opponents},
                logs=logs,
                sandbox=settings.sandbox.with_hidden(logs) if settings.sandbox else None,
            )
            stack.push_async_callback(pool.close)
            for guest in settings.guests:
                pool.add_guest(guest.name, guest.token)
            match_runner = MatchRunner(
                self.referee,
                pool,
                edition=load_edition(),
                clocks=settings.clocks,
                secret_of=partial(secret_of, tournament_secret(settings.seed)),
            )
            matches = asyncio.create_task(self._play(match_runner))
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._stop, matches)
            self._welcome(serving.address)
            await asyncio.wait([matches])
            if self._stopping:
                await self._stopping
            elif not matches.cancelled():
                matches.result()  # raises what went wrong
        standings = self._standings()
        if standings.matches.played > 1:
            show_standings(standings)
        for line in self._cut:
            warn(line)
        return 1 if self._cut or standings.matches.void else 0

    async def _play(self, match_runner: MatchRunner) -> None:
        settings = self._offer
        for match in rotated(settings.names, settings.rule_sets, settings.matches):
            await self._everybody()
            async for played in match_runner.play(match):
                self._show(played)
            if self._stopping:
                return

    async def _everybody(self) -> None:
        """Wait until all guests have dialled in."""
        for guest in self._offer.guests:
            if not self.referee.is_connected(guest.token):
                say(f"Waiting for {guest.name} to dial in")
                while not await self.referee.wait_until_connected(guest.token, _LONG_S):
                    pass

    def _show(self, played: PlayedMatch) -> None:
        result = played.result
        self._results.append(result)
        if played.replay is None:
            warn(f"{result.match_id} is void: the referee failed")
        else:
            sink = self._offer.replays
            if sink is not None:
                name = f"{played.replay.header.match_id}.asara"
                write_replay(sink.folder / name, played.replay, sink.key)
            show_match(result)
            out.print()
        for line in fault_lines([result]):
            warn(line)

    def _stop(self, matches: asyncio.Task[None]) -> None:
        if self._stopping is None:
            say("Stopping: open decisions are finished.")
            self._stopping = asyncio.create_task(self._stop_referee(matches))

    async def _stop_referee(self, matches: asyncio.Task[None]) -> None:
        self._cut += await self.referee.stop(finish_s=_FINISH_S)
        matches.cancel()  # it may wait for a guest

    def _welcome(self, address: str) -> None:
        settings = self._offer
        safe = "TLS" if settings.tls else "no TLS"
        say(f"Listening on {address} ({safe})")
        for guest in settings.guests:
            out.print(f"\nStart the bot for {guest.name} with", markup=False)
            out.print(
                "    " + " ".join(self._variables(guest, address)), soft_wrap=True, markup=False
            )
        out.print()

    def _variables(self, guest: Guest, address: str) -> Iterator[str]:
        """What a shell takes before a command."""
        yield f"ASARA_ADDRESS={shlex.quote(reachable_address(address))}"
        yield f"ASARA_TOKEN={guest.token}"
        yield f"ASARA_SEED={bot_seed(self._offer.seed, guest.name)}"
        if self._offer.tls is not None:
            yield f"ASARA_CA={shlex.quote(str(self._offer.tls.certificate.resolve()))}"

    def _standings(self) -> Standings:
        names = self._offer.names
        scheduled = len({result.match_id for result in self._results})
        return compute_standings(" – ".join(names), names, scheduled, self._results)
