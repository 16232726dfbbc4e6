"""The schedule: groups of entries, their seats and rules, and the order of play. Pure.

The unit is the deal block: one group of entries that fills a table plays one combination of rule
sets in every required seat order, so that each entry sits in each seat equally often. The matches
of a mirrored block share one deal; otherwise each has its own (see `match.deal_secrets`). A block
is not mirrored if one of its entries could recognise a deal.

Either every group of entries is a block, for each kind of table, in every round; or each entry has
a given number of blocks, which `balance` selects.

The order is even: kinds of tables progress side by side, within a kind all entries play about
equally often in any stretch, and the matches of a block are consecutive. The standings of a run
that was cut short are therefore still a fair comparison.
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
    """A match of the schedule."""

    match_id: str
    """Block and number in the block, such as `r1-pro+gifts-0007-2`."""
    round: int
    rule_sets: frozenset[RuleSet]
    entries: tuple[str, ...]
    """Names of the entries, by seat."""
    block: str = ""
    """Round, rule sets and number of the deal block, such as `r1-pro+gifts-0007`.

    Empty for a match outside any block."""
    mirrored: bool = False
    """True if all matches of the block share one deal."""

    @property
    def deal_block(self) -> str:
        """Name of the deal block; a match outside any block is its own."""
        return self.block or self.match_id


@dataclass(frozen=True, slots=True)
class TableKind:
    """The blocks with the same number of seats and the same rule sets."""

    seats: int
    rule_sets: frozenset[RuleSet]
    blocks: int
    """Number of blocks in all rounds."""
    matches: int


class Span(NamedTuple):
    """Smallest and largest value."""

    least: int
    most: int


class Balance(NamedTuple):
    """Evenness of the blocks of one kind of table."""

    blocks_per_entry: Span
    meetings_per_pair: Span
    """Number of blocks in which two entries meet."""


def seat_orders(seats: int, orders: Orders) -> int:
    """Return the number of matches in a block."""
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
    """Return the numbers of blocks and matches of each kind, without listing them."""
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
    """Return the evenness of the blocks of each kind of table with this number of seats."""
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
    """Return all matches, in the order of play.

    Without `blocks_per_entry`, every group of entries is a block, for each kind of table, in every
    round. Each match of a block with an entry in `never_mirrored` has its own deal.
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
    """Yield this many matches of one table, or endlessly; entries move one seat on after each.

    If `mirrored`, the matches in which every entry sits once in each seat form a block; otherwise
    each match is outside any block.
    """
    rules = format_rule_sets(rule_sets)
    for index in count() if matches is None else range(matches):
        number, turn = index // len(entries) + 1, index % len(entries)
        block = f"r{number}-{rules}-{number:04}" if mirrored else ""
        match_id = f"{block}-{turn + 1}" if mirrored else f"r{number}-{rules}-{index + 1:04}"
        yield ScheduledMatch(match_id, number, rule_sets, _rotate(entries, turn), block, mirrored)


def bot_seed(seed: str, entry: str) -> int:
    """Return the 63-bit seed of an entry's bots; a strong `seed` cannot be found from it.

    It is the same in all matches of the run, so that it does not identify those of a block either.
    """
    label = f"asara/tournament/bot/{entry}".encode()
    return int.from_bytes(hmac.digest(seed.encode(), label, hashlib.sha256)[:8]) >> 1


_Groups = list[tuple[str, ...]]


def _all_groups(entries: Sequence[str], seats: int, start: float) -> _Groups:
    names = _rotate(entries, int(start * len(entries)))  # kinds do not start alike
    return [tuple(names[i] for i in group) for group in even_groups(len(entries), seats)]


def _balanced(entries: Sequence[str], seats: Sequence[int], blocks_per_entry: int) -> list[_Groups]:
    """Return groups for each kind of table; entries take turns in having one block more."""
    found = []
    names = list(entries)
    for kind, k in enumerate(seats):
        groups = balanced_groups(len(entries), k, blocks_per_entry)
        turns = [0] * len(entries)
        for group in groups:
            for i in group:
                turns[i] += 1
        # Entries with an extra block come first; the others follow in a fixed random order, so that
        # two entries that never meet at one kind of table meet at another.
        rng = Random(kind)
        order = sorted(range(len(entries)), key=lambda i: (-turns[i], rng.random()))
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
