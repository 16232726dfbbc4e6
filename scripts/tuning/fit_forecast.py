"""`scripts/tune forecast`: fits the weights of the forecast to greedy matches.

At decisions of a cheap search, every candidate is played on to the end of the match in the same
worlds, with the same later shuffles. Whenever a year begins, the features of all seats are noted.
Ridge regression then predicts how the final lead differs between the candidates of one world from
how their features differ. Matches as a whole would mislead it: a feature can go with strong play
without being worth anything.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.knowledge.determinize import determinize
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_search.evaluation import evaluate
from asara_search.forecast import FEATURES, YEARS, features
from asara_search.playout import LabelShuffler
from asara_search.turn_search import SearchSettings, TurnSearch
from scripts.tuning.arena import SearchPlayer, secret_of

SHIPPED: Final = Path(__file__).parents[2] / "server" / "asara_search" / "forecast.toml"
_KINDS: Final = (("basic", 2), ("pro+gifts+genie", 2), ("pro+gifts+genie", 4))
_ITERATIONS, _CANDIDATES, _WORLDS = 12, 6, 4
_SHARE: Final = 0.5
"""Share of the decisions whose candidates are played on."""
_RIDGE: Final = 0.003
_HEAD: Final = """\
# Weights of the forecast at the beginning of a year, in prestige for each unit of a feature: if no
# year follows, if one follows, and if two follow. `scripts/tune forecast` writes this file.

"""

Array = NDArray[np.float64]


class Sample:
    """One decision: the beginning of a year in each world, for each candidate."""

    def __init__(self, years_after: int, next_year: bool, x: Array, y: Array, hand: Array) -> None:
        self.years_after = years_after
        self.next_year = next_year
        """True if the year is the one after the decision, where a search uses the forecast."""
        self.x = _centred(x)
        """The seat's features less its rivals' mean; shape (worlds, candidates, features)."""
        self.y = _centred(y)
        """The final lead over the mean of the rivals; shape (worlds, candidates)."""
        self.by_hand = _centred(hand)
        """The lead in the hand-made evaluation, in the same shape."""


def fit(arguments: Sequence[str]) -> int:
    """Play, fit, and write the weights."""
    parser = argparse.ArgumentParser(prog="scripts/tune forecast")
    parser.add_argument("--matches", type=int, default=6, help="matches of a kind [default: 6]")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="file to write")
    given = parser.parse_args(arguments)
    if given.matches < 4:
        parser.error("--matches must be 4 or more")
    samples: list[Sample] = []
    for name, seats in _KINDS:
        rules = Rules(load_edition(), parse_rule_sets(name), seats)
        found = [
            s for n in range(given.matches) for s in _samples(rules, secret_of("forecast", n), n)
        ]
        print(f"{name}, {seats}: {len(found)} beginnings of years", flush=True)
        for years_after in range(YEARS):
            _check([sample for sample in found if sample.years_after == years_after], years_after)
        samples += found
    weights = [fitted([s for s in samples if s.years_after == n]) for n in range(YEARS)]
    rows = (
        f"{name} = [{', '.join(f'{row[place]:.3f}' for row in weights)}]\n"
        for place, name in enumerate(FEATURES)
    )
    given.out.write_text(_HEAD + "".join(rows), "utf-8")
    print(f"Written to {given.out}")
    return 0


def _samples(rules: Rules, secret: bytes, seed: int) -> Iterator[Sample]:
    """Play a match by a cheap search, and play candidates on at some of its decisions."""
    rng = random.Random(seed)
    search = TurnSearch(rules, SearchSettings(candidates=_CANDIDATES))
    player = SearchPlayer(search, _ITERATIONS, seed=seed)
    state, _ = new_match(rules, Deal(secret))
    while state.legal and state.year < rules.edition.years:
        if state.kind is DecisionKind.SPACE and rng.random() < _SHARE:
            yield from _played_on(search, state, rng)
        apply(state, player.choose(state))


def _played_on(search: TurnSearch, state: State, rng: random.Random) -> Iterator[Sample]:
    """Play the candidates of a decision on to the end of the match, in several worlds."""
    seen = view(state, state.seat)
    seat, years = seen.private.seat, state.rules.edition.years
    later = range(state.year + 1, min(state.year + YEARS, years) + 1)
    actions = search.shortlist(determinize(seen, rng), seen.legal)
    shape = (len(later), _WORLDS, len(actions))
    x, y, by_hand = np.zeros((*shape, len(FEATURES))), np.zeros(shape[1:]), np.zeros(shape)
    for number in range(_WORLDS):
        world, seed = determinize(seen, rng), rng.getrandbits(40)
        for place, action in enumerate(actions):
            reached = world.copy(LabelShuffler(seed))
            apply(reached, action)
            for after, year in enumerate(later):
                search.play_on(reached, year, 1000)
                rows = [features(search.estimator, reached, s) for s in range(state.rules.seats)]
                x[after, number, place] = _lead(rows, seat)
                by_hand[after, number, place] = _lead(evaluate(reached, search.estimator), seat)
            search.play_on(reached, years + 1, 1000)
            y[number, place] = _lead(reached.prestige, seat)
    for after, year in enumerate(later):
        yield Sample(years - year, after == 0, x[after], y, by_hand[after])


def _lead(rows: Sequence[Any], seat: int) -> Any:
    values = np.asarray(rows, float)
    return values[seat] - np.delete(values, seat, 0).mean(0)


def _centred(values: Array) -> Array:
    return np.asarray(values - values.mean(1, keepdims=True))


def fitted(samples: Sequence[Sample]) -> Array:
    """Return the weights of the features, by ridge regression in units of their deviations."""
    count = len(FEATURES)
    square, product = np.zeros((count, count)), np.zeros(count)
    for sample in samples:
        x = sample.x.reshape(-1, count)
        square += x.T @ x
        product += x.T @ sample.y.reshape(-1)
    scale = np.sqrt(np.diag(square)) + 1e-9
    ridge = np.outer(1 / scale, 1 / scale) * square + _RIDGE * np.eye(count)
    return np.asarray(np.linalg.solve(ridge, product / scale) / scale)


def _check(samples: Sequence[Sample], years_after: int) -> None:
    """Print how well the final leads are predicted for decisions that were not fitted."""
    if len(samples) < 8:
        return
    pairs, by_hand_pairs = [], []
    for fold in range(4):
        weights = fitted([s for n, s in enumerate(samples) if n % 4 != fold])
        rest = [s for n, s in enumerate(samples) if n % 4 == fold and s.next_year]
        pairs += [(s.x @ weights, s.y) for s in rest]
        by_hand_pairs += [(s.by_hand, s.y) for s in rest]
    print(
        f"  {years_after} years follow, {len(pairs)} decisions: correlation "
        f"{_correlation(pairs):.2f}, of the hand-made evaluation {_correlation(by_hand_pairs):.2f}",
        flush=True,
    )


def _correlation(pairs: Sequence[tuple[Array, Array]]) -> float:
    """Return the correlation of the expected values of guess and result.

    Products of different worlds are free of the noise that a world adds to both.
    """
    sums = [0.0, 0.0, 0.0]
    for guess, result in pairs:
        worlds = len(guess)
        for place, (a, b) in enumerate(((guess, result), (guess, guess), (result, result))):
            products = (a.sum(0) * b.sum(0)).sum() - (a * b).sum()
            sums[place] += float(products) / (worlds * (worlds - 1))
    return float(sums[0] / np.sqrt(sums[1] * sums[2]))
