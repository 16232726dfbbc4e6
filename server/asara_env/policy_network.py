"""A trained network that plays: action probabilities, and each seat's expected result.

Only NumPy is needed. `scripts/train` writes the file of weights. `load_network` checks that the
file fits this version's action numbers and observations.

The network is a perceptron with two hidden layers. Its input is an observation and the mask of
legal actions. Its output is one number for each action, and two for each seat, starting with the
deciding seat: expected score (0 to 1) and expected final prestige.

The policy corrects existing estimates: the worth of each action according to
`asara_search.policies.GreedyPolicy`. `prior` converts these worths to numbers that are added to the
network's output, so a network that outputs only zeros plays like greedy. The file also contains the
weights of the estimates that the network was trained with.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from asara_game import Action, State, View, view

from .action_numbers import ACTION_COUNT, ACTION_RANGES, legal_numbers
from .observation import OBSERVATION_SIZE, PARTS, observe

__all__ = [
    "INPUT_SIZE",
    "MOST_SEATS",
    "PRESTIGE_UNIT",
    "VALUE_COUNT",
    "Advice",
    "DamagedWeights",
    "Network",
    "evaluate",
    "layout_hash",
    "load_network",
    "prior",
    "save_network",
    "shipped_network",
]

SHARPNESS: Final = 2.0
"""If an action is worth one point of prestige more, it is e to this power times as probable."""
_LEAST_PRIOR: Final = -8.0

Floats = npt.NDArray[np.float32]

MOST_SEATS: Final = 4
VALUE_COUNT: Final = 2 * MOST_SEATS
"""Scores of the seats, then their prestige in units of PRESTIGE_UNIT."""
PRESTIGE_UNIT: Final = 50.0
INPUT_SIZE: Final = OBSERVATION_SIZE + ACTION_COUNT
FORMAT: Final = 1
SHIPPED: Final = Path(__file__).with_name("weights.npz")
_LARGEST_FILE: Final = 64 << 20
_ARRAYS: Final = ("w1", "b1", "w2", "b2", "policy_w", "policy_b", "value_w", "value_b")


class DamagedWeights(ValueError):
    """Raised if a file of weights is unreadable or has another layout; the text gives the file."""


class Advice(NamedTuple):
    """The network's assessment of a decision."""

    actions: tuple[Action, ...]
    """The legal actions."""
    probabilities: Floats
    """Shape [actions]; the sum is 1."""
    scores: Floats
    """Shape [seats], by seat: expected score, from 1 for the first rank down to 0 for the last."""
    prestige: Floats
    """Shape [seats], by seat: expected final prestige."""

    @property
    def best(self) -> Action:
        """Return the most probable action, the first one if several are equal."""
        return self.actions[int(self.probabilities.argmax())]


@cache
def layout_hash() -> str:
    """Return a hash of the layout of observations and of the ranges of action numbers."""
    layout = [
        [[part.name, part.axes, part.first] for part in PARTS],
        [[found.action.__name__, found.first, found.size, found.order] for found in ACTION_RANGES],
    ]
    return hashlib.sha256(json.dumps(layout).encode()).hexdigest()


def prior(worths: Sequence[float]) -> Floats:
    """Convert worths of actions to logarithms of probabilities, up to a constant."""
    found: Floats = np.array(worths, np.float32)
    found -= found.max()
    found *= SHARPNESS
    return np.maximum(found, np.float32(_LEAST_PRIOR), out=found)


class Network:
    """The network's weights as float32; use `load_network` to make an instance."""

    def __init__(
        self, arrays: Mapping[str, npt.NDArray[Any]], estimates: Mapping[str, float]
    ) -> None:
        """Raise ValueError if arrays are missing, have wrong shapes or are not finite."""
        _check_arrays(arrays)
        self.estimates = dict(estimates)
        """Weights of the estimates that the priors come from."""
        self.arrays: dict[str, Floats] = {
            name: np.ascontiguousarray(arrays[name], np.float32) for name in _ARRAYS
        }
        (
            self._w1,
            self._b1,
            self._w2,
            self._b2,
            self._policy_w,
            self._policy_b,
            self._value_w,
            self._value_b,
        ) = (self.arrays[name] for name in _ARRAYS)
        # Rows of the legal actions are added up; most actions are not legal.
        self._policy_rows = np.ascontiguousarray(self._policy_w.T)

    def hidden(self, observation: Floats, numbers: Sequence[int]) -> Floats:
        """Return the last hidden layer, for an observation and the numbers of the legal actions.

        Most entries of an observation are 0, so only the weight rows of non-zero entries are read.
        """
        used = np.flatnonzero(observation)
        first = observation[used] @ self._w1[used]
        if len(numbers):
            first += self._w1[OBSERVATION_SIZE + np.asarray(numbers)].sum(axis=0)
        first += self._b1
        np.maximum(first, 0, out=first)
        second = first @ self._w2
        second += self._b2
        found: Floats = np.maximum(second, 0, out=second)
        return found

    def probabilities(self, hidden: Floats, numbers: Sequence[int], priors: Floats) -> Floats:
        """Return the probability of each of the legal actions; shape (len(numbers),)."""
        rows = np.asarray(numbers)
        logits = self._policy_rows[rows] @ hidden
        logits += self._policy_b[rows]
        logits += priors
        logits -= logits.max()
        np.exp(logits, out=logits)
        found: Floats = logits / logits.sum()
        return found

    def values(self, hidden: Floats) -> Floats:
        """Return the values in layout order: seats starting with the deciding seat."""
        found: Floats = hidden @ self._value_w + self._value_b
        return found

    def advise(self, seen: View, worths: Sequence[float]) -> Advice:
        """Return the assessment of a decision whose legal actions have these worths.

        Raise ValueError if the seat does not decide.
        """
        if not seen.legal:
            raise ValueError(f"seat {seen.private.seat} does not decide: the network has no advice")
        numbers = legal_numbers(seen)
        hidden = self.hidden(observe(seen), numbers)
        scores, prestige = by_seat(self.values(hidden), seen.private.seat, seen.rules.seats)
        probabilities = self.probabilities(hidden, numbers, prior(worths))
        return Advice(seen.legal, probabilities, scores, prestige)


