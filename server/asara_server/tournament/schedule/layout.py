"""The layout of a schedule: which entries sit at the tables of each block, by number. Pure.

`schedule` turns the layout into matches with names and rules.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import comb, factorial
from random import Random
from typing import Any, NamedTuple, Self, TypeVar

from asara_game.vocabulary import RuleSet
from asara_server.tournament.config.fields import (
    DEFAULT_TABLES,
    BlockKind,
    Orders,
    tables_per_block,
    team_numbers,
)
from asara_server.tournament.schedule.blocks import (
    Block,
    balanced_count,
    balanced_groups,
    block_sizes,
    circle_blocks,
    disjoint_blocks,
    even_groups,
    gathered,
    meetings,
)

_FREE = -1

_Node = list[int]
"""For each seat, the node at the other end of the edge with this seat; _FREE without an edge."""


def seated(tables: Iterable[Sequence[int]], k: int) -> list[tuple[int, ...]]:
    """Return the same tables in the same order, with each table's entries in seat order.

    Count each entry's tables in groups of k, starting at its first table: within each group, the
    entry sits in each seat once. Overall, its seat counts thus differ by at most one. This is an
    edge colouring (König 1916) with seats as colours. Tables are on one side of a bipartite graph,
    and the groups of k tables of each entry on the other. A bipartite graph with at most k edges
    per node needs only k colours: exchanging two colours along a path makes room for one more edge.
    """
    own: list[_Node] = []
    parts: dict[tuple[int, int], int] = {}
    others: list[_Node] = []
    entry_of: list[int] = []
    played: Counter[int] = Counter()
    for number, table in enumerate(tables):
        own.append([_FREE] * k)
        for entry in table:
            part = parts.setdefault((entry, played[entry] // k), len(others))
            if part == len(others):
                others.append([_FREE] * k)
                entry_of.append(entry)
            played[entry] += 1
            _seat(own, others, number, part)
    return [tuple(entry_of[part] for part in table) for table in own]


def _seat(own: list[_Node], others: list[_Node], table: int, part: int) -> None:
    """Add the edge between a table and one of an entry's groups of tables."""
    mine, theirs = own[table], others[part]
    for seat, held in enumerate(mine):
        if held == _FREE and theirs[seat] == _FREE:
            mine[seat], theirs[seat] = part, table
            return
    seat, other = mine.index(_FREE), theirs.index(_FREE)
    # Exchange the two seats along the path that begins at the part; it cannot end at the table.
    path = []
    sides, node, here, there = (others, own), part, seat, other
    while (following := sides[0][node][here]) != _FREE:
        path.append((sides, node, following, here, there))
        sides, node, here, there = sides[::-1], following, there, here
    for (near, far), one, two, before, _ in path:
        near[one][before] = far[two][before] = _FREE
    for (near, far), one, two, _, after in path:
        near[one][after], far[two][after] = two, one
    mine[seat], theirs[seat] = part, table


_Item = TypeVar("_Item")

_SHUFFLES = 50
"""Orders of the entries that are tried, to spread their blocks evenly over kinds of tables."""


@dataclass(frozen=True, slots=True)
class TableKind:
    """The blocks with the same number of seats and the same rule sets."""

    seats: int
    rule_sets: frozenset[RuleSet]
    blocks: int
    """Number of blocks, over all rounds."""
    matches: int


class Span(NamedTuple):
    """Minimum and maximum."""

    least: int
    most: int


class Balance(NamedTuple):
    """How evenly the blocks of one kind of table are spread."""

    blocks_per_entry: Span
    meetings_per_pair: Span
    """Number of blocks in which two entries of different teams meet at a table."""
    pairs_apart: int
    """Number of pairs that never meet because they are team-mates."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that decides which entries play each other, except the kinds of tables.

    A block of one group has one match per seat order. A duplicate block has one match per table. In
    each round, every kind of block has the same number of matches: one per group and seat order.
    """

    teams: tuple[str, ...]
    """Team of each entry; "" for entries without a team."""
    rounds: int = 1
    blocks_per_entry: int | None = None
    """None if every group plays in every round."""
    orders: Orders = "rotations"
    blocks: BlockKind = "independent"
    tables: int = DEFAULT_TABLES
    """Maximum number of tables in a duplicate block."""

    @classmethod
    def of(cls, teams: tuple[str, ...], own: Any) -> Self:
        """Return the layout of a tournament; `own` is its file or its manifest.

        Both have the settings of the same names.
        """
        return cls(teams, own.rounds, own.blocks_per_entry, own.orders, own.blocks, own.tables)

    @property
    def entries(self) -> int:
        return len(self.teams)

    @property
    def has_teams(self) -> bool:
        """True if some entries may not meet."""
        return len(set(team_numbers(self.teams))) < self.entries

    def groups(self, seats: int) -> int:
        """Return the number of groups that can fill a table without two team-mates."""
        ways = [1] + [0] * seats
        for size in Counter(team_numbers(self.teams)).values():
            for k in range(seats, 0, -1):
                ways[k] += ways[k - 1] * size
        return ways[seats]


