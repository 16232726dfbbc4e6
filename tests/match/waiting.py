"""What others can tell from waiting time: a model of thinking bots, and an attacker."""

import random
from collections import defaultdict
from typing import Final, NamedTuple

from asara_game.actions import ChooseSpace
from asara_game.vocabulary import DecisionKind
from tests.referee.harness import Driven, spec

MEDIANS_S: Final = {DecisionKind.SPACE: 0.12, DecisionKind.BUYERS: 0.06}
OTHER_S: Final = 0.05
SPREAD: Final = 0.25
"""Standard deviation of the logarithm of a bot's thinking time."""


class Turn(NamedTuple):
    """A turn as another seat sees it, and the truth about the lay."""

    others: tuple[DecisionKind, ...]
    """The decisions of the turn besides the lay; the public events and purses tell them."""
    seconds: float
    forced: bool


def thinking_s(kind: DecisionKind, rng: random.Random) -> float:
    """A thinking time: log-normal around a median for this kind of decision."""
    return MEDIANS_S.get(kind, OTHER_S) * rng.lognormvariate(0, SPREAD)


def turns_of_match(number: int, *, hide: bool) -> tuple[list[Turn], float]:
    """Play a match at random; return its turns and its length in seconds.

    Only turns count in which others cannot tell from the table whether the lay was forced: the seat
    held two buyers or more, and the area had a colour.
    """
    rng = random.Random(f"waiting {number}")
    driven = Driven(spec(2, match_id=f"m{number}", secret=rng.randbytes(32), hide_forced=hide))
    match, state = driven.match, driven.match.state
    turns = []
    while not match.finished:
        _pass_pauses(driven)
        if match.finished:
            break
        seat, began = driven.asked, driven.now
        decisions = []
        action = rng.choice(state.legal)
        assert isinstance(action, ChooseSpace)
        area = action.space.area
        hidden = state.hand_sizes[seat] > 1 and bool(state.area_colours[area])
        ends = len(match.feed.turn_ends)
        while len(match.feed.turn_ends) == ends and not match.finished:
            decisions.append(state.kind)
            driven.reply(action, after_s=thinking_s(state.kind, rng))
            if len(match.feed.turn_ends) == ends:
                _pass_pauses(driven)
            if match.asked is not None:
                action = rng.choice(state.legal)
        if hidden:
            seconds = (driven.now - began) / 1_000_000
            others = tuple(kind for kind in decisions if kind != DecisionKind.BUYERS)
            turns.append(Turn(others, seconds, DecisionKind.BUYERS not in decisions))
    return turns, driven.now / 1_000_000


def _pass_pauses(driven: Driven) -> None:
    while driven.match.asked is None and not driven.match.finished:
        driven.now = driven.match.deadline_us
        driven.expire()


def accuracy(turns: list[Turn]) -> float:
    """Share of an attacker's right guesses, forced and chosen lays weighing the same.

    The attacker knows bots of this kind: from half of the turns it learns the length that tells
    best for each kind of turn, and guesses in the others.
    """
    learnt, tried = turns[::2], turns[1::2]
    by_kind = defaultdict(list)
    for turn in learnt:
        by_kind[turn.others].append(turn)
    limits = {kind: _best_limit(known) for kind, known in by_kind.items()}
    right: dict[bool, list[bool]] = {True: [], False: []}
    for turn in tried:
        if turn.others in limits:
            right[turn.forced].append((turn.seconds < limits[turn.others]) == turn.forced)
    return sum(sum(each) / len(each) for each in right.values()) / 2


def _best_limit(turns: list[Turn]) -> float:
    forced = sum(turn.forced for turn in turns) or 1
    chosen = len(turns) - forced or 1
    found = best = 0.0
    gain = 0.0
    for turn in sorted(turns, key=lambda turn: turn.seconds):
        gain += 1 / forced if turn.forced else -1 / chosen
        if gain > best:
            best, found = gain, turn.seconds
    return found
