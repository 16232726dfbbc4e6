"""Who plays whom, in which seats, by which rules, in which order. Pure.

The unit is the deal block: one group of entries that fills a table, by one set of rules, in every
seat order that is required. Each entry sits in each seat equally often in it. The matches of a
mirrored block all have one deal; else each has its own (see `asara_server.deals`). A block is not
mirrored where one of its entries could know a deal again.

Either every group of entries is a block, for each kind of table, in every round. Or there are so
many blocks per entry, and `asara_server.tournament.balance` tells which.

The order is even: kinds of tables progress side by side, within a kind every entry plays about
equally often in any stretch, and the matches of a block follow each other. A run that is cut short
still compares.
"""

import hashlib
import hmac
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, permutations
from math import comb, factorial
from random import Random
from typing import NamedTuple, TypeVar

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.fields import Orders
from asara_server.tournament.schedule.balance import (
    balanced_count,
    balanced_groups,
    even_groups,
    meetings,
)

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """A match to be played."""

    match_id: str
    """Such as `r1-pro+gifts-0007-2`: its block, and its place in it."""
    round: int
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Names by seat."""
    block: str = ""
    """Name of its deal block, such as `r1-pro+gifts-0007`: round, rules, and its place among these.

    Empty for a match that stands alone."""
    mirrored: bool = False
    """Whether all matches of the block have one deal."""

    @property
    def deal_block(self) -> str:
        """The name of its block; a match that is of none is one of its own."""
        return self.block or self.match_id


@dataclass(frozen=True, slots=True)
class TableKind:
    """Blocks that differ only in who plays."""

    seats: int
    rule_sets: frozenset[RuleSet]
    blocks: int
    """In all rounds together."""
    matches: int


class Span(NamedTuple):
    """The least and the most."""

    least: int
    most: int


class Balance(NamedTuple):
    """How even the blocks of one kind of table are."""

    blocks_per_entry: Span
    meetings_per_pair: Span
    """Blocks that two entries have in common."""


def seat_orders(seats: int, orders: Orders) -> int:
    """How many matches a block has."""
    return seats if orders == "rotations" else factorial(seats)


def table_kinds(
    entries: int,
    seats: Sequence[int],
    rule_sets: Sequence[frozenset[RuleSet]],
    *,
    rounds: int = 1,
    blocks_per_entry: int | None = None,
    orders: Orders = "rotations",
) -> list[TableKind]:
    """How many blocks and matches of which kind `list_matches` gives, without listing them."""
    blocks = {
        k: comb(entries, k)
        if blocks_per_entry is None
        else balanced_count(entries, k, blocks_per_entry)
        for k in seats
    }
    return [
        TableKind(k, rules, rounds * blocks[k], rounds * blocks[k] * seat_orders(k, orders))
        for rules in rule_sets
        for k in seats
    ]


def balance(
    entries: int, seats: int, *, rounds: int = 1, blocks_per_entry: int | None = None
) -> Balance:
    """How even the blocks of each kind of table with so many seats are."""
    if blocks_per_entry is None:
        each = rounds * comb(entries - 1, seats - 1)
        together = rounds * comb(entries - 2, seats - 2)
        return Balance(Span(each, each), Span(together, together))
    groups = balanced_groups(entries, seats, blocks_per_entry)
    turns = [0] * entries
    for group in groups:
        for entry in group:
            turns[entry] += 1
    met = [number for one, row in enumerate(meetings(entries, groups)) for number in row[:one]]
    return Balance(Span(min(turns), max(turns)), Span(min(met), max(met)))


def list_matches(
    entries: Sequence[str],
    seats: Sequence[int],
    rule_sets: Sequence[frozenset[RuleSet]],
    *,
    rounds: int = 1,
    blocks_per_entry: int | None = None,
    orders: Orders = "rotations",
    mirrored: bool = False,
    never_mirrored: Collection[str] = (),
) -> list[ScheduledMatch]:
    """All matches, in the order of play.

    Without `blocks_per_entry` every group of entries is a block, for each kind of table, in every
    round. Blocks with an entry that is `never_mirrored` have a deal for each match in any case.
    """
    kinds = [(rules, k) for rules in rule_sets for k in seats]
    if blocks_per_entry is None:
        groups = [_all_groups(entries, k, i / len(kinds)) for i, (_, k) in enumerate(kinds)]
    else:
        groups = _balanced(entries, [k for _, k in kinds], blocks_per_entry)
    apart = frozenset(never_mirrored)

    def one_deal(group: tuple[str, ...]) -> bool:
        return mirrored and apart.isdisjoint(group)

    return [
        match
        for number in range(1, rounds + 1)
        for match in _one_round(number, kinds, groups, orders, one_deal)
    ]


def rotated(
    entries: Sequence[str],
    rule_sets: frozenset[RuleSet],
    matches: int | None,
    *,
    mirrored: bool = False,
) -> Iterator[ScheduledMatch]:
    """So many matches of one table, or without end; everybody moves one seat on after each.

    Each stands alone, or where `mirrored` belongs to the block of those in which everybody sits
    once in each seat.
    """
    rules = format_rule_sets(rule_sets)
    for index in count() if matches is None else range(matches):
        number, turn = index // len(entries) + 1, index % len(entries)
        block = f"r{number}-{rules}-{number:04}" if mirrored else ""
        match_id = f"{block}-{turn + 1}" if mirrored else f"r{number}-{rules}-{index + 1:04}"
        yield ScheduledMatch(match_id, number, rule_sets, _rotate(entries, turn), block, mirrored)


def bot_seed(seed: str, entry: str) -> int:
    """The number a bot may derive its dice from; 63 bits. It tells nothing of any deal.

    It is the same in all matches of the run, so that it does not tell those of a block either.
    """
    label = f"asara/tournament/bot/{entry}".encode()
    return int.from_bytes(hmac.digest(seed.encode(), label, hashlib.sha256)[:8]) >> 1


_Groups = list[tuple[str, ...]]


def _all_groups(entries: Sequence[str], seats: int, start: float) -> _Groups:
    names = _rotate(entries, int(start * len(entries)))  # kinds do not start alike
    return [tuple(names[i] for i in group) for group in even_groups(len(entries), seats)]


def _balanced(entries: Sequence[str], seats: Sequence[int], blocks_per_entry: int) -> list[_Groups]:
    """Groups for each kind of table. Entries take turns in playing once more than the others."""
    found = []
    names = list(entries)
    for kind, k in enumerate(seats):
        groups = balanced_groups(len(entries), k, blocks_per_entry)
        turns = [0] * len(entries)
        for group in groups:
            for i in group:
                turns[i] += 1
        # Who plays more comes first; the others follow in a thrown order, always the same one, so
        # that two entries that never meet at one kind of table do at another.
        dice = Random(kind)
        order = sorted(range(len(entries)), key=lambda i: (-turns[i], dice.random()))
        named = dict(zip(order, names, strict=True))
        found.append([tuple(named[i] for i in group) for group in groups])
        extra = sum(times > blocks_per_entry for times in turns)
        names = [*names[extra:], *names[:extra]]
    return found


def _one_round(
    number: int,
    kinds: Sequence[tuple[frozenset[RuleSet], int]],
    groups: Sequence[_Groups],
    orders: Orders,
    one_deal: Callable[[tuple[str, ...]], bool],
) -> Iterator[ScheduledMatch]:
    places = sorted(
        ((index + 0.5) / len(groups[kind]), kind, index)
        for kind in range(len(kinds))
        for index in range(len(groups[kind]))
    )
    width = max(4, len(str(len(places))))
    counts = dict.fromkeys((rules for rules, _ in kinds), 0)
    for _, kind, index in places:
        rules, _ = kinds[kind]
        counts[rules] += 1
        block = f"r{number}-{format_rule_sets(rules)}-{counts[rules]:0{width}}"
        mirrored = one_deal(groups[kind][index])
        tables = list(_seatings(groups[kind][index], orders))
        digits = len(str(len(tables)))
        for place, table in enumerate(tables, start=1):
            match_id = f"{block}-{place:0{digits}}"
            yield ScheduledMatch(match_id, number, rules, table, block, mirrored)


def _seatings(group: tuple[str, ...], orders: Orders) -> Iterator[tuple[str, ...]]:
    if orders == "all":
        yield from permutations(group)
    else:
        yield from (_rotate(group, turn) for turn in range(len(group)))


def _rotate(items: Sequence[_Item], turn: int) -> tuple[_Item, ...]:
    turn %= len(items)
    return (*items[turn:], *items[:turn])
