"""The bots on other machines: which are connected, and which are awaited or busy.

Such a bot plays several matches in one process. Matches wait for it from the beginning of the run,
or from the time when it disconnected, for a limited time. After that it forfeits its matches as
missed, without a wait, until it connects.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from asara_server.referee.referee import Referee
from asara_server.tournament.config.tournament_file import Entry


@dataclass(eq=False)
class RemoteBot:
    """The bot of an entry with a token."""

    entry: str
    token_name: str
    since_s: float
    """Seconds of the referee's clock when it connected or disconnected, or the run began."""
    since: datetime
    """The same moment, UTC."""
    connected: bool = False
    seen: bool = False
    """True if it has ever been connected."""
    token_sha256: str = ""
    """Hash of the token with which it connected last."""
    matches: int = 0
    """Number of matches that it plays or is to play next."""

    @property
    def key(self) -> str:
        """Key under which the referee admits it; not a token, so it may be stored."""
        return f"from elsewhere: {self.entry}"

    def set_connected(self, connected: bool, now_s: float) -> None:
        self.connected = connected
        self.seen |= connected
        self.since_s, self.since = now_s, datetime.now(UTC)


class RemoteBots:
    """Presence of all bots on other machines, if there are any, and how busy they are."""

    def __init__(self, referee: Referee, entries: Iterable[Entry], wait_s: float) -> None:
        """`wait_s` is the number of seconds that matches wait for a bot."""
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
        """Begin the wait for the bots that are not connected yet.

        `excluded` returns the entries that are not awaited, and why.
        """
        self._excluded = excluded
        for bot in self:
            if not bot.connected:
                bot.set_connected(False, self._referee.clock.now_s())

    def update_presence(self) -> None:
        """Find out from the referee which bots have connected or disconnected."""
        for bot in self:
            connected = self._referee.is_connected(bot.key)
            if connected != bot.connected:
                bot.set_connected(connected, self._referee.clock.now_s())
        self.notify_change()

    def exclusion(self, bot: RemoteBot) -> str | None:
        """Why an entry forfeits its remaining matches; None if it does not."""
        return self._excluded().get(bot.entry)

    def missed(self, bot: RemoteBot) -> bool:
        """True if a bot has been away for so long that matches do not wait for it any more."""
        return not bot.connected and self._referee.clock.now_s() - bot.since_s >= self._wait_s

    def awaited_entries(self) -> list[str]:
        """Entries whose bots are not connected, and that matches wait for."""
        excluded = self._excluded()
        return [
            bot.entry
            for bot in self
            if not (bot.connected or bot.entry in excluded or self.missed(bot))
        ]

    # Matches

    def unavailable_entries(self) -> set[str]:
        """Entries whose bots cannot begin a match now, because they are awaited or busy."""
        excluded = self._excluded()
        return {bot.entry for bot in self if bot.entry not in excluded and not self._can_begin(bot)}

    def _can_begin(self, bot: RemoteBot) -> bool:
        if bot.connected:
            return bot.matches < self._referee.match_capacity(bot.key)
        return self.missed(bot)

    def begin_match(self, entries: Iterable[str]) -> None:
        """Count a match of these entries as begun."""
        self._count_matches(entries, 1)

    def finish_match(self, entries: Iterable[str]) -> None:
        """Count a match of these entries as over."""
        self._count_matches(entries, -1)
        self.notify_change()

    def _count_matches(self, entries: Iterable[str], change: int) -> None:
        for name in entries:
            if bot := self._bots.get(name):
                bot.matches += change

    # Changes

    async def wait_for_change(self) -> None:
        """Wait until `unavailable_entries` may have changed; raises what `fail` was given."""
        if self._failure is not None:
            raise self._failure
        await self._changed.wait()

    def notify_change(self) -> None:
        """End all waits for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    def fail(self, error: BaseException) -> None:
        """End all waits for a change, from now on with this error."""
        self._failure = error
        self.notify_change()
