"""A bot of the pool."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from asara_server.match.spec import ProcessPolicy
from asara_server.network.bot_server import BotServer
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.bots.process import BotProcess


@dataclass(eq=False)
class PooledBot:
    """A bot that the referee knows by its token, with its process if the pool started one."""

    entry: str
    token: str
    external: bool = False
    """True if its process is started and ended elsewhere."""
    processes: ProcessPolicy | None = None
    """Lifetime of its process; None if it is started elsewhere."""
    match_id: str = ""
    """Name of the attempt that it takes part in; "" while it is idle."""
    last_match: str = ""
    """Name of the attempt that it took part in last."""
    played_out: bool = False
    """True if its last match came to an end, and it did not forfeit."""
    killed: bool = False
    """True if its process had not ended by itself when it was to be ended."""
    absence: Callable[[], str] = str
    """Returns why an external bot is no longer waited for, or "" if it is."""
    server: BotServer | None = None
    """The address of its process."""
    log: OutputLog | None = None
    process: BotProcess | None = None
    started_s: float = 0.0
    """Monotonic time at which its process was started, in seconds."""
    ending: str = ""
    """The end of the process in words, or the reason why it never started; "" while it runs."""
    machine_failure: str = ""
    """Why this machine did not start it, through no fault of its own; "" mostly."""
    watcher: asyncio.Task[None] | None = field(default=None, repr=False)
    hidden: str = ""
    """Why its process did not find a file, if the sandbox hid it."""

    @property
    def start_up_s(self) -> float | None:
        """Seconds from the start of its process until it connected; None if it did not."""
        connected_s = self.server.first_connected_s if self.server else None
        return None if connected_s is None else connected_s - self.started_s

    def last_lines(self) -> list[str]:
        """Return the last lines that its process printed, and the remarks on them."""
        lines = self.log.last_lines() if self.log else []
        return [*lines, *self._remarks]

    def error_lines(self, *, only_known: bool = False) -> list[str]:
        """Return the last error message that it printed (see `OutputLog`), and the remarks."""
        lines = self.log.error_lines(only_known=only_known) if self.log else []
        return [*lines, *self._remarks]

    @property
    def _remarks(self) -> list[str]:
        cut = self.log.cut if self.log else ""
        return [remark for remark in (self.hidden, cut) if remark]
