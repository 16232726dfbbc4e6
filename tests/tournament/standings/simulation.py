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

Tables are entries by seat, and ranks are by seat too. Both have the shape (blocks, matches, seats),
or (tournaments, blocks, matches, seats).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.result_table import (
    BlockScores,
    Floats,
    Indices,
    ResultTable,
    compared,
)
from tests.tournament import samples

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

    def drawn(self, blocks: int, dice: np.random.Generator, tables: int = 0) -> Indices:
        """Tables drawn at random: mirrored blocks, or duplicate blocks of so many `tables`."""
        order = np.argsort(dice.random((blocks, len(self.strengths))), axis=1)
        if tables:
            return order[:, : tables * self.seats].reshape(blocks, tables, self.seats)
        return rotations(order[:, : self.seats])

    def ranks(self, tables: Indices, dice: np.random.Generator, *, shared: bool = True) -> Indices:
        """Draw the ranks at these tables; the matches of a block have one deal if it is `shared`.

        Tied seats share a rank.
        """
        blocks, matches, seats = tables.shape
        deals = self._luck(dice, (blocks, 1 if shared else matches, seats), self.deal)
        luck = deals + self._luck(dice, tables.shape, self.match)
        counted = self._counted(np.array(self.strengths)[tables] + luck)
        higher = counted[..., np.newaxis, :] > counted[..., np.newaxis]
        return np.asarray(1 + higher.sum(axis=-1))


def rotations(groups: Indices) -> Indices:
    """Tables of mirrored blocks of these groups, shape (blocks, seats); all move on by a seat."""
    seats = np.arange(groups.shape[1])
    return groups[:, (seats[:, np.newaxis] + seats) % len(seats)]


def points(ranks: Indices) -> Floats:
    """The scores of these ranks; the seats of a match are the last axis."""
    tied = (ranks[..., np.newaxis, :] == ranks[..., np.newaxis]).sum(axis=-1)
    seats = ranks.shape[-1]
    return np.asarray((seats - ranks - (tied - 1) / 2) / (seats - 1))


def table_of(tables: Indices, ranks: Indices, *, duplicate: bool = False) -> ResultTable:
    """The results of one tournament."""
    block, match, seat = (axis.ravel() for axis in np.indices(tables.shape))
    none = np.zeros(tables.size)
    return ResultTable(
        match=block * tables.shape[1] + match,
        block=block,
        deal=block if duplicate else np.full(tables.size, -1),
        rules=np.zeros(tables.size, np.intp),
        entry=tables.ravel(),
        seats=np.full(tables.size, tables.shape[2]),
        seat=seat,
        score=points(ranks).ravel(),
        win=none,
        prestige=none,
        termination=np.zeros(tables.size, np.intp),
        forfeit=np.zeros(tables.size, np.bool_),
    )


def block_scores(
    world: World, tables: Indices, ranks: Indices, *, duplicate: bool = False
) -> BlockScores:
    """The scores of many tournaments. Entry e of tournament t is party number t * entries + e.

    Duplicate blocks are compared, each tournament by itself.
    """
    score = points(ranks)
    if duplicate:
        score = np.concatenate(
            [
                compared(table_of(own, rank, duplicate=True)).score
                for own, rank in zip(tables, ranks, strict=True)
            ]
        )
    entries = len(world.strengths)
    tournament, block, *_ = np.indices(tables.shape)
    party = tournament * entries + tables
    return BlockScores.of(party.ravel(), block.ravel(), score.ravel(), len(tables) * entries)


def results(
    world: World, tables: Indices, ranks: Indices, *, duplicate: bool = False
) -> list[MatchResult]:
    """The results as a run leaves them."""
    names = world.names
    return [
        samples.match(
            f"r1-basic-{block:05}-{match + 1}",
            *(samples.seat(names[entry], rank) for entry, rank in zip(table, ranked, strict=True)),
            block=f"r1-basic-{block:05}",
            duplicate_deal=f"r1-basic-{block:05}" if duplicate else "",
        )
        for block, matches in enumerate(zip(tables, ranks.tolist(), strict=True))
        for match, (table, ranked) in enumerate(zip(*matches, strict=True))
    ]


def allowance(tournaments: int) -> float:
    """How far chance moves a coverage of 95 %, with a probability of 0.999.

    Binomial, with one trial for each tournament: its entries are not independent of each other,
    and the mean of theirs does not vary more than one of them.
    """
    return float(norm.isf(0.0005) * np.sqrt(0.95 * 0.05 / tournaments))


def show(words: str, *shares: list[float]) -> None:
    """Print rows of coverages in one line."""
    texts = ("  ".join(f"{share:6.1%}" for share in some) for some in shares)
    print(f"{words:52}", " | ".join(texts), flush=True)
