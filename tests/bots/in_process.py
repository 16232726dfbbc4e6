"""Matches between bots in one process, without a network: a referee's match and its clients."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from itertools import product

from asara.bot import Bot, DecideFunction, bot_factory
from asara.protocol_client import ProtocolClient
from asara.settings import Settings
from asara_codec.clocks import Clocks
from asara_codec.results import SeatResult
from asara_game.rules import Rules
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchLimits, MatchSpec, Player

LIMITS = MatchLimits()
CLOCKS = Clocks()


def play_match(
    rules: Rules, bots: Sequence[type[Bot] | DecideFunction], match_id: str, secret: bytes
) -> tuple[SeatResult, ...]:
    """Play a match to its end without charging time; a rejected reply is a failure."""
    return finished_match(rules, bots, match_id, secret).results


def finished_match(
    rules: Rules,
    bots: Sequence[type[Bot] | DecideFunction],
    match_id: str,
    secret: bytes,
    seed: str = "tests",
) -> Match:
    """Play a match like `play_match`; `seed` is the ASARA_SEED of all bots."""
    players = tuple(Player(f"bot-{seat}", f"token-{seat}") for seat in range(len(bots)))
    match = Match(MatchSpec(match_id, rules, players, CLOCKS, secret), LIMITS)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(closing(_protocol_client(bot, f"token-{seat}", seed)))
            for seat, bot in enumerate(bots)
        ]
        match.start({seat: Presence() for seat in range(len(bots))}, {})
        while match.outbox:
            messages = match.outbox[:]
            match.outbox.clear()
            for seat, data in messages:
                request = clients[seat].handle(data)
                if request is not None:
                    reply = request.reply
                    answer = match.reply(seat, reply.decision_id, reply.actions, 0)
                    if answer is Answer.ACCEPTED:
                        match.record_reply(referee_us=0)
    assert match.finished
    assert not match.faults, match.records
    return match


def _protocol_client(bot: type[Bot] | DecideFunction, token: str, seed: str) -> ProtocolClient:
    settings = Settings(address="none", token=token, seed=seed)
    return ProtocolClient(bot_factory(bot), settings)


def share_of_wins(
    bot: type[Bot] | DecideFunction, rival: type[Bot] | DecideFunction, rules: Rules, deals: int
) -> float:
    """Play each deal once with the bot in each seat; a tie for first counts as an equal share."""
    won = 0.0
    for deal, seat in product(range(deals), range(rules.seats)):
        bots = [bot if number == seat else rival for number in range(rules.seats)]
        results = play_match(rules, bots, f"deal-{deal}", deal.to_bytes(32))
        winners = [result.seat for result in results if result.end.rank == 1]
        won += (seat in winners) / len(winners)
    return won / (deals * rules.seats)
