"""Looks ahead: tries out its actions in worlds that fit everything it has seen.

    python main.py                      at most one second a decision, and never more than the clock
    python main.py --milliseconds 100   at most 100 ms a decision
    python main.py --iterations 500     500 playouts a decision; the same seed gives the same play
    python main.py --level 2            an opponent for people, from 1 to 5
    python main.py --search tree        uses a tree search; --help lists the switches
    python main.py --ponder             thinks while others decide, if the competition allows it

The searches are `TurnSearch` and `TreeSearch` from `asara_search`, and `TimeManager` divides the
clock. This file reads the options and turns actions into replies.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import asara
from asara_game import Action, Rules, State, View, apply
from asara_game.knowledge.foresee import foresee
from asara_search import Worlds, to_messages
from asara_search.pondering import Ponderer
from asara_search.search_base import Search, SearchSettings
from asara_search.time_management import TimeManager, turns_left
from asara_search.tree_search import FINALS, LEAVES, OPPONENTS, TreeSearch, TreeSettings
from asara_search.turn_search import TurnSearch

UNLIMITED = 10**12
OPTIONS = {
    "candidates": "greatest number of actions that are tried out",
    "turns": "turns that are played on after the bot's own; 0: no limit but the years",
    "years": "years that are played on, the present one included",
    "prior": "playouts that the price of an action counts for",
    "scale": "lead that counts as nearly won; 0: all leads count alike",
    "noise": "chance added to the prices of greedy, in prestige",
}
"""Options that are fields of `SearchSettings`, with their meaning."""
TREE_OPTIONS = {
    "determinizations": "worlds that an action is tried out in; 0: as many as it has playouts",
    "opponents": "the others play like greedy, minimise the bot's value, or maximise their own",
    "leaf": "value of a leaf: the evaluation at the horizon or at once, or the final rank",
    "widening": "actions of a node for each root of its visits; 0: all from the beginning",
    "exploration": "weight of what is uncertain, in prestige",
    "final": "the action with most visits is chosen, or the one with the highest value",
}
"""Options that only `TreeSettings` has, with their meaning."""
CHOICES = {"opponents": OPPONENTS, "leaf": LEAVES, "final": FINALS}
LEVELS = (
    "--iterations 1 --noise 0.7",
    "--iterations 1 --noise 0.4",
    "--iterations 2 --noise 0.25",
    "--iterations 13",
    "--milliseconds 1000",
)
"""The options of each level, from 1. With one playout, greedy's price decides."""


@dataclass(frozen=True)
class Budget:
    """How long to search a decision: limited by iterations if given, otherwise by time."""

    iterations: int | None = None
    milliseconds: int = 1000
    ponder: bool = False
    """True to think while others decide, too."""


def make_search(rules: Rules, settings: SearchSettings) -> Search:
    """Create a search with these switches."""
    if isinstance(settings, TreeSettings):
        return TreeSearch(rules, settings)
    return TurnSearch(rules, settings)


class SearchBot(asara.Bot):
    """One match of the search bot; subclasses set the budget and the switches."""

    budget = Budget()
    settings = SearchSettings()

    def __init__(self) -> None:
        self.search: Search | None = None
        self.time_manager = TimeManager()
        self.ponderer: Ponderer | None = None

    def decide(self, decision: asara.Decision) -> list[asara.Action]:
        began = time.perf_counter()
        if self.ponderer is not None:
            self.ponderer.stop()
        worlds = Worlds(decision, self.match)
        view = worlds.view
        if self.search is None:
            self.search = make_search(view.rules, self.settings)
        self.time_manager.begin(decision.clock_us, self.match.clocks.increment_us)
        turns = turns_left(view)
        plan: list[Action] = []

        def sample(rng: Random) -> State:
            world = worlds.sample(rng)
            for action in plan:
                apply(world, action)
            return world

        legal: Sequence[Action] = view.legal
        while legal:
            share_s = self.time_manager.share_s(time.perf_counter() - began, turns)
            plan.append(self.choose(self.search, sample, legal, share_s))
            legal = known_choices(view, plan)
        if self.budget.ponder:
            self.ponder(self.search, sample)
        return to_messages(plan)

    def ended(self, result: asara.MatchEnded) -> None:
        if self.ponderer is not None:
            self.ponderer.stop()

    def ponder(self, search: Search, sample: Callable[[Random], State]) -> None:
        """Prepare the next decision until it comes, in worlds where the seat has replied."""
        if self.ponderer is None:
            rng = Random(self.match.random.getrandbits(64))
            self.ponderer = Ponderer(search, self.match.seat, rng)
        self.ponderer.start(sample)

    def choose(
        self,
        search: Search,
        sample: Callable[[Random], State],
        legal: Sequence[Action],
        share_s: float,
    ) -> Action:
        """Search one decision within the budget."""
        rng = self.match.random

        def world() -> State:
            return sample(rng)

        if self.budget.iterations is not None:
            return search.choose(world, legal, rng, self.budget.iterations, 0.0)
        planned_s = min(share_s, self.budget.milliseconds / 1000)
        began = time.perf_counter()
        action = search.choose(world, legal, rng, UNLIMITED, began + planned_s)
        self.time_manager.searched(planned_s, time.perf_counter() - began)
        return action


