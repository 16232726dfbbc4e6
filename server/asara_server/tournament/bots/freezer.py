"""Freezes sandboxed bots while they wait, so that they use no processor time of this machine.

A bot without a match is always frozen. With `ponder = false`, a bot in a match is also frozen while
no decision is requested from it. Freezing happens `SCAN_S` to `SCANS * SCAN_S` seconds after the
last message to the bot, and the bot is thawed before the next message is sent. This delay lets the
bot read every message before it is frozen, so the next message it finds is the current request.
Freezing and thawing cost processor time only for waits longer than the delay.

A bot is not frozen while the referee expects anything from it: its first connection, a reply, a
nonce, or, for one second, the late reply to a decision that timed out. A bot without a stream may
have lost the stream through a fault and must run to reconnect. It is left unfrozen, but only for
`AWAY_S` of a match. Otherwise, it could disconnect in order to think.
"""

import asyncio
from typing import Final

from structlog.typing import FilteringBoundLogger

from asara_server.referee.referee import BotRegistry
from asara_server.tournament.sandbox.cgroups import Cgroup

SCAN_S: Final = 0.005
"""Seconds between two scans of the unfrozen bots."""
SCANS: Final = 2
"""Number of scans without a message after which a bot is frozen."""
AWAY_S: Final = 1.0
"""Total seconds per match during which a bot without a stream is left unfrozen."""

_AWAY_SCANS: Final = round(AWAY_S / SCAN_S)


class BotFreezer:
    """Freezes and thaws the bots of a pool that have control groups. `close` it at the end."""

    def __init__(self, referee: BotRegistry, log: FilteringBoundLogger, *, ponder: bool) -> None:
        """With `ponder`, bots are frozen only while they have no match."""
        self._referee = referee
        self._log = log
        self._ponder = ponder
        self._bots: dict[str, _FreezableBot] = {}
        self._scanned: set[_FreezableBot] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, token: str, group: Cgroup) -> None:
        """Add a bot that has no match yet, identified by the token that the referee knows."""
        if group.can_freeze:
            bot = self._bots[token] = _FreezableBot(self, token, group)
            self._watch(bot)

    def begin_match(self, token: str) -> None:
        """Let a bot run because it is about to play a match."""
        bot = self._bots.get(token)
        if bot is None:
            return
        bot.away_scans = 0
        bot.before_send()
        if self._ponder:
            self._referee.before_send(token, None)
            self._scanned.discard(bot)

    def end_match(self, token: str) -> None:
        """Schedule a bot for freezing because its match is over."""
        bot = self._bots.get(token)
        if bot is not None:
            bot.away_scans = 0
            self._watch(bot)

    def remove(self, token: str) -> None:
        """Thaw a bot permanently because it is about to be ended."""
        bot = self._bots.pop(token, None)
        if bot is not None:
            bot.thaw()
            self._referee.before_send(token, None)
            self._scanned.discard(bot)

    def close(self) -> None:
        """Thaw all bots."""
        for token in list(self._bots):
            self.remove(token)
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self, bot: "_FreezableBot") -> None:
        bot.scans = 0
        self._referee.before_send(bot.token, bot.before_send)
        self.scan_soon(bot)

    def scan_soon(self, bot: "_FreezableBot") -> None:
        """Scan a bot from now on until it is frozen."""
        self._scanned.add(bot)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SCAN_S, self._scan)

    def _scan(self) -> None:
        self._timer = None
        for bot in list(self._scanned):
            if self._referee.awaits(bot.token):
                bot.before_send()
                continue
            bot.scans += 1
            if not self._referee.is_connected(bot.token):
                # The bot stays among the scanned bots, because no message will thaw it.
                bot.away_scans += 1
                if bot.away_scans > _AWAY_SCANS:
                    bot.freeze()
            elif bot.scans >= SCANS:
                bot.freeze()
                self._scanned.discard(bot)
        if self._scanned:
            self._timer = asyncio.get_running_loop().call_later(SCAN_S, self._scan)

    def give_up(self, bot: "_FreezableBot", error: OSError) -> None:
        """Stop freezing a bot, because the system refuses to freeze it."""
        self._log.warning("a bot cannot be frozen", detail=error.strerror)
        self._scanned.discard(bot)
        self._bots.pop(bot.token, None)


class _FreezableBot:
    """A bot with a control group. `scans` counts the scans since the last message to the bot."""

    __slots__ = ("_freezer", "_group", "away_scans", "frozen", "scans", "token")

    def __init__(self, freezer: BotFreezer, token: str, group: Cgroup) -> None:
        self._freezer = freezer
        self._group = group
        self.token = token
        self.frozen = False
        self.scans = 0
        self.away_scans = 0

    def before_send(self) -> None:
        """Let the bot run for the next few scans. Called before every message to the bot."""
        self.scans = 0
        if self.frozen:
            self.thaw()
            self._freezer.scan_soon(self)

    def freeze(self) -> None:
        if not self.frozen:
            try:
                self._group.freeze()
                self.frozen = True
            except OSError as error:
                self._freezer.give_up(self, error)

    def thaw(self) -> None:
        if self.frozen:
            self.frozen = False
            try:
                self._group.thaw()
            except OSError as error:
                self._freezer.give_up(self, error)
