"""The bots of a run: started for their matches, reused, and replaced when they end.

A process plays one match at a time, so its clock measures only its own thinking. If all processes
of an entry are busy, another one is started; otherwise cores would idle in a run with few entries.
The number of concurrent matches limits the load, not the number of processes.

The processes of matches to come are started while others play (see `early_starts`), as far as no
idle process will serve them. All others are started when their match needs them.

No process meets a deal twice. A process that lives on plays in one place of mirrored blocks only
(see `ScheduledMatch.place`), and ends if a match is to be played again with the deal of its match.
Besides, the pool remembers the shared deals that each process has met, lest it meet one again when
a worker repeats a block.

A process that has ended or forfeited a match is not used again. An entry whose processes fail
several times in a row before they dial in is excluded: it forfeits its remaining matches at once.
Entries can also be excluded for other reasons.

The output of a bot is in `logs/<match>/<seat>-<entry>.log`. A process that is reused continues in
the file of its next match.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.match.spec import ProcessPolicy
from asara_server.referee.bot_registry import BotRegistry
from asara_server.text import plain_words
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.early_starts import EarlyStarts
from asara_server.tournament.bots.exclusions import Absence, Exclusions
from asara_server.tournament.bots.failed_starts import FailedStarts
from asara_server.tournament.bots.freezer import BotFreezer
from asara_server.tournament.bots.output_log import OutputLog, OutputTap
from asara_server.tournament.bots.pooled_bot import PooledBot
from asara_server.tournament.bots.process import BotProcess, StartError
from asara_server.tournament.bots.process_starter import ProcessStarter
from asara_server.tournament.bots.start_plan import SeatNeed, StartPlan, plan_starts, surplus
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.run.cost_meter import CostMeter
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import ReadableCopy

T = TypeVar("T")

_LAST_MESSAGES_S = 0.01
"""Seconds that a process has to read the end of a match before its entry plays the deal again."""


class BotPool:
    """The bots of a run.

    `acquire` a bot for each seat of a match and `release` it afterwards; `close` the pool in the
    end.
    """

    def __init__(
        self,
        referee: BotRegistry,
        addresses: BotAddresses,
        entries: Iterable[Entry],
        *,
        processes: Mapping[str, ProcessPolicy],
        ponder: bool = True,
        limits: Limits,
        seeds: Mapping[str, int],
        logs: Path,
        sandbox: Sandbox | None = None,
        built: Mapping[str, Path] | None = None,
        readable_copies: Mapping[Path, ReadableCopy] | None = None,
        show_output: Callable[[str], OutputTap] | None = None,
        asked: Callable[[str, int], int] | None = None,
        meter: CostMeter | None = None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        """`entries` are those whose bots the pool starts, each process with one of the `addresses`.

        `processes`, by entry, is the lifetime of its processes. Without `ponder`, contained bots
        are frozen while they are not asked (see `freezer`). `seeds`, by entry, are what bots
        derive their randomness from; without one, a bot draws its own. `built` has the
        directories that builds produced, by entry. `readable_copies` are those of `readable` paths
        that were sent to this machine. Without a `sandbox`, bots run with our rights.
        `show_output` is called for every process, with its entry, and returns its tap. `asked`
        returns the number of the decision that a seat of a match was asked last, or 0; with it, the
        logs have indexes (see `decision_index`). `meter` counts what the processes cost.
        """
        self._referee = referee
        self._addresses = addresses
        self._entries = {entry.name: entry for entry in entries}
        self._processes = processes
        self._limits = limits
        self._logs = logs
        self._asked = asked
        self._meter = meter or CostMeter()
        self._starter = ProcessStarter(
            addresses,
            self._entries,
            limits=limits,
            seeds=seeds,
            sandbox=sandbox,
            built=built or {},
            readable_copies=readable_copies or {},
            show_output=show_output,
            meter=self._meter,
        )
        self._external: dict[str, PooledBot] = {}
        self._all: set[PooledBot] = set()
        self._idle: list[PooledBot] = []  # the one that has been idle longest is first
        self._failed_starts = FailedStarts(limits.failed_starts)
        self._start_ups_s: dict[str, float] = {}
        self._early_starts: EarlyStarts | None = None
        self.exclusions = Exclusions()
        self._protected: set[asyncio.Task[Any]] = set()
        self._retirements: set[asyncio.Task[None]] = set()
        self._logger = log or logger("runner")
        self._freezer = BotFreezer(referee, self._logger, ponder=ponder)

    @property
    def excluded(self) -> dict[str, str]:
        """Entries whose bots are no longer started, with the reasons."""
        return self.exclusions.reasons

    def add_guest(self, name: str, token: str) -> None:
        """Register a bot that is started elsewhere and plays for this entry."""
        self._external[name] = self._register(PooledBot(name, token, external=True))

    def add_remote_bot(self, name: str, token: str, absence: Callable[[], str]) -> None:
        """Add the bot of a remote entry, which the referee already knows.

        `absence` returns why the bot is no longer waited for, or "" if it is.
        """
        bot = self._external[name] = PooledBot(name, token, external=True, absence=absence)
        self._all.add(bot)

    def process_ids(self, name: str) -> list[int]:
        """Return the running processes of an entry."""
        mine = [bot.process for bot in self._all if bot.entry == name and bot.process is not None]
        return [process.pid for process in mine if process.running]

    def open_logs(self) -> set[Path]:
        """Return the files to which the output of processes goes, idle ones included."""
        return {bot.log.path for bot in self._all if bot.log is not None}

    async def exclude(self, name: str, why: str) -> None:
        """Start no more bots of this entry, which is out: it forfeits its remaining matches."""
        self.exclusions.out.setdefault(name, why)
        await self._retire_idle(name, why)

    async def suspend(self, name: str, why: str) -> None:
        """Start no more bots of this entry, which is suspended: it forfeits as well."""
        self.exclusions.suspended.setdefault(name, why)
        await self._retire_idle(name, why)

    async def _retire_idle(self, name: str, why: str) -> None:
        mine = [bot for bot in self._idle if bot.entry == name]
        self._idle = [bot for bot in self._idle if bot.entry != name]
        await asyncio.gather(*(self._retire(bot, why) for bot in mine))

    # Starts ahead of matches

    def look_ahead(self, needs: Callable[[], Iterable[SeatNeed]], matches_at_once: int) -> None:
        """Start processes ahead of their matches from now on, each time `start_ahead` is called.

        `needs` returns the seats of matches to come, the first match first. There are at most
        `matches_at_once` processes of an entry that could replace each other. Nothing is started
        for entries that are excluded, or whose bots are started elsewhere.
        """
        if self._limits.idle_processes:
            self._early_starts = EarlyStarts(
                partial(self._plan, needs, matches_at_once),
                self._start_next,
                self._bots,
                self._limits.memory_mb,
            )

    def start_ahead(self) -> None:
        """Start what the matches to come need by now; returns at once."""
        if self._early_starts is not None:
            self._early_starts.wake()

    async def stop_starting_ahead(self) -> None:
        """Start nothing ahead any more, and end what was and has not played."""
        if self._early_starts is not None:
            self._early_starts.close()
            self._early_starts = None
        early = [bot for bot in self._idle if bot.starting is not None]
        self._idle = [bot for bot in self._idle if bot.starting is None]
        await asyncio.gather(*(self._retire(bot, "the run is stopping") for bot in early))

    def start_up_s(self, name: str) -> float | None:
        """Return the mean of the latest times that bots of an entry took until they connected.

        None before the first has.
        """
        times = [bot.start_up_s for bot in self._all if bot.entry == name and not bot.external]
        known = [seconds for seconds in times if seconds is not None]
        return sum(known) / len(known) if known else self._start_ups_s.get(name)

    def _bots(self) -> Iterator[PooledBot]:
        """Yield all bots that are not retired."""
        yield from self._all
        yield from (bot for bot in self._idle if bot not in self._all)  # no address yet

    def _plan(self, needs: Callable[[], Iterable[SeatNeed]], matches_at_once: int) -> StartPlan:
        given_up = self._early_starts.given_up if self._early_starts else ()
        out = {*self.excluded, *self._external, *given_up}
        idle = set(self._idle)
        busy = Counter(
            bot.key
            for bot in self._all
            if bot.processes == "run" and bot not in idle and not bot.ending
        )
        return plan_starts(
            (
                (self._key(need.entry, need.match_id, need.seat, need.place), need)
                for need in needs()
                if need.entry in self._entries and need.entry not in out
            ),
            [bot.key for bot in self._idle],
            busy,
            most_alike=matches_at_once,
            most_idle=self._limits.idle_processes,
        )

    def _start_next(self, need: SeatNeed, plan: StartPlan) -> None:
        """Start a process ahead of its match, in the place of one that is not needed if need be."""
        while len(self._idle) >= self._limits.idle_processes:
            self._retire_soon(self._pop_surplus(plan), "too many idle processes")
        bot = self._new_bot(need.entry, need.match_id, need.seat, need.place)
        bot.path = self._log_path(need.entry, need.match_id, need.seat)
        bot.starting = self._create_protected(self._start(bot, need.match_id, need.seat, None))
        self._idle.append(bot)

    def _pop_surplus(self, plan: StartPlan) -> PooledBot:
        return self._idle.pop(surplus([bot.key for bot in self._idle], plan.needed))

    # Matches

    async def acquire(
        self, name: str, match_id: str, seat: int, place: int = 0, deal: str = ""
    ) -> PooledBot:
        """Return a bot of this entry for one seat of a match, starting one if none is idle.

        `place` is that of the match in its block, and `deal` the name of its deal if others may
        have it. If there can be no bot, the referee already knows why the returned one is lost.
        """
        external = self._external.get(name)
        absence = self.exclusions.absence(name)
        if absence is None and external and (why := external.absence()):
            absence = Absence(Termination.MISSED, why)
        if absence is not None:
            bot = self._register(self._new_bot(name, match_id, seat, place))
            self._lose(bot, absence.why, absence.termination)
            return bot
        if external:
            return external
        if deal:
            await self._keep_apart(name, deal)
        path = self._log_path(name, match_id, seat)
        idle = self._pop_idle(self._key(name, match_id, seat, place), deal)
        bot = idle or self._new_bot(name, match_id, seat, place)
        bot.match_id = match_id
        if idle is None:
            await self._protect(self._start(bot, match_id, seat, path))
        else:
            await self._hand_over(idle, path)
        self._freezer.begin_match(bot.token)
        if deal:
            bot.deals.add(deal)
        if bot.log is not None and self._asked is not None:
            bot.log.begin_match(partial(self._asked, match_id, seat))
        return bot

    async def release(
        self, bot: PooledBot, termination: Termination, *, deal_returns: bool = False
    ) -> None:
        """Keep the bot for another match or end it, depending on how its match ended for it.

        It is ended if `deal_returns`: another attempt at the match would have the same deal.
        """
        if bot.external:
            return
        bot.match_id = ""
        self._freezer.end_match(bot.token)
        if bot.process is not None:
            self._meter.bot_played(bot.process)
        if bot.log is not None:
            bot.log.end_match()
            if termination.forfeit:
                bot.log.note(f"forfeit: {plain_words(termination.name)}")
        if bot.entry not in self.excluded and bot.entry not in self._external:
            self._record_start(bot, termination)
        if bot.start_up_s is not None:
            self._start_ups_s[bot.entry] = bot.start_up_s
        if self._early_starts is not None and bot.process is not None:
            self._early_starts.record_memory(bot.entry, bot.process)
        kept = bot.processes == "run" and not deal_returns and not termination.forfeit
        if kept and not bot.ending:
            bot.idle_since_s = time.monotonic()
            self._idle.append(bot)
            while len(self._idle) > self._limits.idle_processes:
                plan = self._early_starts.plan() if self._early_starts else StartPlan()
                await self._retire(self._pop_surplus(plan), "too many idle processes")
        else:
            await self._retire(bot, "the match is over")
        self.start_ahead()

    async def close(self) -> None:
        """End all processes, busy or idle, and release the copies of their files."""
        await self.stop_starting_ahead()
        # A task whose caller was cancelled may start a process yet.
        while tasks := self._protected | self._retirements:
            await asyncio.wait(tasks)
        await asyncio.gather(*(self._retire(bot, "the run is over") for bot in self._all.copy()))
        self._freezer.close()
        self._starter.close()

    async def _protect(self, work: Coroutine[Any, Any, T]) -> T:
        """Finish this work even if the caller is cancelled; then `close` waits for it."""
        return await asyncio.shield(self._create_protected(work))

    def _create_protected(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(self._meter.as_runner(work))
        self._protected.add(task)
        task.add_done_callback(self._protected.discard)
        return task

    async def _keep_apart(self, name: str, deal: str) -> None:
        """Let no idle process of the entry that has met the deal pass it on to the one to play it.

        It stops running, and what it left in the kernel's caches is dropped.
        """
        for bot in [bot for bot in self._idle if bot.entry == name and deal in bot.deals]:
            if bot.process is None or bot.process.group is None:
                continue
            await asyncio.sleep(bot.idle_since_s + _LAST_MESSAGES_S - time.monotonic())
            if bot in self._idle:
                self._freezer.freeze_idle(bot.token)
                await bot.process.forget()

    def _log_path(self, name: str, match_id: str, seat: int) -> Path:
        return self._logs / match_id / f"{seat}-{name}.log"

    def _pop_idle(self, key: Hashable, deal: str) -> PooledBot | None:
        """Return the bot that was idle last; or else, of those that are starting, the first.

        One that has met the deal does not play it again.
        """
        mine = [bot for bot in self._idle if bot.key == key and deal not in bot.deals]
        if not mine:
            return None
        ready = [bot for bot in mine if bot.start_up_s is not None]
        bot = ready[-1] if ready else mine[0]
        self._idle.remove(bot)
        return bot

    async def _hand_over(self, bot: PooledBot, path: Path) -> None:
        """Let an idle bot write to the log of its next match."""
        early, bot.starting = bot.starting, None
        if early is not None:
            await asyncio.shield(early)
        if bot.log is None or bot.process is None:
            return
        bot.log.switch_to(path)
        how = "kept from an earlier match" if early is None else "started ahead of this match"
        bot.log.note(f"process {bot.process.pid}, {how}")

    async def _start(self, bot: PooledBot, match_id: str, seat: int, path: Path | None) -> None:
        """Start the process of a bot; without a `path`, its output is kept in memory for now."""
        bot.server = await self._addresses.open(bot.token, partial(self._close_flooded, bot))
        self._register(bot)
        try:
            process, log = await self._starter.start(bot, bot.server, seat, path)
        except StartError as error:
            self._lose(bot, str(error))
            return
        self._logger.info("bot started", entry=bot.entry, pid=process.pid, match=match_id)
        if process.group is not None:
            self._freezer.add(bot.token, process.group)
        self._meter.bot_started(process)
        if bot.server.first_connected_s is None:
            bot.server.on_first_connection = partial(self._record_connection, bot, process)
        else:
            self._record_connection(bot, process)
        watch = self._meter.as_runner(self._watch(bot, process, log))
        bot.watcher = asyncio.create_task(watch)

    def _record_connection(self, bot: PooledBot, process: BotProcess) -> None:
        self._meter.bot_connected(process, bot.start_up_s or 0.0)

    def _key(self, name: str, match_id: str, seat: int, place: int) -> Hashable:
        """Return the key of the bots that can play in this seat; see `PooledBot`."""
        kept = self._processes.get(name) == "run"
        return (name, place) if kept else (name, match_id, seat)

    def _new_bot(self, name: str, match_id: str, seat: int, place: int) -> PooledBot:
        key = self._key(name, match_id, seat, place)
        return PooledBot(
            name, _new_token(), place=place, processes=self._processes.get(name), key=key
        )

    def _register(self, bot: PooledBot) -> PooledBot:
        self._all.add(bot)
        self._referee.register_bot(bot.token, bot.entry, authenticator=bot.server)
        return bot

    def _close_flooded(self, bot: PooledBot, why: str) -> None:
        """Give up a bot whose address was closed; its process ends with its match, if it plays."""
        bot.ending = why
        if bot in self._idle and bot.starting is None:
            self._idle.remove(bot)
            self._retire_soon(bot, why)

    def _retire_soon(self, bot: PooledBot, why: str) -> None:
        self._retirements.add(task := asyncio.create_task(self._retire(bot, why)))
        task.add_done_callback(self._retirements.discard)

    async def _watch(self, bot: PooledBot, process: BotProcess, log: OutputLog) -> None:
        """Report the end of the process to the referee immediately."""
        ending = await process.wait()
        self._meter.bot_ended(process)
        self._starter.note_end(process)
        log.note(ending)
        bot.hidden = await self._starter.explain_hidden(bot.entry, log.last_text())
        printed = bot.last_lines()
        self._logger.info(
            "bot ended", entry=bot.entry, pid=process.pid, how=ending, printed=printed
        )
        if bot in self._all:
            self._lose(bot, ending)
        if bot in self._idle and (bot.starting is None or bot.start_up_s is not None):
            self._idle.remove(bot)
            self._note_early_end(bot)
            await self._retire(bot, ending)
        # Another one that was started ahead stays, so that its match reports the failed start.

    def _note_early_end(self, bot: PooledBot) -> None:
        """Start nothing ahead for an entry whose bot connected and did not wait for its match."""
        if bot.starting is not None and self._early_starts is not None:
            self._early_starts.given_up.add(bot.entry)
            if bot.log is not None and bot.path is not None:
                bot.log.switch_to(bot.path)

    def _lose(
        self, bot: PooledBot, why: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None:
        bot.ending = why
        self._referee.mark_lost(bot.token, why, absence)

    def _record_start(self, bot: PooledBot, termination: Termination) -> None:
        why = bot.ending or "did not dial in within clocks.start_up_s"
        if out := self._failed_starts.record_start(bot.entry, termination, why):
            self.exclusions.out[bot.entry] = out
            printed = bot.last_lines()
            self._logger.warning("entry is out", entry=bot.entry, why=out, printed=printed)
            for early in [one for one in self._idle if one.entry == bot.entry]:
                self._idle.remove(early)
                self._retire_soon(early, out)

    async def _retire(self, bot: PooledBot, why: str) -> None:
        """Remove the bot from the referee, which says goodbye to it, and end its process."""
        if bot.starting is not None:
            await asyncio.wait([bot.starting])
        if bot in self._all:
            self._all.discard(bot)
            self._freezer.remove(bot.token)  # so that it can read the goodbye
            self._referee.remove_bot(bot.token, why)
            await self._protect(self._starter.end(bot))


def _new_token() -> str:
    return secrets.token_urlsafe(24)
