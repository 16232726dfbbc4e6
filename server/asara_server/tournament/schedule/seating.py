"""Seats at tables that are each played once. Pure.

Each entry sits in each seat once in any k tables that follow one another from its first, so in each
seat equally often, within one table.

This is an edge colouring (König 1916): tables on one side, on the other each entry's tables taken k
at a time, seats as colours. A bipartite graph with at most k edges at a node needs k colours, and
exchanging two of them along a path makes room for one more edge.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

_FREE = -1

_Node = list[int]
"""By seat, the node at the other end of the edge that has this seat; _FREE without one."""


def seated(tables: Iterable[Sequence[int]], k: int) -> list[tuple[int, ...]]:
    """Return the same tables in the same order, with the entries of each in the order of seats."""
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
    """Add the edge between a table and a part of an entry's tables."""
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
