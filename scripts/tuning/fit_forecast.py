"""`scripts/tune forecast`: fits the weights of the forecast to greedy matches.

In one year of each match, every seat's prices have noise, so that the seats begin the next year
more or less well. After it, all seats play equally well: a feature is worth what it brings, not
what strong players do. The features of all seats are noted whenever a later year begins. Ridge
regression predicts the final lead from them.
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
from asara_game.rules import Rules, parse_rule_sets
from asara_search.evaluation import evaluate
from asara_search.forecast import FEATURES, YEARS, features
from asara_search.turn_search import SearchSettings, TurnSearch
from scripts.tuning.arena import secret_of

SHIPPED: Final = Path(__file__).parents[2] / "server" / "asara_search" / "forecast.toml"
_KINDS: Final = (
    *(("basic", seats) for seats in (2, 3, 4)),
    *(("pro+gifts+genie", seats) for seats in (2, 3, 4)),
    *((name, 2) for name in ("basic+gifts", "pro", "pro+gifts")),
)
_NOISES: Final = (0.0, 0.7, 1.5, 3.0)
"""Standard deviations of the noise, in prestige."""
_RIDGE: Final = 0.001
_HEAD: Final = """\
# Weights of the forecast at the beginning of a year, in prestige for each unit of a feature: if no
# year follows, if one follows, and if two follow. `scripts/tune forecast` writes this file.

"""

Array = NDArray[np.float64]


def fit(arguments: Sequence[str]) -> int:
    """Play, fit, and write the weights."""
    parser = argparse.ArgumentParser(prog="scripts/tune forecast")
    parser.add_argument("--matches", type=int, default=5000, help="matches of a kind [5,000]")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="file to write")
    given = parser.parse_args(arguments)
    if given.matches < 8:
        parser.error("--matches must be 8 or more")
    starts: list[list[tuple[Array, float]]] = [[] for _ in range(YEARS)]
    """One list for each number of years that follow. An entry belongs to one seat: its leads in the
    features and in the hand-made evaluation, then its final lead."""
    for name, seats in _KINDS:
        rules = Rules(load_edition(), parse_rule_sets(name), seats)
        for number in range(given.matches):
            for years_after, leads, final in _played(rules, number):
                starts[years_after] += zip(leads, final, strict=True)
    weights: list[Array] = []
    near = np.zeros(len(FEATURES))
    for years_after, rows in enumerate(starts):
        x, y = np.array([leads for leads, _ in rows]), np.array([final for _, final in rows])
        kept = len(y) * 3 // 4
        found = x[kept:, :-1] @ fitted(x[:kept, :-1], y[:kept], near)
        print(
            f"{years_after} years follow, {len(y)} seats: correlation with the final lead "
            f"{np.corrcoef(found, y[kept:])[0, 1]:.3f}, of the hand-made evaluation "
            f"{np.corrcoef(x[kept:, -1], y[kept:])[0, 1]:.3f}",
            flush=True,
        )
        near = fitted(x[:, :-1], y, near)
        weights.append(near)
    lines = (
        f"{name} = [{', '.join(f'{row[place]:.3f}' for row in weights)}]\n"
        for place, name in enumerate(FEATURES)
    )
    given.out.write_text(_HEAD + "".join(lines), "utf-8")
    print(f"Written to {given.out}")
    return 0


def _played(rules: Rules, number: int) -> Iterator[tuple[int, Array, Array]]:
    """Play a match; yield the seats' leads when a year began, and their final leads."""
    rng = random.Random(number)
    players = {
        noise: TurnSearch(rules, SearchSettings(candidates=1, noise=noise)) for noise in _NOISES
    }
    estimator, seats, years = players[0.0].estimator, range(rules.seats), rules.edition.years
    noisy_year, noises = rng.randrange(1, years), [rng.choice(_NOISES) for _ in seats]
    state, _ = new_match(rules, Deal(secret_of("forecast", number)))
    year, starts = 1, []
    while state.legal:
        if state.year > max(year, noisy_year):
            rows = [features(estimator, state, seat) for seat in seats]
            starts.append((years - state.year, np.column_stack([rows, evaluate(state, estimator)])))
        year = state.year
        noise = noises[state.seat] if year == noisy_year else 0.0
        apply(state, players[noise].shortlist(state, state.legal, rng)[0])
    for years_after, values in starts:
        yield years_after, _leads(values), _leads(state.prestige)


def _leads(values: Any) -> Array:
    """Return each seat's value less the mean of the others."""
    values = np.asarray(values, float)
    return np.asarray((values - values.mean(0)) * len(values) / (len(values) - 1))


def fitted(x: Array, y: Array, near: Array) -> Array:
    """Return the weights of the features, by ridge regression in units of their deviations.

    A feature that never differs in `x` keeps its weight in `near`.
    """
    scale = np.sqrt((x**2).mean(0)) + 1e-9
    each = x / scale
    square = each.T @ each / len(y) + _RIDGE * np.eye(len(near))
    return np.asarray(near + np.linalg.solve(square, each.T @ (y - x @ near) / len(y)) / scale)
