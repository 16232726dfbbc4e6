"""Information-set Monte Carlo tree search from one seat's point of view.

A node of the tree stands for a decision and everything that the seat knows at this decision. States
that the seat cannot tell apart share a node. Each iteration descends through the nodes in one
sampled world by upper confidence bounds, adds one node, and passes the value of the leaf up. If
actions are not legal in every world of a node, they are compared by how often they were available.
The actions of the root decision are compared in the same worlds, because worlds differ more than
actions: the n-th iteration of each action uses the n-th world.

Source: P. I. Cowling, E. J. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search"
(2012). This is its single-observer form.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from asara_game.actions import Action
from asara_game.engine import decision
from asara_game.events import Event
from asara_game.moves import HANDLERS
from asara_game.rules import Rules
from asara_game.state import Decision, State
from asara_game.view import PrivateView, PublicView, private_view, public_view
from asara_game.vocabulary import DecisionKind

from .evaluation import Weights
from .playout import LabelShuffler
from .search_base import Search, SearchSettings

__all__ = ["FINALS", "LEAVES", "MOST_NODES", "OPPONENTS", "TreeSearch", "TreeSettings"]

OPPONENTS: Final = ("greedy", "paranoid", "max-n")
LEAVES: Final = ("horizon", "estimate", "rank")
FINALS: Final = ("visits", "value")
MOST_NODES: Final = 20_000
"""Maximum number of nodes in the tree; each takes about 3.5 KiB."""
_SPACE: Final = DecisionKind.SPACE
_MOST_WORLDS: Final = 1000
"""Maximum number of worlds kept for a decision; each takes about 6 KiB."""
_RANK_LEAD: Final = 10.0
"""Lead, in prestige, that the first rank stands for if ranks decide; the last stands for -10."""

_Key = tuple[PublicView, PrivateView, Decision]


@dataclass(frozen=True)
class TreeSettings(SearchSettings):
    """The switches of a tree search. Raises ValueError for a value out of range.

    The switches of `SearchSettings` limit the actions of each node and the playouts from the
    leaves.
    """

    determinizations: int = 0
    """Number of worlds that each action of a decision is tried out in, one after the other; 0
    stands for at most 1,000."""
    opponents: str = "greedy"
    """`greedy`: the policy answers for the others, and the tree has the seat's own decisions only;
    `paranoid`: the others minimise the seat's value; `max-n`: each maximises its own."""
    leaf: str = "horizon"
    """Value of a leaf. `horizon`: the policy plays on up to the horizon of `turns` and `years`, and
    the evaluation prices the state there; `estimate`: it prices the leaf itself; `rank`: the policy
    plays on to the end of the match, and the rank counts."""
    widening: float = 0.0
    """Actions of a node for each square root of its visits (progressive widening), in the order of
    the policy's prices; 0 admits all candidates from the beginning."""
    exploration: float = 5.0
    """Weight of uncertainty, in prestige."""
    reuse: bool = True
    """True to keep the part of the tree that is still ahead from one decision to the next."""
    final: str = "visits"
    """Final choice: the action with the most `visits`, or with the highest `value`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.determinizations <= 1_000_000:
            raise ValueError(f"determinizations is {self.determinizations}; use 0 to 1,000,000")
        for name, value, known in (
            ("opponents", self.opponents, OPPONENTS),
            ("leaf", self.leaf, LEAVES),
            ("final", self.final, FINALS),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; use {', '.join(known)}")
        if not 0 <= self.widening <= 1000:
            raise ValueError(f"widening is {self.widening}; use 0 to 1,000")
        if not 0 <= self.exploration <= 1000:
            raise ValueError(f"exploration is {self.exploration}; use 0 to 1,000")


class Edge:
    """An action of a node, with its statistics."""

    def __init__(self, action: Action, seat: int) -> None:
        self.action = action
        self.seat = seat
        """Seat that decides."""
        self.visits = 0
        self.available = 0
        """Number of visits to the node in which the action was a candidate."""
        self.total = 0.0
        """Sum of the values for the deciding seat."""


class Node:
    """What the searching seat knows at a decision."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        """Number of the turn within the match, to find nodes of the past."""
        self.visits = 0
        self.edges: dict[Action, Edge] = {}


class TreeSearch(Search):
    """A tree search of one seat's decisions.

    With `reuse`, a tree starts with the values found in earlier calls, for states in which the seat
    knows exactly what it knows now.
    """

    def __init__(
        self,
        rules: Rules,
        settings: TreeSettings | None = None,
        policy_weights: Weights | None = None,
    ) -> None:
        chosen = TreeSettings() if settings is None else settings
        super().__init__(rules, chosen, policy_weights)
        self.determinizations = chosen.determinizations
        self.greedy = chosen.opponents == "greedy"
        self.paranoid = chosen.opponents == "paranoid"
        self.estimate = chosen.leaf == "estimate"
        self.rank = chosen.leaf == "rank"
        self.widening = chosen.widening
        self.exploration = chosen.exploration
        self.reuse = chosen.reuse
        self.by_value = chosen.final == "value"
        self.nodes: dict[_Key, Node] = {}
        """The tree: nodes by what the seat knows."""

    def choose(
        self,
        sample: Callable[[], State],
        legal: Sequence[Action],
        rng: random.Random,
        iterations: int,
        deadline: float,
    ) -> Action:
        """Return the best of the legal actions (see `Search.choose`).

        Without a deadline, repeating the same calls with a new search gives the same results.
        """
        worlds = [sample()]
        seeds = [rng.getrandbits(40)]
        seat = worlds[0].seat
        actions = self.shortlist(worlds[0], legal, rng)
        if len(actions) == 1:
            return actions[0]
        prices = self.priors
        root = self._root(worlds[0], seat)
        tries: dict[Action, int] = {}
        for _ in range(iterations):
            if deadline and time.perf_counter() >= deadline:
                break
            edge = self._select(root, seat, actions, prices)
            place = tries.get(edge.action, 0)
            tries[edge.action] = place + 1
            place %= self.determinizations or _MOST_WORLDS
            if place == len(worlds):
                worlds.append(sample())
                seeds.append(rng.getrandbits(40))
            self._iterate(worlds[place].copy(LabelShuffler(seeds[place])), seat, edge)
        return self._best(root, actions, prices)

    def ponder(self, world: State, seat: int, rng: random.Random) -> None:
        """Grow the tree from a world in which other seats decide first."""
        if self.reuse:
            self._iterate(world, seat, None)

    def _root(self, world: State, seat: int) -> Node:
        """Return the node of a decision, and drop nodes that cannot follow it."""
        key = (public_view(world), private_view(world, seat), decision(world))
        turn = _turn(world)
        if self.reuse:
            self.nodes = {k: node for k, node in self.nodes.items() if node.turn >= turn}
        else:
            self.nodes = {}
        root = self.nodes.get(key)
        if root is None:
            root = self.nodes[key] = Node(turn)
        return root

    def _best(self, root: Node, actions: Sequence[Action], prices: Sequence[float]) -> Action:
        best = actions[0]
        top = -1e18
        total = 0.0
        for tried in root.edges.values():
            total += tried.total
        mean = total / max(1, root.visits)
        for place in range(len(actions)):
            edge = root.edges.get(actions[place])
            if edge is None or not edge.visits:
                continue
            score = float(edge.visits)
            if self.by_value:
                score = self._worth_of(edge, mean, prices[place] - prices[0])
            if score > top:
                top = score
                best = actions[place]
        return best

    # One iteration.

    def _iterate(self, state: State, seat: int, start: Edge | None) -> None:
        """Descend in a world, changing it, and pass the value of the leaf up.

        `start` is the first edge if it is already selected.
        """
        self.playouts += 1
        year = state.year + self.years
        turns = self.turns
        path: list[Edge] = []
        events: list[Event] = []
        first = True
        if start is not None:
            first = False
            path.append(start)
            HANDLERS[state.kind](state, start.action, events)
            events.clear()
        while state.seat >= 0 and state.year < year:
            if state.kind is _SPACE and not first:
                if turns <= 0:
                    break
                turns -= 1
            legal = state.legal
            if len(legal) == 1:
                action = legal[0]
            elif self.greedy and state.seat != seat:
                action = self.policy.choose(state, self._rng)
            else:
                node = self._node(state, seat)
                if node is None:
                    if state.kind is _SPACE and not first:
                        turns += 1  # the playout counts this turn
                    break
                actions = self.shortlist(state, state.legal)
                edge = self._select(node, state.seat, actions, self.priors)
                action = edge.action
                path.append(edge)
            first = False
            HANDLERS[state.kind](state, action, events)
            events.clear()
        self._pass_up(path, self._leaf_values(state, year, turns), seat)

    def _node(self, state: State, seat: int) -> Node | None:
        """Return the node of a state; None if the node is new or the tree is full."""
        key = (public_view(state), private_view(state, seat), decision(state))
        node = self.nodes.get(key)
        if node is None and len(self.nodes) < MOST_NODES:
            self.nodes[key] = Node(_turn(state))
        return node

    def _select(
        self, node: Node, seat: int, actions: Sequence[Action], prices: Sequence[float]
    ) -> Edge:
        """Return the edge with the highest upper confidence bound for the deciding seat.

        The policy's price of an action counts as `prior` playouts. Their values differ from the
        mean of the node by as much as the prices differ.
        """
        node.visits += 1
        allowed = len(actions)
        if self.widening:
            allowed = min(allowed, 1 + int(self.widening * math.sqrt(node.visits)))
        total = 0.0
        tries = 0
        edges: list[Edge] = []
        for place in range(allowed):
            edge = node.edges.get(actions[place])
            if edge is None:
                edge = node.edges[actions[place]] = Edge(actions[place], seat)
            edge.available += 1
            total += edge.total
            tries += edge.visits
            edges.append(edge)
        mean = total / tries if tries else 0.0
        best = edges[0]
        top = -1e18
        for place in range(allowed):
            edge = edges[place]
            score = self._worth_of(edge, mean, prices[place] - prices[0])
            score += self.exploration * math.sqrt(math.log(edge.available) / (edge.visits + 1))
            if score > top:
                top = score
                best = edge
        return best

    def _worth_of(self, edge: Edge, mean: float, price: float) -> float:
        """Return the value of an edge, from its mean value and its price.

        `mean` is the mean of the node; `price` is relative to the best action.
        """
        count = edge.visits + self.prior
        return (edge.total + self.prior * (mean + price)) / count if count else mean

    def _leaf_values(self, state: State, year: int, turns: int) -> list[float]:
        """Return the value of a leaf for each seat."""
        seats = self.estimator.seats
        if self.rank:
            self.play_on(state, 1000, 1_000_000)
            return [_rank_value(state.prestige, seat) for seat in range(seats)]
        if not self.estimate:
            self.play_on(state, year, turns)
        prestige = self.expected(state)
        return [self.advantage(prestige, seat) for seat in range(seats)]

    def _pass_up(self, path: Sequence[Edge], values: Sequence[float], seat: int) -> None:
        value = values[seat]
        for edge in path:
            edge.visits += 1
            if edge.seat == seat:
                edge.total += value
            elif self.paranoid:
                edge.total -= value
            else:
                edge.total += values[edge.seat]


def _turn(state: State) -> int:
    """Return a number that increases with every turn of a match."""
    turn = state.year * 1000
    for dispatched in state.dispatched:
        turn += len(dispatched)
    return turn


def _rank_value(prestige: Sequence[int], seat: int) -> float:
    """Return _RANK_LEAD for a sole winner and minus _RANK_LEAD for a sole last; ties share."""
    balance = 0
    for other in range(len(prestige)):
        if prestige[other] < prestige[seat]:
            balance += 1
        elif prestige[other] > prestige[seat]:
            balance -= 1
    return _RANK_LEAD * balance / (len(prestige) - 1)
