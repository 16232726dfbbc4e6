"""Who plays whom, in which seats, by which rules, in which order. Pure.

Every group of entries that fills a table meets in every rotation of its seats, by every set of
rules, in every round. Each match has a deal of its own (see `asara_server.deals`).

The order is even: kinds of tables progress side by side, and within a kind every entry plays, and
sits in each seat, about equally often in any stretch. A run that is cut short still compares.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import comb
from typing import TypeVar

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Match:
    """A match to be played."""

    match_id: str
    """Such as `r1-pro+gifts-0007`: round, rules, and its place among these."""
    round: int
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Names by seat."""


@dataclass(frozen=True, slots=True)
class TableKind:
    """Matches that differ only in who sits where."""

    seats: int
    rule_sets: frozenset[RuleSet]
    matches: int
    """In all rounds together."""


def table_kinds(
    entries: int, seats: Sequence[int], rule_sets: Sequence[frozenset[RuleSet]], rounds: int
) -> list[TableKind]:
    """How many matches of which kind `round_robin` would list, without listing them."""
    return [
        TableKind(k, rules, rounds * k * comb(entries, k)) for rules in rule_sets for k in seats
    ]


def round_robin(
    entries: Sequence[str],
    seats: Sequence[int],
    rule_sets: Sequence[frozenset[RuleSet]],
    rounds: int,
) -> list[Match]:
    """All matches, in the order of play."""
    return [
        match
        for number in range(1, rounds + 1)
        for match in _one_round(number, entries, seats, rule_sets)
    ]


def rotated(
    entries: Sequence[str], rule_sets: frozenset[RuleSet], matches: int | None
) -> Iterator[Match]:
    """So many matches of one table, or without end; everybody moves one seat on after each."""
    rules = format_rule_sets(rule_sets)
    for index in count() if matches is None else range(matches):
        number = index // len(entries) + 1
        match_id = f"r{number}-{rules}-{index + 1:04}"
        yield Match(match_id, number, rule_sets, _rotate(entries, index))


def bot_seed(seed: str, entry: str) -> int:
    """The number a bot may derive its dice from; 63 bits. It tells nothing of any deal."""
    label = f"asara/tournament/bot/{entry}".encode()
    return int.from_bytes(hmac.digest(seed.encode(), label, hashlib.sha256)[:8]) >> 1


def _one_round(
    number: int,
    entries: Sequence[str],
    seats: Sequence[int],
    rule_sets: Sequence[frozenset[RuleSet]],
) -> Iterator[Match]:
    places: list[tuple[float, int, frozenset[RuleSet], tuple[str, ...]]] = []
    kinds = [(rules, k) for rules in rule_sets for k in seats]
    for kind, (rules, k) in enumerate(kinds):
        names = _rotate(entries, kind * len(entries) // len(kinds))  # kinds do not start alike
        groups = even_groups(len(entries), k)
        tables = [_rotate(group, turn) for turn in range(k) for group in groups]
        places.extend(
            ((index + 0.5) / len(tables), kind, rules, tuple(names[i] for i in table))
            for index, table in enumerate(tables)
        )
    places.sort(key=lambda place: place[:2])
    width = max(4, len(str(len(places))))
    counts = dict.fromkeys(rule_sets, 0)
    for _, _, rules, names in places:
        counts[rules] += 1
        match_id = f"r{number}-{format_rule_sets(rules)}-{counts[rules]:0{width}}"
        yield Match(match_id, number, rules, names)


def even_groups(n: int, k: int) -> list[tuple[int, ...]]:
    """All groups of `k` among `n`, so ordered that everybody's turns are spread evenly.

    Seen on a circle of n, groups of one shape follow each other, each one step on: within a shape
    everybody takes part, and stands at each place of the tuple, equally often.
    """
    groups: list[tuple[int, ...]] = []
    for shape in combinations(range(n), k):
        if shape[0] != 0:
            break  # every shape has a member that holds 0
        turned = [tuple(sorted((place - to) % n for place in shape)) for to in shape]
        if shape == min(turned):
            length = n // turned.count(shape)  # shorter for a shape that repeats on the circle
            groups.extend(tuple((place + step) % n for place in shape) for step in range(length))
    return groups


def _rotate(items: Sequence[_Item], turn: int) -> tuple[_Item, ...]:
    turn %= len(items)
    return (*items[turn:], *items[:turn])
