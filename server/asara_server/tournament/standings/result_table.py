"""The results of many matches as columns of numbers. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from numpy.typing import NDArray

from asara_server.outcome import match_scores
from asara_server.tournament.standings.match_result import MatchResult

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One row per seat of each match, in the order of the results; each column is that long."""

    match: Indices
    """Index of the match, whose seats are consecutive rows."""
    block: Indices
    """Index of the deal block."""
    deal: Indices
    """Index of the deal of a duplicate block; -1 for all other matches."""
    rules: Indices
    """Index of the rule sets, in alphabetical order."""
    entry: Indices
    """Index of the entry in the `names` given to `tabulate`."""
    seats: Indices
    """Number of seats at the table."""
    seat: Indices
    score: Floats
    """1 for first place down to 0 for last."""
    win: Floats
    """Share of the win; 0 for a forfeit."""
    prestige: Floats
    termination: Indices
    """Value of a `Termination`."""
    forfeit: Mask

    def __len__(self) -> int:
        return len(self.match)

    def take(self, rows: Indices) -> "ResultTable":
        """Return the table of these rows."""
        return ResultTable(*(getattr(self, field.name)[rows] for field in fields(self)))


def tabulate(names: Sequence[str], results: Sequence[MatchResult]) -> ResultTable:
    """Return the table of these results, none of which may be void."""
    index = {name: number for number, name in enumerate(names)}
    blocks: dict[str, int] = {}
    deals = {"": -1}
    rules = {name: number for number, name in enumerate(sorted({r.rule_sets for r in results}))}
    scores_of = cache(match_scores)
    rows: list[tuple[float, ...]] = []
    for number, result in enumerate(results):
        block = blocks.setdefault(result.deal_block, len(blocks))
        deal = deals.setdefault(result.duplicate_deal, len(deals) - 1)
        ranks = tuple(line.rank for line in result.seats)
        scores = scores_of(ranks)
        win = 1 / ranks.count(1)
        for seat, line in enumerate(result.seats):
            forfeit = line.termination.forfeit
            rows.append(
                (
                    number,
                    block,
                    deal,
                    rules[result.rule_sets],
                    index[line.entry],
                    len(ranks),
                    seat,
                    scores[seat],
                    win if line.rank == 1 and not forfeit else 0.0,
                    line.prestige,
                    line.termination,
                    forfeit,
                )
            )
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 12).T
    match, block_, deal_, rules_, entry, seats, seat_ = table[:7].astype(np.intp)
    return ResultTable(
        match,
        block_,
        deal_,
        rules_,
        entry,
        seats,
        seat_,
        score=table[7],
        win=table[8],
        prestige=table[9],
        termination=table[10].astype(np.intp),
        forfeit=table[11].astype(np.bool_),
    )
