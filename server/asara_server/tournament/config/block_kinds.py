"""Kinds of block, and the numbers of entries and teams that they need. Pure.

Each entry belongs to a team; one without a team is a team of its own. Entries of one team never sit
at one table, and never play a deal that the others of the team play at the same time.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

BlockKind = Literal["mirrored", "independent", "duplicate"]
"""Sharing of deals in a block: one deal for one group in all seat orders; a deal for each match; or
one deal for several tables at once, with each entry at one of them at most."""

DEFAULT_TABLES = 4
"""Tables of a duplicate block by default: they remove about three quarters of the luck of the deal,
and twice as many would remove only half of the rest."""


class LargestTeam(NamedTuple):
    """The team with the most entries."""

    name: str
    """Empty if the entry has no team."""
    size: int


def team_numbers(teams: Sequence[str]) -> tuple[int, ...]:
    """Return the number of the team of each entry; names of teams differ by more than case."""
    numbers: dict[str, int] = {}
    return tuple(
        numbers.setdefault(team.casefold() or f"\0{place}", len(numbers))
        for place, team in enumerate(teams)
    )


def largest_team(teams: Sequence[str]) -> LargestTeam:
    """Return the largest team; the first of several."""
    numbers = team_numbers(teams)
    number, size = Counter(numbers).most_common(1)[0]
    return LargestTeam(teams[numbers.index(number)], size)


def tables_per_block(teams: Sequence[str], seats: int, tables: int) -> int:
    """Return the tables of the largest duplicate block; below two there is no such block.

    Every entry has as many blocks as any other, and a block has one entry of a team at most. A team
    of s among n entries is therefore in at least s/n of all seats, and in one seat of each block at
    most, which has n/s seats at most.
    """
    if not teams:
        return 0
    return min(tables, len(teams) // (seats * largest_team(teams).size))


def default_blocks(teams: Sequence[str], seats: Sequence[int]) -> BlockKind:
    """Return "duplicate" if all kinds of table can have such blocks, and "mirrored" otherwise."""
    enough = all(tables_per_block(teams, k, DEFAULT_TABLES) >= 2 for k in seats)
    return "duplicate" if enough else "mirrored"


def needed_for_duplicate(teams: Sequence[str], seats: Sequence[int]) -> str:
    """Return how many entries duplicate blocks need, why, and how many there are."""
    team, size = largest_team(teams)
    most = max(seats)
    condition = f"for {most} seats"
    if size > 1:
        condition += f" and a team of {size} ({team!r})"
    return f"at least {2 * most * size} entries {condition}; there are only {len(teams)}"
