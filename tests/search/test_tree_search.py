"""The tree search: legal, repeatable, within its time, and what its switches say."""

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, decision, new_match
from asara_game.knowledge.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_search.playout import LabelShuffler
from asara_search.policies import GreedyPolicy
from asara_search.search_base import Search
from asara_search.tree_search import MOST_NODES, Node, TreeSearch, TreeSettings
from asara_search.turn_search import TurnSearch
from scripts.tuning.duel_command import RULES_OF_THUMB
from tests.sizes import others_long

EDITION = load_edition()
WINNING: tuple[str, int, int, int] = ("pro+gifts+genie", 2, 255, 4986)
"""Arguments of `state_after` for a position with one action that wins, not the one that the policy
takes."""
WINNER = "dispatch circle 3"
SECRET = bytes(32)
LATE = 225
"""Decisions after which most matches of three seats are in their last year."""
QUICK: dict[str, Any] = {"turns": 1, "candidates": 4}
SWITCHES: tuple[dict[str, Any], ...] = (
    {},
    {"determinizations": 3},
    {"opponents": "paranoid"},
    {"opponents": "max-n"},
    {"leaf": "estimate"},
    {"leaf": "rank"},
    {"widening": 1.0},
    {"reuse": False},
    {"final": "value"},
    {"scale": 0.0},
)


def state_after(rule_sets: str, seats: int, decisions: int, deal: int = 0) -> State:
    """Return the state after so many decisions of a greedy policy that no tuning changes."""
    rules = Rules(EDITION, parse_rule_sets(rule_sets), seats)
    state, _ = new_match(rules, Deal(deal.to_bytes(32)))
    policy = GreedyPolicy(rules, RULES_OF_THUMB)
    for _ in range(decisions):
        apply(state, policy.choose(state, random.Random(0)))
    return state


def worlds_of(state: State, rng: random.Random) -> Callable[[], State]:
    seen = view(state, state.seat)
    return lambda: determinize(seen, rng)


def choose(search: Search, state: State, iterations: int, seed: int = 1) -> Action:
    rng = random.Random(seed)
    return search.choose(worlds_of(state, rng), state.legal, rng, iterations, 0.0)


def root_of(search: TreeSearch) -> Node:
    """Return the node of the decision that a new search was asked."""
    return next(iter(search.nodes.values()))


@pytest.mark.parametrize("rule_sets", RULE_COMBINATIONS, ids=format_rule_sets)
@pytest.mark.parametrize("seats", others_long([2, 3, 4], 3))
def test_every_choice_is_legal(rule_sets, seats):
    rules = Rules(EDITION, rule_sets, seats)
    number = RULE_COMBINATIONS.index(rule_sets)
    state, _ = new_match(rules, Deal(seats.to_bytes(32)))
    switches = SWITCHES[(number + 6 * (seats - 2)) % len(SWITCHES)]
    searches = [TreeSearch(rules, TreeSettings(**{**QUICK, **switches})) for _ in range(seats)]
    rng = random.Random(1)
    decisions = 0
    while state.legal:
        decisions += 1
        if decisions % 12 or ("leaf" in switches and state.year < EDITION.years):
            apply(state, rng.choice(state.legal))
            continue
        search = searches[state.seat]
        action = search.choose(worlds_of(state, rng), state.legal, rng, 2, 0.0)
        apply(state, action)  # which refuses what is not legal
    assert decisions > 50


@pytest.mark.parametrize("switches", others_long(SWITCHES, 3), ids=str)
def test_it_repeats_itself_exactly(switches):
    first, other = state_after("pro+gifts", 3, LATE), state_after("pro+gifts", 3, LATE + 3)
    settings = TreeSettings(**{**QUICK, **switches})
    runs = []
    for _ in range(2):
        search = TreeSearch(first.rules, settings)
        answers = [choose(search, state, 12) for state in (first, other)]
        tree = [
            [(str(edge.action), edge.visits, edge.total) for edge in node.edges.values()]
            for node in search.nodes.values()
        ]
        runs.append((answers, tree, search.playouts))
    assert runs[0] == runs[1]
    assert runs[0][2] == 24


def test_it_ends_at_its_deadline(monkeypatch):
    """Every look at the clock takes a tenth of the time that is left."""
    looks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: 5.0 + next(looks) / 10)
    state = state_after("basic", 2, 20)
    search = TreeSearch(state.rules)
    rng = random.Random(1)
    search.choose(worlds_of(state, rng), state.legal, rng, 10**12, 6.0)
    assert next(looks) == 11
    assert search.playouts


