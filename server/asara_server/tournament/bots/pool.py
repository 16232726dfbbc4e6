"""Starts the bots of a run for their matches, reuses them, and replaces them when they end.

A process plays one match at a time, so its clock measures only its own thinking. If all processes
of an entry are busy, another process is started; otherwise cores would idle in a run with few
entries. The load is limited by the number of concurrent matches, not by the number of processes.

The pool knows nothing about deals. Between two legs of a run, `end_all` ends every process (see
`schedule`). An audit can check this with the records that `BotWatch.record` receives.

A process that has ended or forfeited a match is not reused. An entry is excluded if the kernel does
not let one of its processes end. An excluded entry forfeits its remaining matches immediately.
Entries can also be excluded for other reasons, for example if they fail to start.

The output of a bot is in `logs/<match>/<seat>-<entry>.log`. A reused process continues in the file
of its next match.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from structlog.typing import FilteringBoundLogger

from asara_codec.results import Termination
from asara_server.journal.journal import Fact
from asara_server.logs import logger
from asara_server.match.spec import ProcessPolicy
from asara_server.network.bot_server import BotServer
from asara_server.referee.referee import BotRegistry
from asara_server.text import plain_words
from asara_server.tournament.bots import living_bots
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.freezer import BotFreezer
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output import NOT_RUN, OutputLog, OutputTap, remedy
from asara_server.tournament.bots.process import (
    BotProcess,
    MachineError,
    StartError,
    bot_environment,
    start_failure,
    survival,
)
from asara_server.tournament.config.entry_faults import entry_fault
from asara_server.tournament.config.tournament_file import Entry, MatchSettings
from asara_server.tournament.run.costs import CostMeter
from asara_server.tournament.run.run_record import fact_now
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.filesystem_view import match_sandbox
from asara_server.tournament.sandbox.private_copy import PrivateCopies

PATIENT_S: Final = 10.0
"""Seconds to wait for a process to end after the goodbye, while its author waits for the result."""


class Departure(NamedTuple):
    """The end of a process that played its last match without a forfeit.

    A failure after a match does not cost the entry that match. However, the process might fail
    during its next match and forfeit it.
    """

    entry: str
    match_id: str
    """The last match that the process played."""
    ending: str
    """How the process ended, in words. Empty if the process was still running long after the
    referee's goodbye, and was killed.
    """
    dismissed: bool
    """True if the process ended after the referee's goodbye, as it should."""
    failed: bool
    """True if the process ended too early, by a signal, or with a nonzero status."""
    printed: tuple[str, ...]
    """The last lines that were printed if the process failed, or else its client's last message."""

    @property
    def sentence(self) -> str:
        """The fault, as a phrase to follow the entry's name; "" if the process ended well."""
        if not self.dismissed:
            return f"left after {self.match_id} and did not wait for the next match: {self.ending}"
        if not self.ending:
            return f"was still running {PATIENT_S:g} s after its last match, and was killed"
        return f"{self.ending} after its last match" if self.failed else ""


@dataclass(frozen=True, slots=True)
class BotWatch:
    """Callbacks that report on the bots' processes."""

    show_output: Callable[[str], OutputTap] | None = None
    """Called with the entry of each new process; returns a tap that also receives its output."""
    on_departure: Callable[[Departure], None] | None = None
    """Called when a process ends after playing its last match to the end.

    If it is set, a process has more time to end by itself.
    """
    meter: CostMeter = field(default_factory=CostMeter)
    """Counts the costs of the processes."""
    record: Callable[[Fact], None] = lambda line: None
    """Receives a line of the record when a process begins, plays and ends."""
    log: FilteringBoundLogger | None = None


