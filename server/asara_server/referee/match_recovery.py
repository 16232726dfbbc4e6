"""Matches of an earlier referee, taken up from its journal."""

from asara_codec.results import Termination
from asara_server.eventlog.recovery import RecoveredMatch, last_us
from asara_server.match.match import Match
from asara_server.referee.hosted import HostedMatch
from asara_server.referee.match_clock import MatchClock
from asara_server.referee.match_driver import MatchDriver
from asara_server.referee.match_ending import MatchEnding


def restore(
    hosted: HostedMatch, recovered: RecoveredMatch, clock: MatchClock, ending: MatchEnding
) -> None:
    """Bring a match to its last input in the journal.

    A match that was over by then is finished now; any other can be resumed when its bots are back.
    """
    hosted.spec = recovered.spec
    hosted.number = recovered.number
    hosted.started_unix_ms = recovered.started_unix_ms
    try:
        match = recovered.resimulate()
    except Exception as error:  # noqa: BLE001 - a fault of the referee ends this match only
        ending.void(hosted, error)
        return
    match.outbox.clear()  # its bots have received this, or will receive the whole view
    hosted.journaled = len(match.records)
    hosted.faults_logged = len(match.faults)
    hosted.started_us = clock.now_us() - recovered.time_us
    hosted.stood_us = clock.stood_us
    if match.finished:
        hosted.match = match
        ending.finish(hosted)
    else:
        hosted.recovered = match


def resume(hosted: HostedMatch, match: Match, clock: MatchClock, driver: MatchDriver) -> None:
    """Continue a restored match; no time has passed in it meanwhile."""
    hosted.match, hosted.recovered = match, None
    time_us = last_us(match)
    hosted.started_us = clock.now_us() - time_us
    hosted.stood_us = clock.stood_us
    match_id = hosted.spec.match_id
    driver.drive(hosted, Match.reopen, time_us)
    for seat, bot in enumerate(hosted.bots):
        if has_forfeited(match, seat):
            bot.forfeited.add(match_id)
            bot.update_reading()
        if match.finished or has_forfeited(match, seat):
            continue
        bot.matches[match_id] = (hosted, seat)
        bot.update_reading()
        if bot.session is not None and bot.hello is not None:
            presence = bot.hello.presence(bot.hello.last_events.get(match_id))
            driver.drive(hosted, Match.enter, seat, presence, time_us)
    for seat, bot in enumerate(hosted.bots):
        if bot.lost is not None:
            driver.drive(hosted, Match.forfeit, seat, Termination.CRASH, bot.lost, time_us)


def has_forfeited(match: Match | None, seat: int) -> bool:
    return match is not None and match.termination(seat).forfeit
