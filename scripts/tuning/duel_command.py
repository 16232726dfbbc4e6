"""`scripts/tune duel`: compares two settings of the search bot, or one with greedy."""

import argparse
import shlex
import time
from collections.abc import Sequence

from asara_game.actions import Action
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_search.evaluation import Weights
from asara_search.policies import GreedyPolicy
from bots.search.main import make_search, parse
from scripts.tuning.arena import Duel, Player, PolicyPlayer, SearchPlayer, duel, secret_of

RULES_OF_THUMB = Weights(
    {
        "buyer": 1.4,
        "following": 0.5,
        "circle_following": 0.5,
        "spare_buyer": 0.1,
        "laid_buyers": 0.0,
        "asari": 0.7,
        "idle_asari": 0.1,
        "spending": 5.5,
        "first_turn": 0.25,
        "building_0": 0.0,
        "building_1": 0.5,
        "building_2": 0.7,
        "building_3": 0.85,
        "building_4": 0.95,
        "waiting": 0.6,
        "ahead_0": 0.25,
        "ahead_1": 0.15,
        "ahead_2": 0.12,
        "ahead_3": 0.1,
        "on_display": 0.45,
        "in_pile": 0.1,
        "fitting": 0.7,
    }
)
"""The constants of bots/greedy."""


def compare(arguments: Sequence[str]) -> int:
    """Play mirrored blocks; print the score after each, and the processor time of a decision."""
    parser = argparse.ArgumentParser(prog="scripts/tune duel")
    parser.add_argument(
        "a", help='options of bots/search with --iterations, in quotes, or "greedy"'
    )
    parser.add_argument("b", help="the same; B takes all seats that A does not take")
    parser.add_argument("--rules", default="basic", help="rule sets [default: basic]")
    parser.add_argument("--seats", type=int, default=2, help="number of seats [default: 2]")
    parser.add_argument("--blocks", type=int, default=100, help="number of blocks [default: 100]")
    given = parser.parse_args(arguments)
    try:
        rules = Rules(load_edition(), parse_rule_sets(given.rules), given.seats)
    except ValueError as error:
        parser.error(str(error))
    if given.blocks < 1:
        parser.error("--blocks must be above 0")
    a, b = (_Timed(_player(parser, rules, text)) for text in (given.a, given.b))
    deals = [secret_of("switches", number) for number in range(given.blocks)]

    def report(so_far: Duel) -> None:
        print(f"\r{so_far}", end="", flush=True)

    duel(rules, a, b, deals, report)
    print(f"\nms of a decision: A {a.milliseconds:.1f}, B {b.milliseconds:.1f}")
    return 0


def _player(parser: argparse.ArgumentParser, rules: Rules, text: str) -> Player:
    if text == "greedy":
        return PolicyPlayer(GreedyPolicy(rules, RULES_OF_THUMB))
    budget, settings = parse(shlex.split(text))
    if budget.iterations is None:
        parser.error(f"{text!r}: --iterations is needed, or the result depends on the machine")
    return SearchPlayer(make_search(rules, settings), budget.iterations)


class _Timed:
    """A player whose processor time is measured."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._decisions = 0
        self._seconds = 0.0

    def choose(self, state: State) -> Action:
        began = time.process_time()
        action = self._player.choose(state)
        self._seconds += time.process_time() - began
        self._decisions += 1
        return action

    @property
    def milliseconds(self) -> float:
        return 1000 * self._seconds / max(1, self._decisions)