@pytest.mark.parametrize("kind", [TreeSearch, TurnSearch])
def test_no_time_still_gives_the_best_action_by_price(kind):
    state = state_after("basic", 2, 20)
    search = kind(state.rules)
    rng = random.Random(1)
    action = search.choose(worlds_of(state, rng), state.legal, rng, 10**12, 1e-9)
    assert action is GreedyPolicy(state.rules).choose(state, rng)
    assert search.playouts == 0


def test_states_that_the_seat_cannot_tell_apart_get_the_same_choice():
    state = state_after("pro+gifts+genie", 3, LATE)
    seen = view(state, state.seat)
    other = determinize(seen, random.Random(7))
    assert other.hands != state.hands
    assert view(other, other.seat) == seen
    for search in (TreeSearch, TurnSearch):
        assert choose(search(state.rules), state, 24) is choose(search(state.rules), other, 24)


# What the switches say.


@pytest.mark.parametrize(
    ("leaf", "opponents"),
    others_long([("horizon", "greedy"), ("estimate", "paranoid"), ("rank", "max-n")], 3),
)
def test_it_finds_the_only_move_that_wins(leaf, opponents):
    state = state_after(*WINNING)
    search = TreeSearch(state.rules, TreeSettings(leaf=leaf, opponents=opponents, prior=0.5))
    choice = choose(search, state, 150)
    assert str(choice) == WINNER
    assert choice is not GreedyPolicy(state.rules).choose(state, random.Random(1))


HURTS, HELPS = "extend 1 white window gold", "extend 2 red trunk"


def last_decision() -> State:
    """Return a world in which seat 2 decides last: one action hurts seat 0 most, the other helps
    seat 2 most.
    """
    state, _ = new_match(Rules(EDITION, parse_rule_sets("basic"), 3), Deal(SECRET))
    rng = random.Random(6724)
    for _ in range(168):
        apply(state, rng.choice(state.legal))
    assert [str(action) for action in state.legal] == [HELPS, HURTS]
    return state


@pytest.mark.parametrize(("opponents", "answer"), [("paranoid", HURTS), ("max-n", HELPS)])
def test_opponents_decide_as_their_name_says(opponents, answer):
    state = last_decision()
    search = TreeSearch(state.rules, TreeSettings(opponents=opponents, prior=0, scale=0))
    for number in range(200):
        search.ponder(state.copy(LabelShuffler(number)), 0, random.Random(1))
    edges = root_of(search).edges.values()
    assert str(max(edges, key=lambda edge: edge.visits).action) == answer
    assert {edge.seat for edge in edges} == {2}


# The tree that is kept.


def following(search: TreeSearch, state: State) -> State:
    """Search a decision and carry out the choice; return the state, in which the seat goes on."""
    seat = state.seat
    action = choose(search, state, 80)
    apply(state, action)
    assert state.seat == seat
    return state


def test_what_is_kept_was_found_at_the_same_decision():
    state = state_after("basic", 2, 20)
    search = TreeSearch(state.rules, TreeSettings(turns=1))
    following(search, state)
    before = {key: node.visits for key, node in search.nodes.items()}
    choose(search, state, 10)
    seen = view(state, state.seat)
    decided = (seen.public, seen.private, decision(state))
    assert before[decided] > 10
    assert search.nodes[decided].visits == before[decided] + 10


def test_the_number_of_nodes_is_bounded():
    state = state_after("basic", 2, 20)
    search = TreeSearch(state.rules, TreeSettings(**QUICK))
    spare = Node(99_000)
    search.nodes = {((number,), (), ()): spare for number in range(MOST_NODES)}  # type: ignore[misc]
    choose(search, state, 5)
    assert len(search.nodes) == MOST_NODES + 1  # with the root
    assert search.playouts == 5


@pytest.mark.parametrize(
    "switches",
    [
        {"determinizations": -1},
        {"opponents": "kind"},
        {"leaf": "x"},
        {"final": ""},
        {"widening": -0.1},
        {"widening": float("nan")},
        {"exploration": float("inf")},
        {"candidates": 0},
    ],
)
def test_switches_are_checked(switches):
    (name,) = switches
    with pytest.raises(ValueError, match=f"^{name} is "):
        TreeSettings(**switches)


# Pondering.


def test_what_was_pondered_counts_in_one_decision():
    state = state_after("basic", 2, 20)
    while state.kind is not DecisionKind.SPACE:
        apply(state, state.legal[0])
    search = TurnSearch(state.rules)
    favourite = state.legal[3]
    search.pondered = {favourite: [5.0, 5e9]}
    assert choose(search, state, 20) is favourite
    assert not search.pondered
    assert choose(search, state, 20) is not favourite
