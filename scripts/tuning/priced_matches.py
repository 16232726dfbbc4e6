"""Matches in which turns are priced as `asara analyse` prices them, for `scripts/tune calibration`.

Bots of mixed strength play. The priced turns are spread evenly over each match.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from asara_game import History, Worlds
from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply_one, new_match
from asara_game.rules import Rules, parse_rule_sets
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_search import analysis
from asara_server.outcome import match_scores, rank_seats
from bots.search.main import make_search, parse
from scripts.tuning.arena import SearchPlayer, secret_of

PLAYERS: Final = (
    "--iterations 1 --noise 1.5",
    "--iterations 1 --noise 0.7",
    "--iterations 1 --noise 0.45",
    "--iterations 1",
)
"""Options of bots/search, from weak to strong; each seat of a match draws one of these.

They are not the bot's levels: those may change, and what was measured could not be repeated.
"""
BUDGET: Final = analysis.BUDGETS["quick"]


class Task(NamedTuple):
    """Everything that determines the measurement of a match."""

    rules: str
    seats: int
    seed: int
    number: int
    per_match: int
    """Number of turns to price."""
    with_luck: bool
    analyser: int = analysis.VERSION


class Turn(NamedTuple):
    """A priced turn: the prestige of all seats at its last choice, and the score of `seat` to
    expect after it.
    """

    seat: int
    year: int
    prestige: Sequence[int]
    expected: float


class Measured(NamedTuple):
    """A match: scores and luck by seat, and the priced turns. Luck not measured is empty."""

    scores: Sequence[float]
    luck: Sequence[float]
    turns: Sequence[Turn]


def measure(task: Task) -> Measured:
    """Play a match, price some of its turns, and measure its luck."""
    rules = Rules(load_edition(), parse_rule_sets(task.rules), task.seats)
    secret = secret_of(f"calibration/{task.seed}", task.number)
    name = f"calibration/{task.seed}/{task.rules}/{task.seats}/{task.number}"
    dice = random.Random(name)
    actions, begins, scores = _play(rules, secret, dice)
    first, step = dice.random(), len(begins) / task.per_match
    chosen = {begins[int((first + number) * step)] for number in range(task.per_match)}
    turns = _priced(rules, secret, actions, chosen, name)
    luck = _luck(rules, secret, actions, name) if task.with_luck else ()
    return Measured(scores, luck, tuple(turns))


def _play(
    rules: Rules, secret: bytes, dice: random.Random
) -> tuple[list[Action], list[int], tuple[float, ...]]:
    """Return the actions of a match, the places of those that begin a turn, and the scores."""
    players: list[SearchPlayer] = []
    for _ in range(rules.seats):
        budget, settings = parse(dice.choice(PLAYERS).split())
        search = make_search(rules, settings)
        players.append(SearchPlayer(search, budget.iterations, seed=dice.getrandbits(32)))
    state, _ = new_match(rules, Deal(secret))
    actions: list[Action] = []
    begins: list[int] = []
    while state.legal:
        if state.kind is DecisionKind.SPACE:
            begins.append(len(actions))
        forced = len(state.legal) == 1
        actions.append(state.legal[0] if forced else players[state.seat].choose(state))
        apply_one(state, actions[-1])
    return actions, begins, match_scores(rank_seats(state.prestige))


def _priced(
    rules: Rules, secret: bytes, actions: Sequence[Action], chosen: set[int], name: str
) -> Iterator[Turn]:
    """Yield the turns that begin at the chosen places, except turns without a choice."""
    pricer = analysis.DecisionPricer(rules, BUDGET)
    state, _ = new_match(rules, Deal(secret))
    histories = [History.from_view(view(state, seat)) for seat in range(rules.seats)]
    pricing, found = False, Turn(0, 0, (), 0.0)
    turn: list[analysis.Priced] = []
    for place, action in enumerate(actions):
        if state.kind is DecisionKind.SPACE:
            pricing = place in chosen
        if pricing and len(state.legal) > 1:
            worlds = Worlds(view(state, state.seat), histories[state.seat])
            price = pricer.price(worlds.sample, state.legal, action, f"{name}/{place}")
            turn.append(analysis.Priced(place, place + 1, price.expected, price.loss))
            found = Turn(state.seat, state.year, tuple(state.prestige), 0.0)
        events = apply_one(state, action)
        for history in histories:
            history.add(events)
        if turn and (state.kind is DecisionKind.SPACE or state.seat < 0):
            expected = analysis.turn_course(turn)[-1][1].mean
            yield found._replace(expected=round(expected, 4))
            turn = []


def _luck(rules: Rules, secret: bytes, actions: Sequence[Action], name: str) -> tuple[float, ...]:
    """Return the luck of each seat, the sum over the draws of a match."""
    state, _ = new_match(rules, Deal(secret))
    draws = [analysis.deal_luck(state, BUDGET.luck, name)]
    for place, action in enumerate(actions):
        before = state.copy()
        if analysis.is_draw(apply_one(state, action)) and state.seat >= 0:
            label = f"{name}/{place}"
            draws.append(analysis.draw_luck(before, action, state, (), BUDGET.luck, label))
    return tuple(round(sum(gained), 4) for gained in zip(*(d.gained for d in draws), strict=True))