def by_seat(values: Floats, seat: int, seats: int) -> tuple[Floats, Floats]:
    """Reorder values that start with the deciding seat; return scores and prestige by seat."""
    places = (np.arange(seats) - seat) % seats
    return values[places], values[MOST_SEATS + places] * np.float32(PRESTIGE_UNIT)


def evaluate(state: State, network: Network) -> list[float]:
    """Return each seat's expected prestige, by seat; after the end, the actual prestige.

    The network sees only what the deciding seat may know. The hand-made evaluation in
    `asara_search.evaluation` has the same form: a function of a state and an evaluator.
    """
    if state.seat < 0:
        return [float(points) for points in state.prestige]
    seen = view(state, state.seat)
    hidden = network.hidden(observe(seen), legal_numbers(seen))
    _, prestige = by_seat(network.values(hidden), state.seat, seen.rules.seats)
    return [float(points) for points in prestige]


# Files


def load_network(path: Path | str) -> Network:
    """Read a file written by `save_network`. Raise DamagedWeights, or OSError if it is missing."""
    path = Path(path)
    if path.stat().st_size > _LARGEST_FILE:
        raise DamagedWeights(
            f"{path}: larger than {_LARGEST_FILE >> 20} MiB; not a file of weights"
        )
    if not zipfile.is_zipfile(path):
        raise DamagedWeights(f"{path}: not a file of weights, or cut off")
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            _check_about(about)
            return Network({name: file[name] for name in _ARRAYS}, about["estimates"])
    except (
        AttributeError,
        EOFError,
        KeyError,
        NotImplementedError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DamagedWeights(f"{path}: {_words(error)}") from None


def save_network(
    path: Path,
    arrays: Mapping[str, npt.NDArray[Any]],
    estimates: Mapping[str, float],
    about: str = "",
) -> None:
    """Write weights as float16, atomically; `about` describes how they were made."""
    _check_arrays(arrays)
    facts = {
        "format": FORMAT,
        "layout": layout_hash(),
        "estimates": dict(estimates),
        "about": about,
    }
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            about=np.array(json.dumps(facts)),
            **{name: arrays[name].astype(np.float16) for name in _ARRAYS},
        )
    new.replace(path)


@cache
def shipped_network() -> Network:
    """Return the network that comes with the package."""
    return load_network(SHIPPED)


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"damaged: {error.args[0]}"
    return f"not a file of weights, or damaged: {str(error) or type(error).__name__}"


def _check_about(about: Any) -> None:
    if not isinstance(about, dict):
        raise TypeError("the facts about the weights are no table")
    if about.get("format") != FORMAT:
        raise ValueError(f"format {about.get('format')!r}; this version reads {FORMAT}")
    if about.get("layout") != layout_hash():
        raise ValueError(
            "the weights were trained with other observations or action numbers; train them anew"
        )
    estimates = about.get("estimates")
    if not isinstance(estimates, dict) or not all(
        isinstance(value, int | float) for value in estimates.values()
    ):
        raise ValueError("the estimates are no table of numbers")


def _check_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise ValueError(f"arrays are missing: {', '.join(missing)}")
    first = arrays["b1"].shape[0] if arrays["b1"].ndim == 1 else 0
    second = arrays["b2"].shape[0] if arrays["b2"].ndim == 1 else 0
    shapes = {
        "w1": (INPUT_SIZE, first),
        "b1": (first,),
        "w2": (first, second),
        "b2": (second,),
        "policy_w": (second, ACTION_COUNT),
        "policy_b": (ACTION_COUNT,),
        "value_w": (second, VALUE_COUNT),
        "value_b": (VALUE_COUNT,),
    }
    for name, shape in shapes.items():
        found = arrays[name]
        if found.shape != shape or not first or not second:
            raise ValueError(f"array {name}: shape {found.shape} instead of {shape}")
        if found.dtype.kind != "f" or not np.isfinite(found).all():
            raise ValueError(f"array {name}: not all of it are finite numbers")
