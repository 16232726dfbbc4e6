"""Forecasts, when a year begins, what each seat's final prestige will be: a linear regression.

The features are counts and awards; `forecast.toml` has their weights. `scripts/tune forecast` fits
these weights to matches that the greedy policy has played to their end from such a state.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from asara_game.state import State

from .evaluation import Estimator

__all__ = ["FEATURES", "Forecast", "features", "read_forecast", "shipped_forecast"]

FEATURES: Final = (
    "prestige",
    "towers",
    "gold",
    "lit",
    "patronage",
    "most_towers",
    "highest_tower",
    "highest_of_colour",
    "held_bases",
    "held_turrets",
    "held_middles",
    "held_gold",
    "held_lit",
    "held_price",
    "asari",
)
"""Names of the features, in the order of `features`."""
YEARS: Final = 3
"""Number of weights of a feature: with no year after the one that begins, with one, with two."""


def read_forecast(path: Path) -> list[list[float]]:
    """Return the weights in a file, by the number of years that follow, then by feature.

    Raise ValueError if the file is damaged.
    """
    try:
        with path.open("rb") as file:
            rows = tomllib.load(file)
        if list(rows) != list(FEATURES):
            raise ValueError(f"the features must be {', '.join(FEATURES)}, in this order")
        for name, row in rows.items():
            if len(row) != YEARS or not all(math.isfinite(weight) for weight in row):
                raise ValueError(f"{name}: {YEARS} finite numbers are needed")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return [[float(row[years_after]) for row in rows.values()] for years_after in range(YEARS)]


@cache
def shipped_forecast() -> list[list[float]]:
    """Return the weights that come with the package (see `read_forecast`)."""
    return read_forecast(Path(__file__).with_name("forecast.toml"))


def features(estimator: Estimator, state: State, seat: int) -> list[float]:
    """Return the features of a seat in a state, in the order of FEATURES.

    The estimator is only used to look at the state.
    """
    estimator.look(state, seat)
    awards = estimator.award_worths()
    towers = estimator.summaries[seat]
    sections = [0] * 5
    for c in range(5):
        sections[c] = estimator.bases[c] + estimator.turrets[c] + estimator.middles[c]
    price = 0
    for c in range(5):
        price += sections[c] * estimator.prices[c]
    return [
        float(state.prestige[seat]),
        float(estimator.towers),
        float(towers.gold),
        float(towers.lit),
        1.0 if state.patronage_seat == seat else 0.0,
        awards[0],
        awards[1],
        awards[2] + awards[3] + awards[4] + awards[5] + awards[6],
        float(sum(estimator.bases)),
        float(sum(estimator.turrets)),
        float(sum(estimator.middles)),
        float(sum(estimator.gold)),
        float(sum(estimator.lit)),
        float(price),
        float(state.money[seat]),
    ]


class Forecast:
    """Forecasts the prestige of the seats. Only the differences between seats are meaningful."""

    def __init__(self, weights: Sequence[Sequence[float]] | None = None) -> None:
        self.weights = [list(row) for row in weights or shipped_forecast()]

    def value(self, estimator: Estimator, state: State, seat: int) -> float:
        """Return the forecast for a seat; the year must have just begun."""
        found = features(estimator, state, seat)
        weights = self.weights[min(estimator.years_after, YEARS - 1)]
        total = 0.0
        for place in range(len(found)):
            total += weights[place] * found[place]
        return total
