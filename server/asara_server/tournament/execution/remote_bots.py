"""The bots that are started elsewhere: their address and tokens, and which ones matches wait for.

Remote bots authenticate with a token and connect over TLS, except the guests of a match, which are
on this machine. A remote bot plays several matches in one process. From the start of the run, or
from the moment the bot disconnects, matches wait for it for a limited time. After this time it
forfeits its matches as missed, without further waiting, until it connects. A bot is disconnected if
its token is revoked or its entry forfeits its remaining matches.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal

from asara_server.logs import logger
from asara_server.network.addresses import reachable_address
from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.token_store import TokenError, read_tokens, sha256_of
from asara_server.tournament.config.tournament_file import Entry, Remote
from asara_server.tournament.run.directory import RemoteEntry, RemoteInfo

_CHECK_INTERVAL_S: Final = 0.25
_REVOKED: Final = "its token was revoked"


@dataclass(eq=False)
class RemoteBot:
    """The bot of an entry that has a token."""

    entry: str
    token_name: str
    since_s: float
    """Time on the referee's clock, in seconds, of the last change or the run's start."""
    since: datetime
    """The same moment as `since_s`, in UTC."""
    connected: bool = False
    seen: bool = False
    """True if the bot has ever been connected."""
    token_sha256: str = ""
    """Hash of the token with which the bot last connected."""
    matches: int = 0
    """Number of matches that the bot is playing or is about to play."""

    @property
    def key(self) -> str:
        """Key under which the referee admits the bot. It is not the token, so it may be stored."""
        return f"from elsewhere: {self.entry}"

    def set_connected(self, connected: bool, now_s: float) -> None:
        self.connected = connected
        self.seen |= connected
        self.since_s, self.since = now_s, datetime.now(UTC)


class RemoteBots:
    """The remote bots of a run: `serve` them, and `start_waiting` for them when matches begin.

    This is also the referee's `Authenticator` for them. A token is valid if the token file lists it
    under the token name of an entry. If a token is revoked during the run, another token of the
    same name can replace it.
    """

    def __init__(
        self,
        referee: Referee,
        entries: Iterable[Entry],
        remote: Remote | None,
        report: Callable[[RemoteInfo], None] = lambda info: None,
    ) -> None:
        """With None for `remote`, no bot can connect.

        `report` is called with the bots' presence whenever it changes.
        """
        self._referee = referee
        self._remote = remote
        self._report = report
        self._address = ""
        self._wait_s = remote.wait_s if remote is not None else 0.0
        self._tokens = TokenWatcher(remote.tokens if remote is not None else Path())
        now_s, now = referee.clock.now_s(), datetime.now(UTC)
        self._bots = {
            entry.name: RemoteBot(entry.name, entry.token, now_s, now)
            for entry in entries
            if entry.remote and remote is not None
        }
        self._excluded: Callable[[], Mapping[str, str]] = dict
        self._changed = asyncio.Event()
        self._monitoring: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._logger = logger("runner")

    def __iter__(self) -> Iterator[RemoteBot]:
        return iter(self._bots.values())

    # The address

    @asynccontextmanager
    async def serve(self, on_listening: Callable[[str], None]) -> AsyncIterator[None]:
        """Serve the bots until exit; `on_listening` is called with the address.

        Raises ServeError.
        """
        remote = self._remote
        if remote is None:
            yield
            return
        for bot in self:
            self._referee.register_bot(
                bot.key, bot.entry, authenticator=self, max_matches=remote.jobs_per_bot
            )
        serving = await serve(self._referee, remote.listen, tls=remote.tls, authenticator=self)
        self._address = reachable_address(serving.address)
        on_listening(self._address)
        try:
            yield
        finally:
            if self._monitoring is not None:
                self._monitoring.cancel()
                await asyncio.wait([self._monitoring])
            await serving.stop(grace=1.0)

    def start_waiting(self, pool: BotPool) -> None:
        """Add the bots to a pool, so that they play its matches, and start waiting for them."""
        if self._remote is None:
            return
        self._excluded = lambda: pool.excluded
        for bot in self:
            if not bot.connected:
                bot.set_connected(False, self._referee.clock.now_s())
            pool.add_external(bot.entry, bot.key, partial(self._absence, bot))
        self._monitoring = asyncio.create_task(self._monitor())
        self._monitoring.add_done_callback(self._monitor_ended)

    # Tokens

    def authenticate(self, token: str) -> str | None:
        self._tokens.reload_if_changed()
        token_sha256 = sha256_of(token)
        bot = self._owner(token_sha256)
        if bot is None or self._exclusion(bot) is not None:
            return None
        bot.token_sha256 = token_sha256
        return bot.key

    def _owner(self, token_sha256: str) -> RemoteBot | None:
        name = self._tokens.name_of(token_sha256)
        return next((bot for bot in self if bot.token_name == name), None)

    def _is_valid(self, bot: RemoteBot) -> bool:
        """True if the token with which a bot last connected is still valid."""
        return self._owner(bot.token_sha256) is bot

    # Presence

    def connections_changed(self) -> None:
        """Ask the referee which bots have connected or disconnected."""
        for bot in self:
            connected = self._referee.is_connected(bot.key)
            if connected != bot.connected:
                bot.set_connected(connected, self._referee.clock.now_s())
        self.notify_change()

    def _state(self, bot: RemoteBot) -> Literal["here", "awaited", "missed"]:
        if bot.connected:
            return "here"
        waited_s = self._referee.clock.now_s() - bot.since_s
        return "missed" if waited_s >= self._wait_s else "awaited"

    def _exclusion(self, bot: RemoteBot) -> str | None:
        """Why an entry forfeits its remaining matches; None if it still plays."""
        return self._excluded().get(bot.entry)

    def _absence(self, bot: RemoteBot) -> str:
        """Why a bot is no longer awaited; "" if it is connected or still awaited."""
        if self._state(bot) != "missed":
            return ""
        within = f"within {self._wait_s:g} s"
        if bot.token_sha256 and not self._is_valid(bot):
            return f"{_REVOKED}, and it did not connect with another {within}"
        if bot.seen:
            return f"went away and did not connect again {within}"
        return f"did not connect {within}"

    def awaited_entries(self) -> list[str]:
        """Entries that matches are waiting for because their bots are not connected."""
        playing = [bot for bot in self if self._exclusion(bot) is None]
        return [bot.entry for bot in playing if self._state(bot) == "awaited"]

    # Matches

    def unavailable_entries(self) -> set[str]:
        """Entries that cannot begin a match now, because their bots are awaited or busy."""
        playing = [bot for bot in self if self._exclusion(bot) is None]
        return {bot.entry for bot in playing if not self._can_begin(bot)}

    def _can_begin(self, bot: RemoteBot) -> bool:
        if bot.connected:
            return bot.matches < self._referee.match_capacity(bot.key)
        return self._state(bot) == "missed"

    def begin_match(self, entries: Iterable[str]) -> None:
        """Record that a match of these entries has begun."""
        self._count_matches(entries, 1)

    def finish_match(self, entries: Iterable[str]) -> None:
        """Record that a match of these entries is over."""
        self._count_matches(entries, -1)
        self.notify_change()

    def _count_matches(self, entries: Iterable[str], change: int) -> None:
        for name in entries:
            if bot := self._bots.get(name):
                bot.matches += change

    async def wait_for_change(self) -> None:
        """Wait until `unavailable_entries` may have changed; raises the error of the monitor."""
        if self._failure is not None:
            raise self._failure
        await self._changed.wait()

    def notify_change(self) -> None:
        """Wake all callers waiting for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    # The monitor

    async def _monitor(self) -> None:
        """Disconnect bots, end expired waits, and report presence."""
        with self._referee.clock.held():  # a stopped runner waits for nobody
            unavailable = self.unavailable_entries()
            reported: Mapping[str, RemoteEntry] | None = None
            while True:
                self._tokens.reload_if_changed()
                self._disconnect_unwanted_bots()
                before, unavailable = unavailable, self.unavailable_entries()
                if unavailable != before:
                    self.notify_change()
                reported = self._report_changes(reported)
                await asyncio.sleep(_CHECK_INTERVAL_S)

    def _monitor_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._logger.error("remote-bot monitor failed", exc_info=error)
            self._failure = error
            self.notify_change()

    def _disconnect_unwanted_bots(self) -> None:
        """Disconnect bots with a revoked token now, and excluded bots after their last match."""
        for bot in self:
            if not bot.connected:
                continue
            exclusion = self._exclusion(bot)
            if not self._is_valid(bot):
                self._referee.disconnect_bot(bot.key, _REVOKED)
            elif exclusion is not None and not bot.matches:
                self._referee.disconnect_bot(bot.key, exclusion)
        self.connections_changed()

    def _report_changes(self, reported: Mapping[str, RemoteEntry] | None) -> dict[str, RemoteEntry]:
        entries = {
            bot.entry: RemoteEntry(
                state=self._state(bot), since=bot.since.isoformat(timespec="seconds")
            )
            for bot in self
            if self._exclusion(bot) is None
        }
        if entries != reported:
            try:
                self._report(
                    RemoteInfo(address=self._address, wait_s=self._wait_s, entries=entries)
                )
            except OSError as error:  # no reason to stop the matches
                self._logger.warning("remote.json not written", detail=error.strerror or str(error))
        return entries


class TokenWatcher:
    """The valid tokens in a file, as of the last call of `reload_if_changed`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        """Inode, size and time of the last file read; empty if there was no file."""
        self._names: dict[str, str] = {}
        self._logger = logger("runner")

    def name_of(self, sha256: str) -> str | None:
        """Return the name belonging to the valid token with this hash."""
        return self._names.get(sha256)

    def reload_if_changed(self) -> None:
        """Read the file if it has changed.

        If the file is missing or unreadable, the previous tokens stay valid, so that a mistake in
        editing the file does not cost any bot its matches.
        """
        try:
            found = self._path.stat()
            seen: tuple[int, ...] = found.st_ino, found.st_size, found.st_ctime_ns
        except OSError:
            seen = ()
        if seen != self._seen:
            self._seen = seen
            self._reload()

    def _reload(self) -> None:
        try:
            if not self._seen:
                raise TokenError(f"{self._path}: does not exist any more")
            tokens = read_tokens(self._path).tokens
        except TokenError as error:
            self._logger.warning("previous tokens stay valid", why=str(error))
            return
        self._names = {token.sha256: token.name for token in tokens if token.revoked is None}
