"""Pauses that hide whether a seat had a choice.

The rules carry out a decision with one legal action without asking the bot. Opponents notice,
because the turn takes less time, and whether a lay was forced depends on the hand. With
`MatchSpec.hide_forced`, a pause takes the place of the missing answer. Its length is drawn from
the seat's own recent answers to decisions of the same kind, or of any kind if there are none. The
pause is charged to nobody.

Its length is a random value between two neighbours among the sorted answer times. The randomness is
derived from the match's secret, which no bot knows before the end. So an audit can repeat it:

    P = HMAC-SHA256(S, "pauses/" || match_id)
    r = the first 8 bytes of HMAC-SHA256(P, number of the pause in 8 bytes), over 2**64

Numbers are big-endian, and the first pause has number 0. With n sorted times, the position is r *
(n - 1). The time between two neighbours is interpolated and rounded down.
"""

import hmac
from collections import deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from asara_game.state import State
from asara_game.vocabulary import DecisionKind

RECENT: Final = 16
"""How many of a seat's latest answers are kept for each kind of decision, to draw pauses from."""

_LIT_WINDOWS: Final = frozenset({DecisionKind.SPACE, DecisionKind.BUILD_COUNT, DecisionKind.BUILD})


class Pauses:
    """The answer times of all seats of a match, and the pauses drawn from them."""

    def __init__(self, secret: bytes, match_id: str, seats: int) -> None:
        self._key = hmac.digest(secret, b"pauses/" + match_id.encode(), sha256)
        self._drawn = 0
        self._answers: list[dict[DecisionKind, deque[int]]] = [{} for _ in range(seats)]

    def add_answer(self, seat: int, kind: DecisionKind, microseconds: int) -> None:
        """Add the time of an answer; a further action in a reply counts as 0."""
        self._answers[seat].setdefault(kind, deque(maxlen=RECENT)).append(microseconds)

    def draw(self, seat: int, kind: DecisionKind) -> int:
        """Return the microseconds of the next pause; 0 if the seat has answered nothing yet."""
        answers = self._answers[seat]
        times = sorted(answers.get(kind) or [one for own in answers.values() for one in own])
        if not times:
            return 0
        digest = hmac.digest(self._key, self._drawn.to_bytes(8, "big"), sha256)
        self._drawn += 1
        return _quantile(times, int.from_bytes(digest[:8], "big"))


def _quantile(times: Sequence[int], random: int) -> int:
    """Return the time at the fraction `random` / 2**64 of the way through a sorted sequence."""
    index, fraction = divmod(random * (len(times) - 1), 2**64)
    low = times[index]
    high = times[min(index + 1, len(times) - 1)]
    return low + ((high - low) * fraction >> 64)


def could_have_had_a_choice(state: State) -> bool:
    """Return True if other seats cannot know that the open decision has only one legal action.

    Everybody can count the purses and unbuilt sections (ruling R15), and so knows what a seat
    cannot pay for or build. Hands, lit windows and searched tiles are hidden.
    """
    kind = state.kind
    seat = state.seat
    if kind is DecisionKind.BUYERS:
        return state.hand_sizes[seat] > 1
    if kind is DecisionKind.SPACE and state.hand_sizes[seat] == 1:
        return True  # its colour decides which areas are open
    if kind in _LIT_WINDOWS:
        return any(state.lit_held_by(seat))
    if kind is DecisionKind.LIT_KEEP:
        return len(state.lit_drawn) > state.lit_to_keep
    if kind is DecisionKind.LIT_RETURN:
        return len(state.lit_drawn) > 1
    if kind is DecisionKind.GIFT_BUYER:
        return len(state.buyer_pile) > 1
    if kind is DecisionKind.GIFT_LIT_WINDOW:
        return len(state.lit_stack) > 1
    return kind is DecisionKind.PILE_SECTION
