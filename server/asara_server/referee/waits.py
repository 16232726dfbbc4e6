"""The bots that matches are waiting for. Organisers see them; other bots can be frozen.

These times reveal how long a bot thinks, so nothing here may reach another bot.
"""

from collections.abc import Iterable
from typing import NamedTuple

from asara_server.match.spec import SECOND_US
from asara_server.referee.hosted import HostedBot, HostedMatch


class Wait(NamedTuple):
    """A bot that a match waits for."""

    entry: str
    match_id: str
    decision_id: int
    """Number of the bot's open decision; 0 while the match waits for the bot to connect."""
    waited_s: float
    left_s: float
    """Seconds until the bot forfeits."""


def longest_waits(matches: Iterable[HostedMatch], now_us: int) -> list[Wait]:
    """Return the bots that these matches wait for, longest first."""
    found = [wait for hosted in matches for wait in _waits(hosted, now_us)]
    return sorted(found, key=lambda wait: -wait.waited_s)


def awaits(bot: HostedBot, now_us: int, late_reply_s: float) -> bool:
    """Return True if anything is expected of a bot; see `Referee.awaits`."""
    if bot.lost is not None:
        return False
    if bot.hello is None or bot.late_matches:
        return True
    for hosted, seat in bot.matches.values():
        match = hosted.match
        if match is None:
            if hosted.committed and seat not in hosted.nonces:
                return True
        elif match.asked == seat:
            return True
        elif match.awaits_late_reply(seat):
            expired_us = match.expired_us(seat) or 0
            if hosted.time_us(now_us) < expired_us + late_reply_s * SECOND_US:
                return True
    return False


def _waits(hosted: HostedMatch, now_us: int) -> list[Wait]:
    match, spec = hosted.match, hosted.spec
    if match is None:
        waited_s = (now_us - hosted.added_us) / SECOND_US
        left_s = max(spec.clocks.start_up_s - waited_s, 0.0)
        return [
            Wait(bot.entry, spec.match_id, 0, waited_s, left_s)
            for bot in hosted.bots
            if bot.session is None and bot.lost is None
        ]
    seat = match.asked
    if seat is None or match.finished:
        return []
    time_us = hosted.time_us(now_us)
    waited_us, left_us = time_us - match.asked_at_us, match.clock_us(time_us)
    entry, decision = spec.players[seat].entry, match.decision_id(seat)
    return [Wait(entry, spec.match_id, decision, waited_us / SECOND_US, left_us / SECOND_US)]
