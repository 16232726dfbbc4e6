"""Starts and ends bots' processes, each with everything it needs.

Each process gets an environment, a log, a sandbox, and the orphan reaper's protection if the runner
is killed.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from asara_server.match.spec import ProcessPolicy
from asara_server.network.bot_server import BotServer
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.bot_watch import PATIENT_S, BotWatch
from asara_server.tournament.bots.orphan_reaper import OrphanReaper
from asara_server.tournament.bots.output.error_output import SEARCHED_LINES
from asara_server.tournament.bots.output.output_log import OutputLog
from asara_server.tournament.bots.output.remedies import remedy
from asara_server.tournament.bots.process import BotProcess, bot_environment, start_failure
from asara_server.tournament.config.entry_faults import entry_fault
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxSpec
from asara_server.tournament.sandbox.filesystem_view import match_sandbox
from asara_server.tournament.sandbox.hidden_files import HiddenFiles, reports_missing_file
from asara_server.tournament.sandbox.own_files import EntryFiles
from asara_server.tournament.sandbox.private_copy import PrivateCopies
from asara_server.tournament.schedule.match_settings import MatchSettings


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

    async def remedy(self, name: str, log: OutputLog, *, failed: bool) -> str:
        """Return what to do about the end of a bot of this entry, from its output; usually ""."""
        hidden = await self._explain_hidden(name, log.last_text())
        if hidden or not failed:
            return hidden
        lines = log.last_indented_lines(SEARCHED_LINES)
        return remedy(lines, contained=self._sandbox is not None)

    async def _explain_hidden(self, name: str, printed: str) -> str:
        """Return why the sandbox hid a file that a bot of this entry looked for; usually ""."""
        sandbox, entry = self._sandbox, self._entries[name]
        if (
            sandbox is None
            or entry.name in self._settings.build_directories
            or not reports_missing_file(printed)
        ):
            return ""

        def explain() -> str:
            files = EntryFiles(self._entries.values(), sandbox.reserved)
            hidden = sandbox.reserved.hidden
            return HiddenFiles.of(entry, files, hidden, self._settings.limits).explain(printed)

        try:
            return await asyncio.to_thread(explain)
        except Exception as error:  # noqa: BLE001 - the end of the bot must be told without it
            entry_fault(name, "what it did not find cannot be explained", error)
            return ""

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
