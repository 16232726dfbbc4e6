"""Tracks which remote bots are connected, awaited or busy.

A remote bot plays several matches in one process. From the start of the run, or from the moment the
bot disconnects, matches wait for it for a limited time. After this time it forfeits its matches as
missed, without further waiting, until it connects.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from asara_server.referee.referee import Referee
from asara_server.tournament.config.tournament_file import Entry


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
    """Tracks which remote bots are connected, and how busy they are."""

    def __init__(self, referee: Referee, entries: Iterable[Entry], wait_s: float) -> None:
        """`wait_s` is how many seconds matches wait for a bot."""
        self._referee = referee
        self._wait_s = wait_s
        now_s, now = referee.clock.now_s(), datetime.now(UTC)
        self._bots = {
            entry.name: RemoteBot(entry.name, entry.token, now_s, now)
            for entry in entries
            if entry.remote
        }
        self._excluded: Callable[[], Mapping[str, str]] = dict
        self._changed = asyncio.Event()
        self._failure: BaseException | None = None

    def __iter__(self) -> Iterator[RemoteBot]:
        return iter(self._bots.values())

    # Presence

    def start_waiting(self, excluded: Callable[[], Mapping[str, str]]) -> None:
        """Begin waiting for the bots that are not connected yet.

        `excluded` returns the entries that need not be waited for, with the reasons.
        """
        self._excluded = excluded
        for bot in self:
            if not bot.connected:
                bot.set_connected(False, self._referee.clock.now_s())

    def update_presence(self) -> None:
        """Ask the referee which bots have connected or disconnected."""
        for bot in self:
            connected = self._referee.is_connected(bot.key)
            if connected != bot.connected:
                bot.set_connected(connected, self._referee.clock.now_s())
        self.notify_change()

    def exclusion(self, bot: RemoteBot) -> str | None:
        """Why an entry forfeits its remaining matches; None if it still plays."""
        return self._excluded().get(bot.entry)

    def missed(self, bot: RemoteBot) -> bool:
        """True if a bot has been away for so long that matches no longer wait for it."""
        return not bot.connected and self._referee.clock.now_s() - bot.since_s >= self._wait_s

    def awaited_entries(self) -> list[str]:
        """Entries that matches are waiting for because their bots are not connected."""
        excluded = self._excluded()
        return [
            bot.entry
            for bot in self
            if not (bot.connected or bot.entry in excluded or self.missed(bot))
        ]

    # Matches

    def unavailable_entries(self) -> set[str]:
        """Entries that cannot begin a match now, because their bots are awaited or busy."""
        excluded = self._excluded()
        return {bot.entry for bot in self if bot.entry not in excluded and not self._can_begin(bot)}

    def _can_begin(self, bot: RemoteBot) -> bool:
        if bot.connected:
            return bot.matches < self._referee.match_capacity(bot.key)
        return self.missed(bot)

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

    # Changes

    async def wait_for_change(self) -> None:
        """Wait until `unavailable_entries` may have changed; raises the error passed to `fail`."""
        if self._failure is not None:
            raise self._failure
        await self._changed.wait()

    def notify_change(self) -> None:
        """Wake all callers waiting for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    def fail(self, error: BaseException) -> None:
        """Make all present and future waits for a change raise this error."""
        self._failure = error
        self.notify_change()
