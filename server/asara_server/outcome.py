"""Ranks and scores of a finished match."""

from collections.abc import Collection, Sequence


def rank_seats(prestige: Sequence[int], forfeited: Collection[int] = ()) -> tuple[int, ...]:
    """Return the rank of each seat by prestige; seats that forfeited tie behind all others."""
    kept = [points for seat, points in enumerate(prestige) if seat not in forfeited]
    return tuple(
        1 + (len(kept) if seat in forfeited else sum(other > points for other in kept))
        for seat, points in enumerate(prestige)
    )


def match_scores(ranks: Sequence[int]) -> tuple[float, ...]:
    """Return the score of each seat: from 1 for the first rank to 0 for the last, in even steps.

    Seats that tie share the mean of the scores of the ranks that they occupy.
    """
    last = len(ranks) - 1
    if last < 1:
        return (1.0,) * len(ranks)
    return tuple(1 - (rank - 1 + (ranks.count(rank) - 1) / 2) / last for rank in ranks)