def known_choices(view: View, plan: Sequence[Action]) -> tuple[Action, ...]:
    """Return the legal actions after a plan; () if the turn is over or they are not known yet."""
    ahead = foresee(view, plan)
    return () if ahead.hidden or ahead.seen is None else ahead.seen.legal


def parse(arguments: Sequence[str] | None = None) -> tuple[Budget, SearchSettings]:
    """Read budget and switches from a command line; exit with status 2 if it is wrong."""
    parser = option_parser()
    given = vars(parser.parse_args(arguments))
    if level := given.pop("level", None):
        if given != {"search": "turn"}:
            parser.error("--level: sets all other options; leave them out")
        return parse(LEVELS[level - 1].split())
    tree = given.pop("search") == "tree"
    budget = Budget(
        given.pop("iterations", None),
        given.pop("milliseconds", Budget.milliseconds),
        given.pop("ponder", False),
    )
    if budget.ponder and budget.iterations is not None:
        parser.error("--ponder: not with --iterations, whose matches repeat themselves exactly")
    if budget.ponder and not given.get("reuse", True):
        parser.error("--ponder: not with --no-reuse, which forgets what was found out before")
    if "all_moves" in given:
        given["filter_moves"] = not given.pop("all_moves")
    for name in given:
        if not tree and name not in SearchSettings.__dataclass_fields__:
            option = "no-reuse" if name == "reuse" else name
            parser.error(f"--{option}: only a tree search has it; add --search tree")
    try:
        settings = TreeSettings(**given) if tree else SearchSettings(**given)
    except ValueError as error:
        parser.error(str(error))
    return budget, settings


def option_parser() -> argparse.ArgumentParser:
    """Return the parser. An option that is not given is missing from the result's attributes."""
    parser = argparse.ArgumentParser(
        "search",
        usage="search [OPTIONS]; --help lists them",  # a forfeit shows the last lines alone
        description="Plays by looking ahead.",
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument(
        "--search", choices=("turn", "tree"), default="turn", help="kind of search [default: turn]"
    )
    parser.add_argument(
        "--level",
        type=int,
        choices=range(1, len(LEVELS) + 1),
        help=f"opponent for people, from 1 to {len(LEVELS)}; instead of all other options",
    )
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--iterations", type=positive, metavar="N", help="playouts of a decision")
    budget.add_argument(
        "--milliseconds",
        type=positive,
        metavar="N",
        help="greatest time of a decision [default: 1000]",
    )
    parser.add_argument(
        "--ponder", action="store_true", help="think while others decide, where that is allowed"
    )
    parser.add_argument(
        "--all-moves", action="store_true", help="also try spaces that a better one stands for"
    )
    shared = parser.add_argument_group("switches of both searches")
    own = parser.add_argument_group("switches of the tree search")
    default = TreeSettings()
    for group, options in ((shared, OPTIONS), (own, TREE_OPTIONS)):
        for name, meaning in options.items():
            value = getattr(default, name)
            text = f"{meaning} [default: {value}]"
            choices = CHOICES.get(name)
            metavar = None if choices else "N" if isinstance(value, int) else "X"
            group.add_argument(
                f"--{name}", type=type(value), choices=choices, metavar=metavar, help=text
            )
    own.add_argument(
        "--no-reuse",
        dest="reuse",
        action="store_false",
        help="begin every decision with an empty tree",
    )
    return parser


def positive(text: str) -> int:
    """Parse a number from 1 to 10^9; raise ArgumentTypeError for any other text."""
    if text.isascii() and text.isdigit() and len(text) <= 9 and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 999,999,999")


def configured(arguments: Sequence[str] | None = None) -> type[SearchBot]:
    """Return the bot class for a command line."""

    class Configured(SearchBot):
        budget, settings = parse(arguments)

    return Configured


if __name__ == "__main__":
    asara.run(configured(), bot_name="search")
