"""Playouts for a search: how many one core completes, compared with OpenSpiel's gin_rummy.

Both copy the state at the beginning of a match and play the copy to its end, again and again.
`search` plays at random, `search_greedy` by the greedy policy. gin_rummy is cloned and played at
random from Python; its chance nodes are resolved like decisions. The benchmark measures processor
time of one core, alternating every fraction of a second.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import new_match
from asara_game.rules import RULE_COMBINATIONS, Rules
from asara_search.playout import QuickShuffler, play_out
from asara_search.policies import GreedyPolicy, Policy, RandomPolicy
from scripts.benchmark.engine import gin_rummy
from scripts.benchmark.figures import Bar, Figure, compare

BAR = Bar(1000, absolute=True)
_SEATS = 4


def search(quick: bool) -> list[Figure]:
    """Measure playouts of four-player matches with all rules."""
    rules = Rules(load_edition(), RULE_COMBINATIONS[-1], _SEATS)
    at_random, greedy = _asara(rules, RandomPolicy()), _asara(rules, GreedyPolicy(rules))
    peer_playout = _gin_rummy()
    rng = random.Random(1)
    share = 20 if quick else 100
    rows = []
    for _ in range(4 if quick else 12):
        ours = _rate(lambda: at_random(rng), 2 * share)
        rows.append(
            (ours, _rate(lambda: greedy(rng), share // 4), _rate(lambda: peer_playout(rng), share))
        )
    rows = rows[1:]  # the first round fills caches
    unit, peer = "playouts/s", "OpenSpiel gin_rummy"
    return [
        compare(
            "search", [(ours, theirs) for ours, _, theirs in rows], unit=unit, peer=peer, bar=BAR
        ),
        compare(
            "search_greedy", [(ours, theirs) for _, ours, theirs in rows], unit=unit, peer=peer
        ),
    ]


def _rate(play: Callable[[], object], times: int) -> float:
    """Return playouts per second of processor time."""
    began = time.process_time()
    for _ in range(times):
        play()
    return times / (time.process_time() - began)


def _asara(rules: Rules, policy: Policy) -> Callable[[random.Random], None]:
    state, _ = new_match(rules, Deal(bytes(32)))

    def play(rng: random.Random) -> None:
        play_out(state.copy(QuickShuffler(rng)), policy, rng)

    return play


def _gin_rummy() -> Callable[[random.Random], None]:
    first: Any = gin_rummy().new_initial_state()

    def play(rng: random.Random) -> None:
        draw = rng.random
        state = first.clone()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])

    return play