@dataclass(eq=False)
class PooledBot:
    """A bot known to the referee by its token, with its process if the pool started one."""

    entry: str
    token: str
    external: bool = False
    """True if the bot's process is started and ended elsewhere."""
    processes: ProcessPolicy | None = None
    """Lifetime of the bot's process; None if it is started elsewhere."""
    match_id: str = ""
    """Name of the attempt the bot is playing; "" while it is idle."""
    last_match: str = ""
    """Name of the last attempt the bot played."""
    played_out: bool = False
    """True if the bot's last match was played to the end without a forfeit of this bot."""
    killed: bool = False
    """True if the process did not end by itself in time and was killed."""
    absence: Callable[[], str] = str
    """For an external bot: returns why it is no longer waited for, or "" while it still is."""
    server: BotServer | None = None
    """The address of the bot's process."""
    log: OutputLog | None = None
    process: BotProcess | None = None
    started_s: float = 0.0
    """Monotonic time in seconds at which the process was started."""
    ending: str = ""
    """How the process ended, or why it never started; "" while it runs."""
    machine_failure: str = ""
    """Why this machine did not start the process, through no fault of the bot; usually ""."""
    watcher: asyncio.Task[None] | None = field(default=None, repr=False)
    remedy: str = ""
    """What to do about the end of the process, if its output tells; usually ""."""

    @property
    def start_up_s(self) -> float | None:
        """Seconds from the start of the process until it connected; None if it never connected."""
        connected_s = self.server.first_connected_s if self.server else None
        return None if connected_s is None else connected_s - self.started_s

    def last_lines(self) -> list[str]:
        """Return the last lines that the process printed, with remarks."""
        return self._with_remarks(self.log.last_lines() if self.log else [])

    def kit_message(self) -> list[str]:
        """Return the last message of the bot's client, with remarks."""
        return self._with_remarks(self.log.kit_message() if self.log else [])

    def _with_remarks(self, lines: list[str]) -> list[str]:
        cut = self.log.cut if self.log else ""
        return [line for line in (cut, *lines, self.remedy) if line]


_GOODBYE_S: Final = 1.0
"""Seconds given to a process to end by itself after the referee's goodbye."""


class ProcessStarter:
    """Starts and ends processes; `close` it once all of them have ended."""

    def __init__(
        self,
        addresses: BotAddresses,
        settings: MatchSettings,
        sandbox: Sandbox | None,
        watch: BotWatch,
    ) -> None:
        """See `BotPool` for the parameters."""
        self._addresses = addresses
        self._entries = {entry.name: entry for entry in settings.entries if not entry.remote}
        self._settings = settings
        self._sandbox = sandbox
        self._watch = watch
        self._copies = PrivateCopies()
        self._reaper: OrphanReaper | None = None

    async def start(
        self, bot: PooledBot, server: BotServer, seat: int, path: Path
    ) -> tuple[BotProcess, OutputLog]:
        """Start the process of a bot, which connects to `server`; the output goes to `path`.

        Raises StartError, or MachineError if the bot is not at fault.
        """
        entry = self._entries[bot.entry]
        show_output = self._watch.show_output
        tap = show_output(entry.name) if show_output else None
        log = bot.log = OutputLog(path, self._settings.limits.output_bytes, tap)
        environment = bot_environment(
            entry.environment,
            address=server.address,
            token=bot.token,
            seed=self._settings.bot_seeds.get(entry.name),
            seat=seat if bot.processes == "match" else None,
            contained=self._sandbox is not None,
        )
        if self._reaper is None:
            cgroups = self._sandbox.cgroup_parents if self._sandbox else ()
            self._reaper = OrphanReaper(self._addresses.folder, cgroups)
        built = self._settings.build_directories.get(entry.name)
        directory = built if built and not self._sandbox else entry.directory
        sandbox = await self._contain(entry)
        bot.started_s = time.monotonic()
        process = await BotProcess.start(
            entry.command, directory, environment, log, sandbox, self._reaper
        )
        bot.process = process
        return process, log

    async def end(self, bot: PooledBot) -> tuple[int, ...]:
        """End the process of a bot that has received the goodbye, and close its address and log.

        Returns the same as `BotProcess.stop`.
        """
        survivors: tuple[int, ...] = ()
        if bot.process is not None:
            if bot.watcher is not None and not bot.ending and bot.start_up_s is not None:
                patient = self._watch.on_departure is not None and bot.played_out
                await asyncio.wait([bot.watcher], timeout=PATIENT_S if patient else _GOODBYE_S)
            bot.killed = bot.process.running
            survivors = await bot.process.stop()
        if bot.server is not None:
            await self._addresses.discard(bot.server)
        if bot.log is not None:
            bot.log.close()
        return survivors

    def close(self) -> None:
        """End the orphan reaper and release the copies of entries' files."""
        if self._reaper is not None:
            self._reaper.close()
        self._copies.close()

    async def _contain(self, entry: Entry) -> SandboxSpec | None:
        """Return the sandbox of a bot. Raises StartError or MachineError."""
        if self._sandbox is None:
            return None
        try:
            return await asyncio.to_thread(
                match_sandbox, self._sandbox, entry, self._settings, self._copies
            )
        except OSError as error:
            raise start_failure(error, error.strerror or str(error)) from None


