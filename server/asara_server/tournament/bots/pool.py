"""The bots of a run: started when a match needs them, kept between matches, replaced when they end.

A process plays one match at a time, so that its clock measures nothing but its own thinking. Where
all processes of an entry are busy another one is started: with few entries the cores would idle
otherwise, and the number of matches at once, not of processes, is what shares out the machine.

A process that ended, or that forfeited a match, is not used again. An entry whose processes fail
several times in a row before they dial in is out: the rest of its matches are forfeited at once.
So is one that is excluded for another reason.

What a bot prints is in `logs/<match>/<seat>-<entry>.log`, also where its process plays on in other
matches.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.failed_starts import FailedStarts
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.bots.process import BotProcess, StartError, bot_environment
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import confined

T = TypeVar("T")

GOODBYE_S = 1.0
"""Seconds a process has to end by itself once its bot was told that nothing more will come."""


@dataclass(eq=False)
class PooledBot:
    """One bot as the referee knows it: by its token, with a process if we started one."""

    entry: str
    token: str
    guest: bool = False
    """Somebody else starts and ends it."""
    absence: Callable[[], str] = str
    """Why a guest is not waited for any more; empty while it is."""
    log: OutputLog | None = None
    process: BotProcess | None = None
    ended: str = ""
    """How the process ended, or why there is none; empty while it runs."""
    watcher: asyncio.Task[None] | None = field(default=None, repr=False)

    def last_words(self) -> list[str]:
        """The last lines that its process printed."""
        return self.log.last_words() if self.log else []


class BotPool:
    """All bots of a run. `take` them for a match, `give_back` when it is over, `close` at the end.

    `keep` processes from match to match, or start new ones for each. `seeds` are what bots derive
    their dice and nonces from, by entry; without one they draw their own.
    """

    def __init__(
        self,
        referee: Referee,
        address: str,
        entries: Iterable[Entry],
        *,
        keep: bool,
        limits: Limits,
        seeds: Mapping[str, int],
        logs: Path,
        sandbox: Sandbox | None = None,
        built: Mapping[str, Path] | None = None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        """Without a `sandbox` bots run with our rights. `built` has the directories of entries
        that were built, by name.
        """
        self._referee = referee
        self._address = address
        self._entries = {entry.name: entry for entry in entries}
        self._keep = keep
        self._limits = limits
        self._seeds = seeds
        self._logs = logs
        self._sandbox = sandbox
        self._built = built or {}
        self._guests: dict[str, PooledBot] = {}
        self._all: set[PooledBot] = set()
        self._idle: list[PooledBot] = []
        """The one that has waited longest for a match comes first."""
        self._failed_starts = FailedStarts(limits.failed_starts)
        self._out: dict[str, str] = {}
        self._reaper: OrphanReaper | None = None
        self._work: set[asyncio.Task[Any]] = set()
        """What is done to its end also where who asked for it is cancelled."""
        self._logger = log or logger("runner")

    @property
    def out(self) -> dict[str, str]:
        """Entries that are not started any more, and why."""
        return dict(self._out)

    def invite(self, name: str, token: str) -> None:
        """Let somebody's own bot take part under this name."""
        self._guests[name] = self._admit(PooledBot(name, token, guest=True))

    def expect(self, name: str, token: str, absence: Callable[[], str]) -> None:
        """Let a bot take part that the referee has admitted, until it is not waited for any more:
        `absence` says why.
        """
        bot = self._guests[name] = PooledBot(name, token, guest=True, absence=absence)
        self._all.add(bot)

    async def exclude(self, name: str, why: str) -> None:
        """Start no more bots of this entry: it forfeits its further matches, for this reason."""
        self._out.setdefault(name, why)
        for bot in [bot for bot in self._idle if bot.entry == name]:
            self._idle.remove(bot)
            await self._retire(bot, why)

    async def take(self, name: str, match_id: str, seat: int) -> PooledBot:
        """A bot of this entry for this match, started if need be."""
        guest = self._guests.get(name)
        why = self._out.get(name) or (guest.absence() if guest else "")
        if why:
            bot = self._admit(PooledBot(name, _token()))
            self._lose(bot, why)
            return bot
        if guest:
            return guest
        path = self._logs / match_id / f"{seat}-{name}.log"
        idle = self._idle_bot(name)
        if idle is None:
            return await self._whole(self._start(self._entries[name], match_id, seat, path))
        if idle.log is not None and idle.process is not None:
            idle.log.move(path)
            idle.log.note(f"process {idle.process.pid}, which played before")
        return idle

    async def give_back(self, bot: PooledBot, termination: Termination) -> None:
        """The bot's match is over, and so ended its part in it."""
        if bot.guest:
            return
        if bot.entry not in self._out and bot.entry not in self._guests:
            self._record_start(bot, termination)
        if self._keep and not termination.forfeit and not bot.ended:
            self._idle.append(bot)
            while len(self._idle) > self._limits.idle_processes:
                await self._retire(self._idle.pop(0), "other bots need the room")
        else:
            await self._retire(bot, "the match is over")

    async def close(self) -> None:
        """End all processes, busy or idle."""
        while self._work:  # somebody who was cancelled left it; no process may get lost in it
            await asyncio.wait(self._work.copy())
        await asyncio.gather(*(self._retire(bot, "the run is over") for bot in self._all.copy()))
        if self._reaper is not None:
            self._reaper.dismiss()

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this to its end; `close` waits for it where the caller does not."""
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return await asyncio.shield(task)

    def _idle_bot(self, name: str) -> PooledBot | None:
        for bot in reversed(self._idle):
            if bot.entry == name:
                self._idle.remove(bot)
                return bot
        return None

    async def _start(self, entry: Entry, match_id: str, seat: int, path: Path) -> PooledBot:
        bot = self._admit(PooledBot(entry.name, _token()))
        bot.log = OutputLog(path, self._limits.log_bytes)
        environment = bot_environment(
            entry.environment,
            address=self._address,
            token=bot.token,
            seed=self._seeds.get(entry.name),
            seat=None if self._keep else seat,
        )
        if self._reaper is None:
            self._reaper = OrphanReaper(self._address)
        built = self._built.get(entry.name)
        sandbox_spec = confined(self._sandbox, entry, self._entries.values(), built, self._limits)
        directory = built if built and not sandbox_spec else entry.directory
        try:
            bot.process = await BotProcess.start(
                entry.command, directory, environment, bot.log, sandbox_spec
            )
        except StartError as error:
            self._lose(bot, str(error))
            return bot
        self._logger.info("bot started", entry=entry.name, pid=bot.process.pid, match=match_id)
        self._reaper.watch(bot.process.pid)
        bot.watcher = asyncio.create_task(self._watch(bot, bot.process, bot.log))
        return bot

    def _admit(self, bot: PooledBot) -> PooledBot:
        self._all.add(bot)
        self._referee.register_bot(bot.token, bot.entry)
        return bot

    async def _watch(self, bot: PooledBot, process: BotProcess, log: OutputLog) -> None:
        """See to it that the referee hears of the end of a process at once."""
        how = await process.wait()
        if self._reaper is not None:
            self._reaper.forget(process.pid)
        log.note(how)
        words = log.last_words()
        self._logger.info("bot ended", entry=bot.entry, pid=process.pid, how=how, words=words)
        if bot in self._all:
            self._lose(bot, how)
        if bot in self._idle:
            self._idle.remove(bot)
            await self._retire(bot, how)

    def _lose(self, bot: PooledBot, why: str) -> None:
        bot.ended = why
        self._referee.mark_lost(bot.token, why)

    def _record_start(self, bot: PooledBot, termination: Termination) -> None:
        why = bot.ended or "did not dial in in time"
        if out := self._failed_starts.record_start(bot.entry, termination, why):
            self._out[bot.entry] = out
            words = bot.last_words()
            self._logger.warning("entry is out", entry=bot.entry, why=out, words=words)

    async def _retire(self, bot: PooledBot, why: str) -> None:
        """Say goodbye, end the process, forget the bot."""
        if bot in self._all:
            self._all.discard(bot)
            self._referee.remove_bot(bot.token, why)
            await self._whole(self._end(bot))

    async def _end(self, bot: PooledBot) -> None:
        if bot.process is not None:
            if bot.watcher is not None and not bot.ended:
                await asyncio.wait([bot.watcher], timeout=GOODBYE_S)
            await bot.process.stop()
        if bot.log is not None:
            bot.log.close()


def _token() -> str:
    return secrets.token_urlsafe(24)
