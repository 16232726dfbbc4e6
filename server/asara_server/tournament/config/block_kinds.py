"""Kinds of block, and the numbers of entries and teams that they need. Pure.

Each entry belongs to a team; an entry without a team counts as a team of its own. Team-mates never
sit at one table, and never play the same deal at the same time.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

BlockKind = Literal["mirrored", "independent", "duplicate"]
"""How a block shares deals: one deal for one group in all seat orders; a deal for each match; or
one deal for several tables at once, with each entry at no more than one table.
"""

DEFAULT_TABLES = 4
"""Default number of tables in a duplicate block. They remove about three quarters of the luck of
the deal; twice as many would remove only half of the rest.
"""


def team_numbers(teams: Sequence[str]) -> tuple[int, ...]:
    """Return each entry's team number. Team names that differ only by case are the same team."""
    numbers: dict[str, int] = {}
    return tuple(
        numbers.setdefault(team.casefold() or f"\0{place}", len(numbers))
        for place, team in enumerate(teams)
    )


def largest_team(teams: Sequence[str]) -> tuple[str, int]:
    """Return the name and the size of the largest team; if several are equally large, the first.

    The name is empty if the entry has no team.
    """
    numbers = team_numbers(teams)
    number, size = Counter(numbers).most_common(1)[0]
    return teams[numbers.index(number)], size


def tables_per_block(teams: Sequence[str], seats: int, tables: int) -> int:
    """Return the number of tables in the largest possible duplicate block; below two, none is
    possible.

    Every entry has the same number of blocks, and a block has at most one entry of a team. A team
    of s among n entries therefore needs at least s/n of all seats, but gets at most one seat per
    block. So a block has at most n/s seats.
    """
    if not teams:
        return 0
    _, size = largest_team(teams)
    return min(tables, len(teams) // (seats * size))


def default_blocks(teams: Sequence[str], seats: Sequence[int]) -> BlockKind:
    """Return "duplicate" if every kind of table allows duplicate blocks, otherwise "mirrored"."""
    enough = all(tables_per_block(teams, k, DEFAULT_TABLES) >= 2 for k in seats)
    return "duplicate" if enough else "mirrored"


def needed_for_duplicate(teams: Sequence[str], seats: Sequence[int]) -> str:
    """Return how many entries duplicate blocks need, the reason, and how many entries there are."""
    team, size = largest_team(teams)
    most = max(seats)
    condition = f"for {most} seats"
    if size > 1:
        condition += f" and a team of {size} ({team!r})"
    return f"at least {2 * most * size} entries {condition}; there are only {len(teams)}"
