"""Measures how much narrower intervals get if the luck of the deals is subtracted from scores.

In the basic rules, all chance occurs at the start of a year: hands are dealt and displays are
refilled. V is a value of the position after this. A seat's luck is V, minus the mean of V over
other draws, so it is 0 on average for any V. Three versions of V are measured, all from the greedy
policy: the lead it expects immediately, its lead after playing the year, and its score after
playing the match. A regression on other deals gives the luck of each year a weight.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asara_env.policy_network import shipped_network
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match, outcome
from asara_game.knowledge.determinize import determinize
from asara_game.knowledge.shuffling import QuickShuffler, shuffle
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_search.evaluation import Estimator, evaluate, weights_of_network
from asara_search.policies import GreedyPolicy, RandomPolicy
from asara_search.search_base import SearchSettings
from asara_search.turn_search import TurnSearch
from asara_server.outcome import match_scores, rank_seats
from asara_server.tournament.standings.result_table import ResultTable, compared

BOTS = ("search", "greedy", "learned", "random")
_ENTRIES = 8
VALUES = ("at once", "end of the year", "end of the match")
_YEARS, _REDRAWS, _PLAYOUTS, _RIDGE = 4, 8, 8, 10
_FOLDS = 10
_SEPARATED = 2.8
"""Standard errors of a difference that 80 % of runs detect, at an error rate of 5 %."""

Array = NDArray[Any]


class Table:
    """Matches of the bots at tables of one kind, and their luck."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.dice = rules, random.Random(1)
        self.estimator, self.greedy = Estimator(rules), GreedyPolicy(rules)
        self.random, self.search = RandomPolicy(), TurnSearch(rules, SearchSettings())
        self.network = shipped_network()
        self.advised = GreedyPolicy(rules, weights_of_network(self.network.estimates))
        starts = [self.value(new_match(rules, self.shuffler)[0]) for _ in range(20 * _REDRAWS)]
        self.start = np.mean(starts, axis=0)

    @property
    def shuffler(self) -> QuickShuffler:
        return QuickShuffler(self.dice)

    def play(self, bots: Sequence[str], secret: bytes) -> tuple[list[float], Array]:
        """Play a match; return score and luck by seat. Luck has shape (seats, values by year)."""
        state, _ = new_match(self.rules, Deal(secret))
        luck = np.zeros((_YEARS, self.rules.seats, len(VALUES)))
        luck[0] = self.drawn(state) - self.start
        while state.seat >= 0:
            action = self.choose(bots[state.seat], state)
            before, year = state.copy(), state.year
            apply(state, action)
            if state.seat >= 0 and state.year != year:
                others = [self.value(self.redrawn(before, action)) for _ in range(_REDRAWS)]
                luck[year] = self.drawn(state) - np.mean(others, axis=0)
        return final_scores(state), luck.transpose(1, 0, 2).reshape(self.rules.seats, -1)

    def choose(self, bot: str, state: State) -> Any:
        if bot == "greedy":
            return self.greedy.choose(state, self.dice)
        if bot == "random":
            return self.random.choose(state, self.dice)
        seen = view(state, state.seat)
        if bot == "learned":
            worths = self.advised.worths(determinize(seen, random.Random(0)))
            return state.legal[int(self.network.advise(seen, worths).probabilities.argmax())]
        sample = partial(determinize, seen, self.dice)
        return self.search.choose(sample, state.legal, self.dice, 8, 0.0)

    def reshuffled(self, state: State) -> State:
        """Return a copy with reshuffled piles and different later shuffles."""
        state = state.copy(self.shuffler)
        for pile in (*state.piles, state.buyer_pile):
            shuffle(pile, self.dice)
        return state

    def redrawn(self, before: State, action: Any) -> State:
        """Return the state after an action that ends the year, with a different random draw."""
        state = self.reshuffled(before)
        apply(state, action)
        return state

    def drawn(self, state: State) -> Array:
        """Return V of the actual state, as the mean over several futures."""
        values = [self.value(self.reshuffled(state)) for _ in range(_PLAYOUTS)]
        return np.asarray(np.mean(values, axis=0))

    def value(self, state: State) -> Array:
        """Play a state to its end; return V of each seat minus the mean of the other seats."""
        year, at_once, later = state.year, evaluate(state, self.estimator), None
        while state.seat >= 0:
            apply(state, self.greedy.choose(state, self.dice))
            if later is None and state.year != year:
                later = evaluate(state, self.estimator)
        rows = [at_once, later or [float(p) for p in state.prestige], final_scores(state)]
        found = np.array(rows).T
        return np.asarray(found - (found.sum(axis=0) - found) / (len(found) - 1))


def final_scores(state: State) -> list[float]:
    result = outcome(state)
    assert result is not None
    return list(match_scores(rank_seats(result.prestige)))


