"""The re-simulation of a replay in other worlds, which one seat cannot tell from the real one."""

import random
from collections.abc import Iterator
from typing import Any, NoReturn

from asara_game.actions import LayBuyers
from asara_game.knowledge.determinize import determinize
from asara_game.view import view
from asara_game.vocabulary import BuyerColour, DecisionKind
from asara_server.journal.replay import Replay
from asara_server.journal.resimulate import resimulated
from asara_server.match.inputs import ReplyRecord
from asara_server.match.match import Match

_AT_REST = (DecisionKind.SPACE, DecisionKind.BUYERS)


class Elsewhere:
    """A match in another world, which the seat cannot tell from this one."""

    def __init__(self, match: Match, seat: int, dice: random.Random) -> None:
        self._match, self._seat, self._dice = match, seat, dice

    def __getattr__(self, name: str) -> Any:
        return getattr(self._match, name)

    @property
    def state(self) -> Any:
        state = self._match.state
        if state.seat not in (self._seat, -1) and state.kind not in _AT_REST:
            return Unseen()
        seen = view(state, self._seat)
        return state if seen.decision is None else determinize(seen, self._dice)


class Unseen:
    """A state within another seat's turn, of which only that it lasts is public."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"looked at {name} within another seat's turn")


def elsewhere(seat: int, dice: random.Random) -> Any:
    """`resimulated` in worlds that the seat cannot tell from the real one.

    Replies of others are other ones, and those within a turn are not noticed one by one.
    """

    def simulate(replay: Replay, **options: Any) -> Iterator[tuple[Any, Any]]:
        for match, record in resimulated(replay, **options):
            own = getattr(record, "seat", seat) == seat
            if not own and match.asked != seat and not match.finished and dice.random() < 0.8:
                match_messages.extend(match.outbox)
                continue
            if isinstance(record, ReplyRecord) and not own:
                lay = LayBuyers((BuyerColour.ORANGE, BuyerColour.ORANGE), True)
                record = record._replace(actions=(lay,), bot_us=dice.randrange(10**6))  # noqa: PLW2901
            match.outbox[:0] = match_messages
            match_messages.clear()
            yield Elsewhere(match, seat, dice), record

    match_messages: list[tuple[int, bytes]] = []
    return simulate