T = TypeVar("T")


class BotPool:
    """The pool of a run's bots.

    `acquire` a bot for each seat of a match and `release` it afterwards; `close` the pool at the
    end.
    """

    def __init__(
        self,
        referee: BotRegistry,
        addresses: BotAddresses,
        settings: MatchSettings,
        *,
        logs: Path,
        sandbox: Sandbox | None = None,
        watch: BotWatch | None = None,
    ) -> None:
        """The pool starts only the bots of entries that are not remote.

        Each process gets one of the `addresses`. Without a `sandbox`, bots run with the rights of
        this process. The output of bots goes to files in `logs`, with indexes (see
        `output`).
        """
        self._referee = referee
        self._addresses = addresses
        self._settings = settings
        self._logs = logs
        self._watch = watch or BotWatch()
        self._starter = ProcessStarter(addresses, settings, sandbox, self._watch)
        self._external: dict[str, PooledBot] = {}
        self._all: set[PooledBot] = set()
        self._idle: list[PooledBot] = []  # the bot that has been idle longest is first
        self.out: dict[str, str] = {}
        """Entries that could not be built or started, with the reasons."""
        self._suspended: dict[str, str] = {}
        """Entries that forfeited too often, with the reasons."""
        self.survivors: tuple[int, ...] = ()
        """Bot processes that the kernel did not let end."""
        self._protected: set[asyncio.Task[Any]] = set()
        self._retirements: set[asyncio.Task[None]] = set()
        self._logger = self._watch.log or logger("runner")
        self._freezer = BotFreezer(referee, self._logger, ponder=settings.ponder)

    @property
    def excluded(self) -> dict[str, str]:
        """Entries whose bots are no longer started, with the reasons."""
        return self._suspended | self.out

    def add_external(self, name: str, token: str, absence: Callable[[], str] = str) -> None:
        """Add a player that is started elsewhere; the referee already knows it.

        `absence` returns why the pool no longer waits for it, or "" while it still waits.
        """
        bot = self._external[name] = PooledBot(name, token, external=True, absence=absence)
        self._all.add(bot)

    def kit_message(self, name: str) -> list[str]:
        """Return the last message of the client of a bot of this entry that is in a match."""
        mine = [bot for bot in self._all if bot.entry == name and bot.match_id]
        return mine[0].kit_message() if mine else []

    def open_logs(self) -> set[Path]:
        """Return the log files of all processes, including idle ones."""
        return {bot.log.path for bot in self._all if bot.log is not None}

    async def exclude(self, out: Mapping[str, str], suspended: Mapping[str, str]) -> None:
        """Start no more bots of these entries, which forfeit from now on for the given reasons."""
        before = self.excluded
        self.out = {**out, **self.out}
        self._suspended = {**suspended, **self._suspended}
        for name, why in self.excluded.items():
            if name not in before:
                await self.retire_idle(name, why)

    async def retire_idle(self, name: str, why: str) -> None:
        """End the idle processes of an entry; the referee tells them why."""
        mine = [bot for bot in self._idle if bot.entry == name]
        self._idle = [bot for bot in self._idle if bot.entry != name]
        await asyncio.gather(*(self._retire(bot, why) for bot in mine))

    async def acquire(self, name: str, match_id: str, seat: int, cores: str = "") -> PooledBot:
        """Return a bot of this entry for one seat of a match, starting one if none is idle.

        The bot runs on these `cores` (see `CoreSets`) if it has a control group. If no bot is
        available, the referee already knows why the returned bot is lost.
        """
        external = self._external.get(name)
        why, forfeit = self.out.get(name, ""), Termination.NEVER_STARTED
        if not why:
            why, forfeit = self._suspended.get(name, ""), Termination.SUSPENDED
        if not why and external:
            why, forfeit = external.absence(), Termination.MISSED
        if why:
            bot = self._register(self._new_bot(name))
            self._lose(bot, why, forfeit)
            return bot
        if external:
            return external
        path = self._logs / match_id / f"{seat}-{name}.log"
        idle = self._pop_idle(name)
        bot = idle or self._new_bot(name)
        bot.match_id = bot.last_match = match_id
        if idle is None:
            await self._protect(self._start(bot, match_id, seat, path))
        else:
            self._hand_over(idle, path)
        if bot.process is not None:
            self._watch.record(fact_now("plays", process=bot.process.name, match=match_id))
            if cores and bot.process.group is not None:
                bot.process.group.confine(cores)
        self._freezer.begin_match(bot.token)
        if bot.log is not None:
            bot.log.begin_match(partial(self._referee.decision_id, match_id, seat))
        return bot

    async def release(self, bot: PooledBot, termination: Termination) -> None:
        """Keep the bot for another match, or end it, depending on how its match ended."""
        if bot.external:
            return
        bot.match_id = ""
        bot.played_out = termination != Termination.UNSPECIFIED and not termination.forfeit
        self._freezer.end_match(bot.token)
        if bot.log is not None:
            bot.log.end_match()
            if termination.forfeit:
                bot.log.note(f"forfeit: {plain_words(termination.name)}")
        if bot.processes == "run" and not termination.forfeit and not bot.ending:
            self._idle.append(bot)
            while len(self._idle) > self._settings.limits.idle_processes:
                await self._retire(self._idle.pop(0), "too many idle processes")
        else:
            await self._retire(bot, "the match is over")

    async def end_all(self) -> tuple[int, ...]:
        """End all processes, so that their knowledge of deals ends too. None may be in a match.

        Returns the processes that the kernel did not let end since the last call.
        """
        self._idle.clear()
        await self._end_all("the leg is over")
        survivors, self.survivors = self.survivors, ()
        return survivors

    async def _end_all(self, why: str) -> None:
        # A task whose caller was cancelled may still start a process.
        while tasks := self._protected | self._retirements:
            await asyncio.wait(tasks)
        mine = [bot for bot in self._all if not bot.external]
        await asyncio.gather(*(self._retire(bot, why) for bot in mine))

    async def close(self) -> None:
        """End all processes, busy or idle, and release the copies of their files."""
        await self._end_all("the run is over")
        await asyncio.gather(*(self._retire(bot, "the run is over") for bot in self._all.copy()))
        self._freezer.close()
        self._starter.close()

    async def _protect(self, work: Coroutine[Any, Any, T]) -> T:
        """Finish this work even if the caller is cancelled; `close` waits for it."""
        task = asyncio.create_task(work)
        self._protected.add(task)
        task.add_done_callback(self._protected.discard)
        return await asyncio.shield(task)

    def _pop_idle(self, name: str) -> PooledBot | None:
        """Return the most recently used idle bot of an entry, or None."""
        mine = [bot for bot in self._idle if bot.entry == name]
        if not mine:
            return None
        self._idle.remove(mine[-1])
        return mine[-1]

    def _hand_over(self, bot: PooledBot, path: Path) -> None:
        """Let an idle bot write to the log of its next match."""
        if bot.log is not None and bot.process is not None:
            bot.log.switch_to(path)
            bot.log.note(f"process {bot.process.pid}, kept from an earlier match")

    async def _start(self, bot: PooledBot, match_id: str, seat: int, path: Path) -> None:
        bot.server = await self._addresses.open(bot.token, partial(self._close_flooded, bot))
        self._register(bot)
        living_bots.hold_for(bot.token)
        try:
            process, log = await self._starter.start(bot, bot.server, seat, path)
        except StartError as error:
            self._lose(bot, str(error))
            return
        except MachineError as error:
            self._fail(bot, str(error))
            return
        except Exception as error:  # noqa: BLE001 - the other entries play on
            self._lose(bot, entry_fault(bot.entry, "could not be started", error))
            return
        self._watch.record(fact_now("began", process=process.name, entry=bot.entry))
        self._logger.info("bot started", entry=bot.entry, pid=process.pid, match=match_id)
        if process.group is not None:
            self._freezer.add(bot.token, process.group)
        bot.watcher = asyncio.create_task(self._await_end(bot, process, log))

    def _new_bot(self, name: str) -> PooledBot:
        return PooledBot(
            name, secrets.token_urlsafe(24), processes=self._settings.processes.get(name)
        )

    def _register(self, bot: PooledBot) -> PooledBot:
        self._all.add(bot)
        self._referee.register_bot(bot.token, bot.entry, authenticator=bot.server)
        return bot

    def _close_flooded(self, bot: PooledBot, why: str) -> None:
        """Give up a bot whose address was closed for flooding, once its running match is over."""
        bot.ending = why
        if bot in self._idle:
            self._idle.remove(bot)
            self._retire_soon(bot, why)

    def _retire_soon(self, bot: PooledBot, why: str) -> None:
        self._retirements.add(task := asyncio.create_task(self._retire(bot, why)))
        task.add_done_callback(self._retirements.discard)

    async def _await_end(self, bot: PooledBot, process: BotProcess, log: OutputLog) -> None:
        """Wait for the process to end, and report the end to the referee immediately."""
        ending = await process.wait()
        self._watch.meter.bot_ended(process.processor_ns())
        log.note(ending)
        if process.failed:
            bot.remedy = remedy(log.lines(), contained=process.contained)
        printed = bot.last_lines()
        self._logger.info(
            "bot ended", entry=bot.entry, pid=process.pid, how=ending, printed=printed
        )
        if bot in self._all and process.machine_failure:
            self._fail(bot, process.machine_failure)
        elif bot in self._all:
            never_run = bot.start_up_s is None and not process.failed
            self._lose(bot, f"{ending}; {NOT_RUN}" if never_run else ending)
        if bot in self._idle:
            self._idle.remove(bot)
            await self._retire(bot, ending)

    def _lose(
        self, bot: PooledBot, why: str, absence: Termination = Termination.NEVER_STARTED
    ) -> None:
        bot.ending = why
        self._referee.mark_lost(bot.token, why, absence)

    def _fail(self, bot: PooledBot, why: str) -> None:
        """Have a match replayed because this machine did not start one of its bots."""
        bot.ending = bot.machine_failure = why
        self._logger.error("bot not started", entry=bot.entry, match=bot.match_id, why=why)
        self._referee.mark_unstarted(bot.token, why)

    async def _retire(self, bot: PooledBot, why: str) -> None:
        """Remove the bot from the referee, which sends the bot its goodbye, and end the process."""
        if bot in self._all:
            self._all.discard(bot)
            self._freezer.remove(bot.token)  # so that it can read the goodbye
            self._referee.remove_bot(bot.token, why)
            await self._protect(self._end(bot))

    async def _end(self, bot: PooledBot) -> None:
        early = bot.ending
        survivors = await self._starter.end(bot)
        if self._watch.on_departure is not None and bot.process is not None and bot.played_out:
            ending = early or ("" if bot.killed else await bot.process.wait())
            failed = bool(early) or bot.process.failed
            printed = tuple(bot.last_lines() if failed else bot.kit_message())
            self._watch.on_departure(
                Departure(bot.entry, bot.last_match, ending, not early, failed, printed)
            )
        if survivors:
            self.survivors += survivors
            if bot.entry not in self.out:
                why = self.out[bot.entry] = survival(survivors)
                self._logger.warning("entry is out", entry=bot.entry, why=why)
                for idle in [one for one in self._idle if one.entry == bot.entry]:
                    self._idle.remove(idle)
                    self._retire_soon(idle, why)
        else:
            living_bots.count_as_dead(bot.token)
            if bot.process is not None:
                self._watch.record(fact_now("ended", process=bot.process.name))
