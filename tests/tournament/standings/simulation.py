"""Tournaments of players whose true strength is known. No game is played.

The prestige of a seat in a match is

    strength of the entry + luck of the seat in this deal + luck of the match

where both lucks are normal and independent. The matches of a mirrored or duplicate block have one
deal, and so one luck for each seat; those of an independent block have a deal each. The higher
prestige ranks higher; ties have no probability.

An entry is above another with probability Φ(difference of strengths / spread), and its expected
score is the mean of that over its opponents, for any number of seats. So the truth needs no
simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from asara_codec.results import Termination
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome


@dataclass(frozen=True)
class World:
    """Who plays, and what decides besides strength; all in the same unit."""

    strengths: tuple[float, ...]
    seats: int
    deal: float = 1.0
    """Standard deviation of the luck of a seat in a deal."""
    match: float = 0.5
    """Standard deviation of all other luck."""

    @property
    def names(self) -> list[str]:
        return [f"e{number:02}" for number in range(len(self.strengths))]

    @property
    def expected(self) -> NDArray[np.float64]:
        """Each entry's expected score against opponents drawn from all others."""
        apart = np.subtract.outer(self.strengths, self.strengths)
        above = ndtr(apart / np.sqrt(2 * (self.deal**2 + self.match**2)))
        np.fill_diagonal(above, 0)
        return np.asarray(above.sum(axis=1) / (len(self.strengths) - 1))

    def ranks(
        self, groups: NDArray[np.intp], dice: np.random.Generator, *, mirrored: bool
    ) -> NDArray[np.intp]:
        """Ranks of the entries of each block, match by match; shape (blocks, matches, seats).

        Match m seats the group, shape (blocks, seats), moved on by m; ranks are by place in it.
        """
        blocks, k = groups.shape
        deals = dice.normal(0, self.deal, (blocks, 1 if mirrored else k, k))
        seat = (np.arange(k) - np.arange(k)[:, np.newaxis]) % k  # by match and place in the group
        luck = np.take_along_axis(
            np.broadcast_to(deals, (blocks, k, k)), np.broadcast_to(seat, (blocks, k, k)), axis=2
        )
        strength = np.array(self.strengths)[groups][:, np.newaxis, :]
        prestige = strength + luck + dice.normal(0, self.match, (blocks, k, k))
        return np.argsort(np.argsort(-prestige, axis=2), axis=2) + 1

    def duplicate_ranks(
        self, tables: NDArray[np.intp], dice: np.random.Generator
    ) -> NDArray[np.intp]:
        """Ranks at the tables of duplicate blocks; both shapes are (blocks, tables, seats)."""
        blocks, _, k = tables.shape
        deals = dice.normal(0, self.deal, (blocks, 1, k))
        prestige = (
            np.array(self.strengths)[tables] + deals + dice.normal(0, self.match, tables.shape)
        )
        return np.argsort(np.argsort(-prestige, axis=2), axis=2) + 1


def drawn_tables(
    world: World, blocks: int, tables: int, dice: np.random.Generator
) -> NDArray[np.intp]:
    """Tables of duplicate blocks, drawn at random; shape (blocks, tables, seats)."""
    order = np.argsort(dice.random((blocks, len(world.strengths))), axis=1)
    return order[:, : tables * world.seats].reshape(blocks, tables, world.seats)


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
    return MatchResult(
        duplicate_deal=duplicate_deal,
        match_id=f"{block}-{number}",
        block=block,
        round=1,
        rule_sets="basic",
        seats=tuple(
            SeatOutcome(entry=entry, rank=rank, prestige=0, termination=Termination.COMPLETED)
            for entry, rank in seats
        ),
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
    )
