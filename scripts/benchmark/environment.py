"""Compares steps of the learning environments with those of similar environments.

A random player makes all steps. PettingZoo environments are played as in its documentation:
observe, sample the action space under the mask, step. The peer of our PettingZoo environment is
PettingZoo's two-player no-limit Texas hold'em, played in the same way. The vector form plays many
matches side by side, with NumPy choosing at random for all rows. Its peer is our PettingZoo loop.
Both are also measured without observations, for a player that only uses masks.

The vector form saves only the loop's overhead, because both forms share the code for rules and
observations. Its bar is therefore 3 times the loop's speed without observations, and with
observations a lower bar that detects slowdowns. OpenSpiel games are played as in `engine`: chance
nodes are drawn like decisions, and only decisions are counted.

Our matches have four seats and all rules. The benchmark measures processor time of one core,
alternating every fraction of a second.
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
"""Plays for this many seconds of processor time; returns steps per second."""


def environment(quick: bool) -> list[Figure]:
    """Measure steps per second of PettingZoo, of many matches side by side, and of OpenSpiel."""
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