def deals(table: Table, field: Sequence[str], number: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield entries, scores and luck of deals; the field plays each deal in all seat rotations.

    Shapes are (rotations, tables, seats); luck has one more axis, `values`.
    """
    seats = table.rules.seats
    for _ in range(number):
        order, secret = table.dice.sample(range(_ENTRIES), _ENTRIES), table.dice.randbytes(32)
        groups = [order[at : at + seats] for at in range(0, len(order), seats)]
        turned = [[group[turn:] + group[:turn] for group in groups] for turn in range(seats)]
        played = [
            [table.play([field[entry] for entry in group], secret) for group in tables]
            for tables in turned
        ]
        yield (
            np.array(turned),
            np.array([[score for score, _ in tables] for tables in played]),
            np.array([[luck for _, luck in tables] for tables in played]),
        )


def by_entry(entry: Array, values: Array) -> Array:
    """Return values by deal, rotation and entry."""
    found = np.empty((*entry.shape[:2], _ENTRIES, *values.shape[4:]))
    deal, turn, _, _ = np.indices(entry.shape)
    found[deal, turn, entry] = values
    return found


def compared_on_deals(entry: Array, score: Array) -> Array:
    """Return scores relative to the other scores on the same deal, by rotation."""
    found = np.empty(score.shape)
    for turn in range(entry.shape[1]):
        held = entry[:, turn]
        deal, at_table, seat = (index.ravel() for index in np.indices(held.shape))
        zeros = np.zeros(held.size, np.intp)
        found[:, turn] = compared(
            ResultTable(
                match=deal * held.shape[1] + at_table,
                block=deal,
                deal=deal,
                rules=zeros,
                seats=zeros + held.shape[2],
                entry=held.ravel(),
                seat=seat,
                score=score[:, turn].ravel(),
                win=zeros.astype(float),
                prestige=zeros.astype(float),
                termination=zeros,
                forfeit=zeros > 0,
            )
        ).score.reshape(held.shape)
    return found


def adjusted(score: Array, luck: Array) -> Array:
    """Return block scores minus luck, weighted by a regression on the deals of other folds."""
    rest, found, fold = (
        score - score.mean(axis=(0, 1)),
        score.copy(),
        np.arange(len(score)) % _FOLDS,
    )
    luck = luck / luck.std(axis=(0, 1, 2))
    for number in range(_FOLDS):
        known, told = luck[fold != number].reshape(-1, luck.shape[-1]), rest[fold != number].ravel()
        ridge = _RIDGE * np.eye(luck.shape[-1])
        weights = np.linalg.solve(known.T @ known + ridge, known.T @ told)
        found[fold == number] -= luck[fold == number] @ weights
    return found


def variances(score: Array) -> Array:
    """Return the variance of each entry's block scores."""
    return np.asarray(score.var(axis=0, ddof=1).mean(axis=0))


def width(score: Array, luck: Array) -> tuple[float, float]:
    """Return the relative width of intervals after the adjustment, and its standard error."""
    after = adjusted(score, luck)
    keeps = [
        np.ones(len(score), bool),
        *(np.arange(len(score)) % _FOLDS != n for n in range(_FOLDS)),
    ]
    whole, *parts = (
        float(np.sqrt(variances(after[k]).sum() / variances(score[k]).sum())) for k in keeps
    )
    return whole, float(np.sqrt((1 - 1 / _FOLDS) * ((np.array(parts) - np.mean(parts)) ** 2).sum()))


def show(field: Sequence[str], entry: Array, score: Array, luck: Array) -> None:
    """Print the widths, and the number of matches needed to separate the bots."""
    plain, gained = by_entry(entry, score), by_entry(entry, luck)
    seats, bots = entry.shape[-1], np.array(field)
    kinds = {
        "independent": (plain, gained, 1),
        "mirrored": (plain.mean(1, keepdims=True), gained.mean(1, keepdims=True), seats),
        "duplicate": (by_entry(entry, compared_on_deals(entry, score)), gained, 1),
    }
    for kind, (scores, of_luck, matches) in kinds.items():
        found = {}
        for number, name in enumerate(VALUES):
            found[name] = width(scores, of_luck[..., number :: len(VALUES)])
            print(f"{kind}, {name}: width {found[name][0]:.3f} ± {found[name][1]:.3f}")
        best = VALUES.index(min(found, key=lambda name: found[name][0]))
        after = adjusted(scores, of_luck[..., best :: len(VALUES)])
        for pair in combinations(dict.fromkeys(field), 2):
            one, other = (bots == bot for bot in pair)
            apart = float(plain[..., one].mean() - plain[..., other].mean())
            needed = (
                matches * (_SEPARATED / apart) ** 2 * (v[one].mean() + v[other].mean())
                for v in (variances(scores), variances(after))
            )
            print(f"  {' - '.join(pair)}: {apart:+.3f}, matches", *(f"{n:,.0f}" for n in needed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seats", type=int, default=2, choices=(2, 4))
    parser.add_argument("--bots", nargs="+", default=BOTS, choices=BOTS)
    parser.add_argument("--deals", type=int, default=30, help="with 8 matches each")
    options = parser.parse_args()
    if options.deals < _FOLDS:
        parser.error(f"--deals: must be at least {_FOLDS}, one for each fold of the regression")
    field = sorted(islice(cycle(options.bots), _ENTRIES), key=options.bots.index)
    table = Table(Rules(load_edition(), parse_rule_sets("basic"), options.seats))
    played = zip(*deals(table, field, options.deals), strict=True)
    show(field, *(np.array(column) for column in played))


if __name__ == "__main__":
    main()