def table_kinds(
    layout: Layout, seats: Sequence[int], rule_sets: Sequence[frozenset[RuleSet]]
) -> list[TableKind]:
    """Count the blocks and matches of each kind of table, without listing them."""
    sizes = {k: _size(layout, k) for k in seats}
    return [
        TableKind(k, rules, *(layout.rounds * number for number in sizes[k]))
        for rules in rule_sets
        for k in seats
    ]


def balance(layout: Layout, seats: int) -> Balance:
    """Return how evenly the blocks of each kind of table with this number of seats are spread."""
    if not layout.has_teams and layout.blocks_per_entry is None and layout.blocks != "duplicate":
        each = layout.rounds * comb(layout.entries - 1, seats - 1)
        together = layout.rounds * comb(layout.entries - 2, seats - 2)
        return Balance(Span(each, each), Span(together, together), 0)
    groups = _groups_met(layout, blocks_of(layout, seats))
    met = meetings(layout.entries, groups)
    teams = team_numbers(layout.teams)
    apart = [
        layout.rounds * number
        for one, row in enumerate(met)
        for other, number in enumerate(row[:one])
        if teams[one] != teams[other]
    ]
    had = [layout.rounds * times for times in _turns(layout, groups)]
    never = layout.entries * (layout.entries - 1) // 2 - len(apart)
    return Balance(Span(min(had), max(had)), Span(min(apart), max(apart)), never)


