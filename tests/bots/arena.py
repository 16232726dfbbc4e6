"""Bots at one table without processes or a network: the referee's match and the client's side."""

from collections.abc import Iterable, Sequence

from asara.bot import DecideFunction, bot_maker
from asara.conversation import Conversation
from asara.settings import Settings
from asara_codec.results import SeatResult
from asara_game.rules import Rules
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.referee.limits import LimitSettings

LIMITS = LimitSettings().match_limits
CLOCKS = ClockSettings()


def play(
    rules: Rules, bots: Sequence[DecideFunction], match_id: str, secret: bytes
) -> tuple[SeatResult, ...]:
    """Play a match to its end; time stands still for the bots, and refused answers are failures."""
    players = tuple(Player(f"bot-{seat}", f"token-{seat}") for seat in range(len(bots)))
    match = Match(MatchSpec(match_id, rules, players, CLOCKS, secret), LIMITS)
    ends = [_conversation(bot, f"token-{seat}") for seat, bot in enumerate(bots)]
    match.start({seat: Presence() for seat in range(len(bots))}, {})
    while match.outbox:
        told = match.outbox[:]
        match.outbox.clear()
        for seat, data in told:
            request = ends[seat].answer(data)
            if request is not None:
                reply = request.reply
                answer = match.reply(seat, reply.decision_id, reply.actions, 0)
                if answer is Answer.ACCEPTED:
                    match.record_reply(referee_us=0)
    assert match.finished
    assert not match.faults, match.records
    return match.results


def _conversation(bot: DecideFunction, token: str) -> Conversation:
    settings = Settings(address="none", token=token, seed="tests")
    return Conversation(bot_maker(bot), settings)


def won(results: Iterable[SeatResult], seat: int) -> float:
    """A seat's part of the victory: 1 alone, a share of it with others, 0 behind them."""
    winners = [result.seat for result in results if result.rank == 1]
    return 1 / len(winners) if seat in winners else 0.0
