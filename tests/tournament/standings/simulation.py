"""Tournaments of players whose true strength is known. No game is played.

The prestige of a seat in a match is

    strength of the entry + luck of the seat in this deal + luck of the match

where both lucks are independent. The matches of a mirrored or duplicate block have one deal, and so
one luck for each seat; those of an independent block have a deal each. The higher prestige ranks
higher; ties have no probability, unless prestige is counted in coarse steps.

The expected score of an entry is the mean, over its opponents, of the probability to be above one,
for any number of seats. If luck is normal and prestige continuous, that probability is
Φ(difference of strengths / spread), and the truth needs no simulation. Otherwise it is the share in
many pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from asara_server.tournament.standings.match_result import MatchResult
from tests.tournament import samples

Floats = NDArray[np.float64]
Luck = Callable[[np.random.Generator, tuple[int, ...]], Floats]
"""Draws of one kind of luck, of this shape."""

LUCK: dict[str, Luck] = {
    "normal": lambda dice, shape: dice.normal(0, 1, shape),
    "heavy-tailed": lambda dice, shape: dice.standard_t(1.5, shape),
    "skewed": lambda dice, shape: dice.exponential(1, shape) - 1,
    "rare": lambda dice, shape: 10.0 * (dice.random(shape) < 0.05) + dice.normal(0, 0.1, shape),
}
_PAIRS = 400_000


@dataclass(frozen=True)
class World:
    """Who plays, and what decides besides strength; all in the same unit."""

    strengths: tuple[float, ...]
    seats: int
    deal: float = 1.0
    """Standard deviation of the luck of a seat in a deal."""
    match: float = 0.5
    """Standard deviation of all other luck."""
    luck: str = "normal"
    """A key of LUCK."""
    step: float = 0.0
    """Prestige is rounded to multiples of this, so that there are ties; 0 if it is continuous."""

    @property
    def names(self) -> list[str]:
        return [f"e{number:02}" for number in range(len(self.strengths))]

    @cached_property
    def above(self) -> Floats:
        """Expected share of matches in which an entry (row) is above another (column)."""
        strengths = np.array(self.strengths)
        if self.luck == "normal" and not self.step:
            apart = np.subtract.outer(strengths, strengths)
            return np.asarray(ndtr(apart / np.sqrt(2 * (self.deal**2 + self.match**2))))
        dice = np.random.default_rng(0)
        one, other = self._luck(dice, (2, _PAIRS), self.deal) + self._luck(
            dice, (2, _PAIRS), self.match
        )
        above = np.full((len(strengths), len(strengths)), 0.5)
        for i, j in combinations(range(len(strengths)), 2):
            lead = self._counted(strengths[i] + one) - self._counted(strengths[j] + other)
            above[i, j] = (1 + np.sign(lead).mean()) / 2
            above[j, i] = 1 - above[i, j]
        return above

    @property
    def expected(self) -> Floats:
        """Each entry's expected score against opponents drawn from all others."""
        above = self.above.copy()
        np.fill_diagonal(above, 0)
        return np.asarray(above.sum(axis=1) / (len(self.strengths) - 1))

    def _luck(self, dice: np.random.Generator, shape: tuple[int, ...], scale: float) -> Floats:
        return scale * LUCK[self.luck](dice, shape)

    def _counted(self, prestige: Floats) -> Floats:
        return np.round(prestige / self.step) * self.step if self.step else prestige

    def _ranked(self, prestige: Floats) -> NDArray[np.intp]:
        """Ranks along the last axis; ties share one."""
        counted = self._counted(prestige)
        higher = counted[..., np.newaxis, :] > counted[..., np.newaxis]
        return np.asarray(1 + higher.sum(axis=-1))

    def ranks(
        self, groups: NDArray[np.intp], dice: np.random.Generator, *, mirrored: bool
    ) -> NDArray[np.intp]:
        """Ranks of the entries of each block, match by match; shape (blocks, matches, seats).

        Match m seats the group, shape (blocks, seats), moved on by m; ranks are by place in it.
        """
        blocks, k = groups.shape
        deals = self._luck(dice, (blocks, 1 if mirrored else k, k), self.deal)
        seat = (np.arange(k) - np.arange(k)[:, np.newaxis]) % k  # by match and place in the group
        luck = np.take_along_axis(
            np.broadcast_to(deals, (blocks, k, k)), np.broadcast_to(seat, (blocks, k, k)), axis=2
        )
        strength = np.array(self.strengths)[groups][:, np.newaxis, :]
        return self._ranked(strength + luck + self._luck(dice, (blocks, k, k), self.match))

    def duplicate_ranks(
        self, tables: NDArray[np.intp], dice: np.random.Generator
    ) -> NDArray[np.intp]:
        """Ranks at the tables of duplicate blocks; both shapes are (blocks, tables, seats)."""
        blocks, _, k = tables.shape
        deals = self._luck(dice, (blocks, 1, k), self.deal)
        luck = deals + self._luck(dice, tables.shape, self.match)
        return self._ranked(np.array(self.strengths)[tables] + luck)