def names_by_kind(
    entries: Sequence[str], layout: Layout, kinds: Sequence[Sequence[Block]]
) -> list[Sequence[str]]:
    """Return the entry name for each entry number, for each kind of table.

    The names are shifted from kind to kind, so that different entries get the extra blocks.
    """
    if layout.has_teams:
        return _names_by_team(entries, layout, kinds)
    if layout.blocks_per_entry is None:
        return [rotate(entries, i * len(entries) // len(kinds)) for i in range(len(kinds))]
    found: list[Sequence[str]] = []
    names = list(entries)
    for kind, blocks in enumerate(kinds):
        turns = _turns(layout, _groups_met(layout, blocks))
        # Entries with an extra block come first; the others follow in a fixed random order, so that
        # two entries that never meet at one kind of table meet at another.
        rng = Random(kind)
        order = sorted(range(len(entries)), key=lambda i: (-turns[i], rng.random()))
        named = dict(zip(order, names, strict=True))
        found.append([named[i] for i in range(len(entries))])
        extra = sum(times > min(turns) for times in turns)
        names = [*names[extra:], *names[:extra]]
    return found


def _names_by_team(
    entries: Sequence[str], layout: Layout, kinds: Sequence[Sequence[Block]]
) -> list[Sequence[str]]:
    """Return the names in a new order with unchanged teams: only equal-sized teams swap."""
    members: dict[int, list[int]] = {}
    for entry, team in enumerate(team_numbers(layout.teams)):
        members.setdefault(team, []).append(entry)
    so_far = [0] * len(entries)
    found: list[Sequence[str]] = []
    for kind, blocks in enumerate(kinds):
        turns = _turns(layout, _groups_met(layout, blocks))
        best: tuple[int, list[int]] | None = None
        for shuffle in range(_SHUFFLES):
            order = _team_order(members, Random(kind * _SHUFFLES + shuffle))
            cost = sum((so_far[order[i]] + times) ** 2 for i, times in enumerate(turns))
            if best is None or cost < best[0]:
                best = cost, order
        assert best is not None
        for i, times in enumerate(turns):
            so_far[best[1][i]] += times
        found.append([entries[entry] for entry in best[1]])
    return found


def _team_order(members: dict[int, list[int]], rng: Random) -> list[int]:
    """Return the entries in another order, in which team-mates are still team-mates."""
    order: dict[int, int] = {}
    for size in {len(own) for own in members.values()}:
        teams = [own for own in members.values() if len(own) == size]
        for own, other in zip(teams, rng.sample(teams, len(teams)), strict=True):
            order.update(zip(own, rng.sample(other, size), strict=True))
    return [order[entry] for entry in sorted(order)]


def _groups_met(layout: Layout, blocks: Iterable[Block]) -> list[tuple[int, ...]]:
    """Return the groups of entries that meet in these blocks, once for each meeting."""
    if layout.blocks == "duplicate":
        return [table for block in blocks for table in block]
    return [block[0] for block in blocks]


def _turns(layout: Layout, groups: Iterable[Sequence[int]]) -> list[int]:
    """Return each entry's number of groups."""
    turns = Counter(entry for group in groups for entry in group)
    return [turns[entry] for entry in range(layout.entries)]


def seat_orders(seats: int, orders: Orders) -> int:
    """Return the number of matches in a block with one group."""
    return seats if orders == "rotations" else factorial(seats)


def _size(layout: Layout, seats: int) -> tuple[int, int]:
    """Return the numbers of blocks and of matches in one round of a kind of table."""
    if layout.blocks != "duplicate":
        groups = layout.groups(seats)
        if layout.blocks_per_entry is not None:
            groups = balanced_count(layout.entries, seats, layout.blocks_per_entry)
        return groups, groups * seat_orders(seats, layout.orders)
    count = _table_count(layout, seats)
    tables = _most_tables(layout, seats)
    if not _in_circle(layout, seats):
        sizes = list(block_sizes(count, tables))
        return len(sizes), sum(sizes)
    stage = layout.entries // 2
    return count // stage * len(list(block_sizes(stage, tables))), count


def _table_count(layout: Layout, seats: int) -> int:
    """Return the number of tables in one round's duplicate blocks, without an added table."""
    if layout.blocks_per_entry is None:
        return layout.groups(seats) * seat_orders(seats, layout.orders)
    return balanced_count(layout.entries, seats, layout.blocks_per_entry)


def _most_tables(layout: Layout, seats: int) -> int:
    return tables_per_block(layout.teams, seats, layout.tables)


def _in_circle(layout: Layout, seats: int) -> bool:
    """Return True if the circle method makes the duplicate blocks."""
    whole_stages = layout.blocks_per_entry is None or layout.entries % 2 == 0
    return seats == 2 and whole_stages and not layout.has_teams


def blocks_of(layout: Layout, seats: int, remote: frozenset[int] = frozenset()) -> Sequence[Block]:
    """Return the tables of each block of one round, with entries by seat.

    In duplicate blocks, the `remote` entries share one table of a block if possible.
    """
    if layout.blocks == "duplicate":
        return _duplicate_blocks(layout, seats, remote)
    return [tuple(_seatings(group, layout.orders)) for group in _groups(layout, seats)]


def _groups(layout: Layout, seats: int) -> Iterable[tuple[int, ...]]:
    """Return the groups of mirrored and independent blocks."""
    each, teams = layout.blocks_per_entry, team_numbers(layout.teams)
    if each is None:
        groups = even_groups(layout.entries, seats)
        return (group for group in groups if len({teams[entry] for entry in group}) == seats)
    return balanced_groups(teams, seats, each)


@lru_cache(maxsize=4)  # for all rule sets, and for the plan
def _duplicate_blocks(layout: Layout, seats: int, remote: frozenset[int]) -> list[Block]:
    count, tables = _table_count(layout, seats), _most_tables(layout, seats)
    teams = team_numbers(layout.teams)
    circle = _in_circle(layout, seats)
    blocks: Sequence[Block]
    if circle:
        blocks = circle_blocks(layout.entries, count, tables)
    else:
        blocks = disjoint_blocks(teams, seats, count, tables)
    if len(remote) > 1:
        blocks = tuple(gathered(blocks, remote, teams))
    placed = seated((table for block in blocks for table in block), seats)
    if circle:  # pairs that have met before meet again in the other seats
        latest: dict[frozenset[int], tuple[int, ...]] = {}
        for number, table in enumerate(placed):
            before = latest.get(frozenset(table))
            latest[frozenset(table)] = placed[number] = before[::-1] if before else table
    following = iter(placed)
    return [tuple(next(following) for _ in block) for block in blocks]


def _seatings(group: tuple[int, ...], orders: Orders) -> Iterator[tuple[int, ...]]:
    if orders == "all":
        yield from permutations(group)
    else:
        yield from (rotate(group, turn) for turn in range(len(group)))


def rotate(items: Sequence[_Item], turn: int) -> tuple[_Item, ...]:
    turn %= len(items)
    return (*items[turn:], *items[:turn])
