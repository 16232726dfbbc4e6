"""Blocks of tables: each entry sits at one table at most, and team-mates never share a block. Pure.

A duplicate block plays its tables at the same time, so no entry can sit at two of its tables. A
block also never has two entries of one team, which could tell each other about the deal. A group
of entries that plays alone is a block of one table. If a tournament does not play all groups,
`disjoint_blocks` chooses them.

For `count` tables of k among n entries, if the largest team is small enough (see
`config.fields`):

- The entries' numbers of tables differ by at most one; with teams, by at most two.
- Without teams, the numbers of meetings of any two pairs also differ by at most one, if the search
  finds such blocks, as it usually does. Otherwise they differ by two, or by three or four with very
  many entries or barely enough of them. This is not proven: `asara tournament plan` shows the
  numbers, and the tests try many sizes.
- With teams, team-mates never meet. An entry of a larger team has fewer opponents and meets each
  of them more often. The search makes the numbers of meetings as even as it can by minimising the
  sum of their squares.

For two seats without teams, duplicate blocks come from the circle method, in which all pairs meet
before any pair meets again.

The search is random with a fixed seed, so that equal arguments give equal blocks.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heapreplace
from itertools import combinations, takewhile
from math import comb, exp
from random import Random
from typing import Final

Table = tuple[int, ...]
Block = tuple[Table, ...]
_Block = list[list[int]]

_STEPS: Final = 300_000
"""Steps of the search; they take about a second."""
_HEAT: Final = 0.5
"""Initial temperature: changes that make the blocks worse by this amount are often accepted."""
_WITHIN: Final = 0.3
"""Share of the attempted swaps that stay within a block."""
_STAGES: Final = 2
"""Maximum distance of the two tables of a swap, as a multiple of the tables that seat all entries
once. The limit keeps the order even.
"""
_PRECISION: Final = 64
"""Integer steps that represent one table in a mean number of tables."""
_LONG: Final = 2_000
"""Maximum number of tables that cool down within _STEPS; longer schedules start cooler."""
_STRETCH: Final = 10_000
"""Number of blocks ordered at a time."""


def balanced_groups(teams: tuple[int, ...], k: int, blocks_per_entry: int) -> list[Table]:
    """Return groups of `k` entries, each entry in this number of groups, in an even order.

    If this would leave seats empty, fewer than k entries are in one more group. Without teams, all
    groups come before any group is repeated.
    """
    n = len(teams)
    times, rest = 0, blocks_per_entry
    if len(set(teams)) == n:
        times, rest = divmod(blocks_per_entry, comb(n - 1, k - 1))
    groups = even_groups(n, k) * times if times else []
    if rest:
        blocks = disjoint_blocks(teams, k, balanced_count(n, k, rest), 1)
        groups += [group for (group,) in blocks]
    return groups


def balanced_count(n: int, k: int, blocks_per_entry: int) -> int:
    """Return the number of groups that `balanced_groups` would return for `n` entries."""
    return -(-n * blocks_per_entry // k)


def even_groups(n: int, k: int) -> list[Table]:
    """Return all groups of `k` among `n`, ordered so that each member's turns are spread evenly.

    Place the members on a circle of n places. The groups of one shape follow each other, each
    turned one step further. Within a shape, every member thus occurs equally often, and equally
    often at each index of the tuple.
    """
    groups: list[Table] = []
    for shape in combinations(range(n), k):
        if shape[0] != 0:
            break  # every shape has a group that contains 0
        turned = [tuple(sorted((place - to) % n for place in shape)) for to in shape]
        if shape == min(turned):
            length = n // turned.count(shape)  # shorter for a shape that repeats on the circle
            groups.extend(tuple((place + step) % n for place in shape) for step in range(length))
    return groups


def meetings(n: int, groups: Iterable[Iterable[int]]) -> list[list[int]]:
    """Return how many groups each two of `n` members share, as a symmetric matrix."""
    met = [[0] * n for _ in range(n)]
    for group in groups:
        _count(met, group)
    return met


@lru_cache(maxsize=16)  # all rule sets use the same blocks
def disjoint_blocks(teams: tuple[int, ...], k: int, count: int, tables: int) -> tuple[Block, ...]:
    """Return blocks of at most `tables` tables, each with `k` entries, and `count` tables in all.

    `teams` gives each entry's team number. If the last table would otherwise be alone in its
    block, one table is added. Blocks are in the order of play: after each block, all entries have
    had about equally many tables.
    """
    random = Random(0).random
    blocks = _fill(teams, k, list(block_sizes(count, tables)), random)
    _improve(teams, k, blocks, random)
    return tuple(
        tuple(tuple(table) for table in block) for block in _in_even_order(len(teams), blocks)
    )


def gathered(
    blocks: Sequence[Block], apart: Collection[int], teams: Sequence[int]
) -> Iterator[Block]:
    """Yield the blocks, moving the entries in `apart` to at most one table of each block if
    possible.

    Whole tables are exchanged between blocks, nearest blocks first, so the meetings do not change.
    """
    found = [list(block) for block in blocks]
    theirs = [[table for table in block if not set(table).isdisjoint(apart)] for block in blocks]
    free = [number for number, tables in enumerate(theirs) if not tables]

    def may_join(table: Table, block: Iterable[Table], leaves: Table) -> bool:
        rest = {teams[entry] for other in block if other != leaves for entry in other}
        return rest.isdisjoint(teams[entry] for entry in table)

    def exchange(number: int, table: Table) -> None:
        """Exchange a table for a table of a block without such entries."""
        block = found[number]
        for near in sorted(free, key=lambda other: abs(other - number)):
            other = found[near]
            for leaves in other:
                if may_join(table, other, leaves) and may_join(leaves, block, table):
                    block[block.index(table)] = leaves
                    other[other.index(leaves)] = table
                    free.remove(near)
                    return

    for number, tables in enumerate(theirs):
        for table in tables[1:]:
            exchange(number, table)
    yield from map(tuple, found)


def circle_blocks(n: int, count: int, tables: int) -> tuple[Block, ...]:
    """Return the first `count` pairs of the circle method, in blocks of at most `tables` tables.

    On a circle of n places, or of n - 1 places around the last entry, each stage consists of
    parallel pairs. These pairs share no entry, and leave out at most one. `count` ends at the end
    of a stage.
    """
    circle = n - 1 + n % 2
    blocks: list[Block] = []
    for stage in range(count // (n // 2)):
        pairs = [
            ((stage + step) % circle, (stage - step) % circle) for step in range(1, circle // 2 + 1)
        ]
        if n % 2 == 0:
            pairs.append((stage % circle, n - 1))
        start = 0
        for size in block_sizes(len(pairs), tables):
            blocks.append(tuple(pairs[start : start + size]))
            start += size
    return tuple(blocks)


def block_sizes(count: int, tables: int) -> Iterator[int]:
    """Yield block sizes that add up to `count` tables: as few blocks as possible, evenly sized.

    No block has a single table unless `tables` is one. If necessary, one table is added.
    """
    blocks = -(-count // tables)
    if tables > 1:
        count = max(count, 2 * blocks)
    fewer, more = divmod(count, blocks)
    yield from (fewer + (number < more) for number in range(blocks))


def _fill(
    teams: Sequence[int], k: int, sizes: Sequence[int], random: Callable[[], float]
) -> list[_Block]:
    """Return blocks of these sizes, preferring teams that lag behind, then few meetings."""
    n = len(teams)
    members: list[list[int]] = [[] for _ in range(max(teams) + 1)]
    for entry, team in enumerate(teams):
        members[team].append(entry)
    had = [0] * len(members)
    met = [[0] * n for _ in range(n)]
    seated = 0
    blocks = []
    for size in sizes:
        seated += size * k
        # Seats that a team should have had after this block, minus the seats it has had.
        lags = [len(own) * seated // n - had[team] for team, own in enumerate(members)]
        chances = [random() for _ in members]
        waiting = sorted(range(len(members)), key=lambda team: (-lags[team], chances[team]))
        block: _Block = []
        for _ in range(size):
            known = [0] * n
            table: list[int] = []
            for _ in range(k):
                most = lags[waiting[0]]
                level = takewhile(lambda team: lags[team] == most, waiting)  # noqa: B023
                team = min(level, key=lambda team: known[members[team][0]])
                waiting.remove(team)
                entry = members[team].pop(0)
                members[team].append(entry)  # now the other members of the team come first
                had[team] += 1
                known = [one + other for one, other in zip(known, met[entry], strict=True)]
                table.append(entry)
            _count(met, table)
            block.append(table)
        blocks.append(block)
    return blocks


def _count(met: list[list[int]], table: Iterable[int]) -> None:
    for one, other in combinations(table, 2):
        met[one][other] += 1
        met[other][one] += 1


def _improve(
    teams: Sequence[int], k: int, blocks: Sequence[_Block], random: Callable[[], float]
) -> None:
    """Swap entries between tables to even out the meetings.

    Simulated annealing minimises the sum of squared meetings. No swap puts two team-mates into one
    block, or changes an entry's number of tables.
    """
    places = [(block, table) for block in range(len(blocks)) for table in blocks[block]]
    present = [{teams[entry] for table in block for entry in table} for block in blocks]
    met = meetings(len(teams), (table for _, table in places))
    total = len(places)
    near = total
    if total > len(blocks):  # otherwise, blocks of one table are put in an even order afterwards
        near = min(total, _STAGES * len(teams) // k)
    heat = _HEAT * min(1.0, _LONG / total)
    least = _least_squares(teams, met)
    excess = sum(number**2 for one, row in enumerate(met) for number in row[:one]) - least
    for step in range(_STEPS):
        if not excess:
            return
        place = int(random() * total)
        p, one = places[place]
        if random() < _WITHIN and len(blocks[p]) > 1:
            q, two = p, blocks[p][int(random() * len(blocks[p]))]
        else:
            q, two = places[min(place + int(random() * near), total - 1)]
        i, j = int(random() * k), int(random() * k)
        a, b = one[i], two[j]
        if one is two or a == b:
            continue
        from_, to = teams[a], teams[b]
        if p != q and from_ != to and (from_ in present[q] or to in present[p]):
            continue
        met_a, met_b = met[a], met[b]
        left = [c for c in one if c != a]
        come = [c for c in two if c != b]
        change = sum(met_b[c] - met_a[c] + 1 for c in left)
        change += sum(met_a[c] - met_b[c] + 1 for c in come)
        change -= 2 * sum(c in come for c in left)  # these entries meet both, before and after
        warmth = heat * (1 - step / _STEPS) + 0.05
        if change > 0 and random() >= exp(-2 * change / warmth):
            continue
        for c, by in (*((c, 1) for c in left), *((c, -1) for c in come)):
            met_a[c] -= by
            met[c][a] -= by
            met_b[c] += by
            met[c][b] += by
        one[i], two[j] = b, a
        if p != q:
            present[p] ^= {from_} ^ {to}
            present[q] ^= {from_} ^ {to}
        excess += 2 * change


def _least_squares(teams: Sequence[int], met: Sequence[Sequence[int]]) -> int:
    """Return the smallest sum of squares for this many meetings between different teams."""
    total = sum(map(sum, met)) // 2
    pairs = sum(one != other for one, other in combinations(teams, 2))
    fewest, more = divmod(total, pairs)
    return (pairs - more) * fewest**2 + more * (fewest + 1) ** 2


def _in_even_order(n: int, blocks: Sequence[_Block]) -> Iterator[_Block]:
    """Yield the blocks, each time choosing one whose entries have had the fewest tables so far.

    A long schedule is ordered one stretch at a time, which is quicker and almost as even.
    """
    turns = [0] * n
    for start in range(0, len(blocks), _STRETCH):
        waiting = [(0, number) for number in range(start, min(start + _STRETCH, len(blocks)))]
        while waiting:
            before, number = waiting[0]
            entries = [entry for table in blocks[number] for entry in table]
            now = sum(turns[entry] for entry in entries) * _PRECISION // len(entries)
            if now > before:
                heapreplace(waiting, (now, number))
                continue
            heappop(waiting)
            yield blocks[number]
            for entry in entries:
                turns[entry] += 1