def points(ranks: NDArray[np.intp]) -> Floats:
    """The scores of these ranks; the seats of a match are the last axis."""
    tied = (ranks[..., np.newaxis, :] == ranks[..., np.newaxis]).sum(axis=-1)
    seats = ranks.shape[-1]
    return np.asarray((seats - ranks - (tied - 1) / 2) / (seats - 1))


def drawn_tables(
    world: World, blocks: int, tables: int, dice: np.random.Generator
) -> NDArray[np.intp]:
    """Tables of duplicate blocks, drawn at random; shape (blocks, tables, seats)."""
    order = np.argsort(dice.random((blocks, len(world.strengths))), axis=1)
    return order[:, : tables * world.seats].reshape(blocks, tables, world.seats)


def groups_with_first(world: World, blocks: int, dice: np.random.Generator) -> NDArray[np.intp]:
    """Groups of the first entry with opponents drawn at random."""
    others = np.argsort(dice.random((blocks, len(world.strengths) - 1)), axis=1) + 1
    return np.column_stack((np.zeros(blocks, np.intp), others[:, : world.seats - 1]))


def drawn_groups(world: World, blocks: int, dice: np.random.Generator) -> NDArray[np.intp]:
    """Groups drawn at random, each independently of the others."""
    order = np.argsort(dice.random((blocks, len(world.strengths))), axis=1)
    return order[:, : world.seats]


def results(world: World, groups: NDArray[np.intp], ranks: NDArray[np.intp]) -> list[MatchResult]:
    """The results as a run leaves them."""
    names = world.names
    return [
        _result(
            f"r1-basic-{block:05}",
            match + 1,
            # the place that sits in seat s of match m is the one that was moved there
            [
                (names[group[(s + match) % world.seats]], rank[(s + match) % world.seats])
                for s in range(world.seats)
            ],
        )
        for block, (group, matches) in enumerate(zip(groups, ranks.tolist(), strict=True))
        for match, rank in enumerate(matches)
    ]


def duplicate_results(
    world: World, tables: NDArray[np.intp], ranks: NDArray[np.intp]
) -> list[MatchResult]:
    """The results of duplicate blocks as a run leaves them."""
    names = world.names
    return [
        _result(
            name := f"r1-basic-{block:05}",
            number + 1,
            [(names[entry], rank) for entry, rank in zip(table, rank_of, strict=True)],
            duplicate_deal=name,
        )
        for block, (seated, ranked) in enumerate(zip(tables, ranks.tolist(), strict=True))
        for number, (table, rank_of) in enumerate(zip(seated, ranked, strict=True))
    ]


def _result(
    block: str, number: int, seats: Sequence[tuple[str, int]], duplicate_deal: str = ""
) -> MatchResult:
    outcomes = [samples.seat(*one) for one in seats]
    return samples.match(f"{block}-{number}", *outcomes, block=block, duplicate_deal=duplicate_deal)
