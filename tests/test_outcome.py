import pytest
from hypothesis import given
from hypothesis import strategies as st

from asara.v1 import event_pb2, play_pb2
from asara_codec.results import RejectionReason, Termination
from asara_server.outcome import match_scores, rank_seats


@pytest.mark.parametrize(
    ("prestige", "forfeited", "ranks", "scores"),
    [
        ((30, 20), (), (1, 2), (1, 0)),
        ((20, 30, 10), (), (2, 1, 3), (0.5, 1, 0)),
        ((20, 30, 30, 10), (), (3, 1, 1, 4), (1 / 3, 5 / 6, 5 / 6, 0)),
        ((5, 5, 5, 5), (), (1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5)),
        ((99, 30, 10), {0}, (3, 1, 2), (0, 1, 0.5)),
        ((99, 30, 98, 10), {0, 2}, (3, 1, 3, 2), (1 / 6, 1, 1 / 6, 2 / 3)),
        ((99, 98, 97), {0, 1}, (2, 2, 1), (0.25, 0.25, 1)),
        ((1, 2), {0, 1}, (1, 1), (0.5, 0.5)),
        ((7,), (), (1,), (1,)),
    ],
)
def test_ranks_and_scores(
    prestige: tuple[int, ...],
    forfeited: frozenset[int],
    ranks: tuple[int, ...],
    scores: tuple[float, ...],
) -> None:
    assert rank_seats(prestige, forfeited) == ranks
    assert match_scores(ranks) == pytest.approx(scores)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=4), st.sets(st.integers(0, 3)))
def test_a_match_shares_out_half_a_point_per_seat(points: list[int], forfeited: set[int]) -> None:
    scores = match_scores(rank_seats(points, forfeited))
    assert sum(scores) == pytest.approx(len(points) / 2)
    assert all(0 <= score <= 1 for score in scores)


def test_numbers_are_those_of_the_protocol() -> None:
    for ours, theirs, prefix in (
        (Termination, event_pb2.Termination, "TERMINATION_"),
        (RejectionReason, play_pb2.RejectionReason, "REJECTION_REASON_"),
    ):
        assert {prefix + member.name: member.value for member in ours} == dict(theirs.items())
