"""Steps of the environments for learners, each beside its peer.

A random player makes all steps. PettingZoo's environments are played as its documentation does:
the observation, a sample of the action space under the mask, the step. So is its no-limit Texas
hold'em for two, the peer of ours. Many matches at once are played with a random choice by NumPy for
all rows; their peer is the loop before. Both are also measured without observations, as a player
needs them that looks at masks only. The vector form saves what the loop spends around the rules and
the observation, which are the same code in both; hence it is held to 3 times the loop with masks
only, and with observations to a lower bar that catches losses. OpenSpiel's games are
played as for `engine`, with chance nodes drawn like decisions and only decisions counted.

Ours are matches of four by all rules, the richest. Processor time of one core is measured, in turns
of a fraction of a second.
"""

import random
import time
import warnings
from collections.abc import Callable
from typing import Any

from scripts.benchmark.figures import Bar, BenchError, Figure, compare

_RULES, _SEATS = "pro+gifts+genie", 4
_ROWS = 64
_AEC_BAR = Bar(3)
_VECTOR_BAR = Bar(3)  # with masks only
_OBSERVED_VECTOR_BAR = Bar(1.5)  # 2.1 to 2.6 measured
_CHANCE = -1

Play = Callable[[float], float]
"""Plays for so many seconds of processor time; returns steps per second."""


def environment(quick: bool) -> list[Figure]:
    """Measure steps per second of PettingZoo, of many matches at once, and of OpenSpiel."""
    try:
        plays = {
            "aec": _aec(observe=True),
            "hold_em": _hold_em(),
            "vector": _vector(observe=True),
            "aec_masks": _aec(observe=False),
            "vector_masks": _vector(observe=False),
            "openspiel": _openspiel(f"asara(rules={_RULES},players={_SEATS})"),
            "gin_rummy": _openspiel("gin_rummy"),
        }
    except ImportError as error:
        raise BenchError(
            f"{error}: run scripts/bench, which installs the peers of `environment`, "
            "or .venv/bin/python -m pip install -e '.[bench]'"
        ) from None
    seconds = 0.3 if quick else 1.0
    rounds: list[dict[str, float]] = []
    for number in range(3 if quick else 8):
        rates = {name: play(seconds) for name, play in plays.items()}
        if number:  # the first round fills caches
            rounds.append(rates)
    figures = (
        ("environment_aec", "aec", "hold_em", "PettingZoo texas_holdem_no_limit_v6", _AEC_BAR),
        ("environment_vector", "vector", "aec", "the AEC loop", _OBSERVED_VECTOR_BAR),
        ("environment_vector_masks", "vector_masks", "aec_masks", "the AEC loop", _VECTOR_BAR),
        ("environment_openspiel", "openspiel", "gin_rummy", "OpenSpiel gin_rummy", None),
    )
    return [
        compare(
            figure,
            [(row[own], row[other]) for row in rounds],
            unit="steps/s",
            peer=peer,
            bar=bar,
        )
        for figure, own, other, peer, bar in figures
    ]


def _aec(*, observe: bool) -> Play:
    from asara_env import aec

    return _pettingzoo(aec.env(_RULES, _SEATS), observe)


def _hold_em() -> Play:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this way to make environments is deprecated
        from pettingzoo.classic import texas_holdem_no_limit_v6

        return _pettingzoo(texas_holdem_no_limit_v6.env(), observe=True)


def _pettingzoo(env: Any, observe: bool) -> Play:
    def play(seconds: float) -> float:
        env.reset(seed=1)
        steps = 0
        began = time.process_time()
        end = began + seconds
        while time.process_time() < end:
            for agent in env.agent_iter(100):
                seen, _, terminated, truncated, info = env.last(observe)
                if terminated or truncated:
                    action = None
                else:
                    mask = (seen if observe else info)["action_mask"]
                    action = env.action_space(agent).sample(mask)
                    steps += 1
                env.step(action)
            if not env.agents:
                env.reset()
        return steps / (time.process_time() - began)

    return play


def _vector(*, observe: bool) -> Play:
    import numpy as np

    from asara_env.vector import Matches

    matches = Matches(_RULES, _SEATS, _ROWS)
    rng = np.random.default_rng(1)

    def play(seconds: float) -> float:
        step = matches.reset(seed=1)
        steps = 0
        began = time.process_time()
        end = began + seconds
        while time.process_time() < end:
            rows, numbers = np.nonzero(step.masks)
            counts = np.bincount(rows)
            chosen = np.cumsum(counts) - counts + (rng.random(_ROWS) * counts).astype(int)
            step = matches.step(numbers[chosen], observe=observe)
            steps += _ROWS
        return steps / (time.process_time() - began)

    return play


def _openspiel(name: str) -> Play:
    import pyspiel

    import asara_env.openspiel  # noqa: F401 - registers the game

    game = pyspiel.load_game(name)

    def play(seconds: float) -> float:
        draw = random.Random(1).random
        steps = 0
        began = time.process_time()
        end = began + seconds
        while time.process_time() < end:
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                steps += state.current_player() != _CHANCE
                state.apply_action(legal[int(draw() * len(legal))])
        return steps / (time.process_time() - began)

    return play
