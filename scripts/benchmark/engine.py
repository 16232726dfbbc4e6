"""Compares random playouts of the rules with OpenSpiel's gin_rummy.

Both are driven from Python in the same way: get the legal actions, choose one at random, apply it,
and repeat until the match is over. Only player decisions are counted on either side. gin_rummy is
written in C++. Its chance nodes are uniform, so they are resolved like decisions, which is the
fastest way from Python. Our playouts begin with a fresh deal from HMAC-SHA256, as in the referee.
The benchmark measures processor time of one core, alternating every fraction of a second.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, legal_actions, new_match
from asara_game.rules import RULE_COMBINATIONS, Rules
from scripts.benchmark.figures import Bar, BenchError, Figure, compare

PEER = "OpenSpiel gin_rummy"
BAR = Bar(3)
_TERMINAL, _CHANCE = -4, -1


def engine(quick: bool) -> list[Figure]:
    """Measure decisions per second over all rules and seat counts, and in the richest match."""
    theirs_played = _gin_rummy()
    edition = load_edition()
    kinds = [Rules(edition, sets, seats) for sets in RULE_COMBINATIONS for seats in (2, 3, 4)]
    every, richest = [], []
    for number in range(3 if quick else 11):
        share = 1 if quick else 3
        ours = _rate(lambda rng: _asara(kinds, rng), share)
        full = _rate(lambda rng: _asara(kinds[-1:], rng), 6 * share)
        theirs = _rate(theirs_played, 15 * share)
        if number:  # the first round fills caches
            every.append((ours, theirs))
            richest.append((full, theirs))
    unit = "decisions/s"
    return [
        compare("engine", every, unit=unit, peer=PEER, bar=BAR),
        compare("engine_richest", richest, unit=unit, peer=PEER),
    ]


def _rate(play: Callable[[random.Random], int], times: int) -> float:
    """Return decisions per second of processor time."""
    rng = random.Random(times)
    began = time.process_time()
    decisions = sum(play(rng) for _ in range(times))
    return decisions / (time.process_time() - began)


def _asara(kinds: Sequence[Rules], rng: random.Random) -> int:
    """Play one match of each kind; return the number of decisions."""
    draw = rng.random
    decisions = 0
    for rules in kinds:
        state, _ = new_match(rules, Deal(rng.randbytes(32)))
        while legal := legal_actions(state):
            apply(state, legal[int(draw() * len(legal))])
            decisions += 1
    return decisions


def gin_rummy() -> Any:
    """Load OpenSpiel's game; raise BenchError if OpenSpiel is not installed."""
    try:
        import pyspiel
    except ImportError:
        raise BenchError(
            "OpenSpiel, the peer of `engine` and `worlds`, is not installed: run scripts/bench, "
            "which installs it, or .venv/bin/python -m pip install -e '.[bench]'"
        ) from None
    return pyspiel.load_game("gin_rummy")


def _gin_rummy() -> Callable[[random.Random], int]:
    game = gin_rummy()

    def play(rng: random.Random) -> int:
        draw = rng.random
        state = game.new_initial_state()
        decisions = 0
        while (player := state.current_player()) != _TERMINAL:
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            decisions += player != _CHANCE
        return decisions

    return play
