"""Worlds for a search: time to sample a world and to copy it, compared with gin_rummy.

Both games are driven from Python, at decisions of random matches. `determinize` is one state that
fits everything a seat has seen, from a `Worlds` object made once per decision. Its peer is
OpenSpiel's `resample_from_infostate`, which does the same for a hand of cards. `copy` is
`State.copy`, and its peer is `clone`. The benchmark measures processor time of one core,
alternating every fraction of a second.
"""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.knowledge.history import History
from asara_game.knowledge.shuffling import QuickShuffler
from asara_game.knowledge.worlds import Worlds
from asara_game.rules import RULE_COMBINATIONS, Rules
from asara_game.state import State
from asara_game.view import View, view
from scripts.benchmark.engine import gin_rummy
from scripts.benchmark.figures import Bar, Figure, compare

DETERMINIZE_BAR = Bar(50, most=True, absolute=True)
_SEATS = 4
_EVERY = 5  # decisions between two measured ones
_WORLDS = 10  # for each measured decision


class _Costs(NamedTuple):
    """Measured times, in microseconds."""

    prepare: float
    determinize: float
    copy: float


def worlds(quick: bool) -> list[Figure]:
    """Measure sampling and copying worlds in four-player matches with all rules."""
    rules = Rules(load_edition(), RULE_COMBINATIONS[-1], _SEATS)
    rounds = [(_asara(rules, n), _gin_rummy(n)) for n in range(4 if quick else 12)]
    unit, peer = "µs", "OpenSpiel gin_rummy"
    measured = rounds[1:]  # the first round fills caches
    return [
        compare(
            "determinize",
            [(ours.determinize, theirs.determinize) for ours, theirs in measured],
            unit=unit,
            peer=f"{peer} resample",
            bar=DETERMINIZE_BAR,
        ),
        compare(
            "determinize_first",
            [(ours.prepare + ours.determinize, theirs.determinize) for ours, theirs in measured],
            unit=unit,
            peer=f"{peer} resample",
        ),
        compare(
            "copy",
            [(ours.copy, theirs.copy) for ours, theirs in measured],
            unit=unit,
            peer=f"{peer} clone",
        ),
    ]


def _timed(calls: int, call: Callable[[], object]) -> float:
    """Return microseconds per call."""
    began = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - began) / calls * 1e6


def _asara(rules: Rules, seed: int) -> _Costs:
    """Play one match; measure at the decisions of one seat, whose history is followed."""
    rng = random.Random(seed)
    seat = seed % _SEATS
    history = History(rules, seat)
    state, events = new_match(rules, Deal(rng.randbytes(32)))
    costs: list[_Costs] = []
    number = 0
    while state.seat >= 0:
        history.add(events)
        if state.seat == seat:
            seen = view(state, seat)
            history.look(seen)
            number += 1
            if number % _EVERY == 0:
                costs.append(_costs(seen, history, rng))
        events = apply(state, rng.choice(state.legal))
    return _Costs(*[sum(column) / len(costs) for column in zip(*costs, strict=True)])


def _costs(seen: View, history: History, rng: random.Random) -> _Costs:
    prepare = _timed(1, lambda: Worlds(seen, history))
    prepared = Worlds(seen, history)
    determinize = _timed(_WORLDS, lambda: prepared.sample(rng))
    world: State = prepared.sample(rng)
    return _Costs(prepare, determinize, _timed(_WORLDS, lambda: world.copy(QuickShuffler(rng))))


def _gin_rummy(seed: int) -> _Costs:
    rng = random.Random(seed)
    costs: list[_Costs] = []
    state: Any = gin_rummy().new_initial_state()
    number = 0
    while not state.is_terminal():
        if not state.is_chance_node():
            number += 1
            if number % _EVERY == 0:
                resample = partial(
                    state.resample_from_infostate, state.current_player(), rng.random
                )
                costs.append(_Costs(0, _timed(_WORLDS, resample), _timed(_WORLDS, state.clone)))
        state.apply_action(rng.choice(state.legal_actions()))
    return _Costs(*[sum(column) / len(costs) for column in zip(*costs, strict=True)])
