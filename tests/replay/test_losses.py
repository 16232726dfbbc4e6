"""Where an entry loses, and what another version of it changes."""

from collections.abc import Sequence

import pytest

from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value
from asara_server.replay.losses import (
    Mean,
    Seat,
    Subject,
    brief,
    certain_loss,
    changes_of,
    mean_of,
    parts_of,
)

NOTHING = Value(mean=0.0, error=0.0, worlds=0)


def decision(kind: str, loss: float | None, *, seat: int = 0, year: int = 1) -> Decision:
    value = None if loss is None else Value(mean=loss, error=0.01, worlds=9)
    return Decision(
        seat=seat,
        decision=1,
        step=0,
        sequence=0,
        year=year,
        kind=kind,
        chosen="decline",
        forced=loss is None,
        loss=value,
        label="mistake" if loss and loss >= 0.1 else "",
    )


def analysis(*decisions: Decision, score: float = 0.0) -> Analysis:
    seats = tuple(
        SeatSum(
            seat=seat,
            entry=entry,
            score=own,
            luck=NOTHING,
            score_after_luck=own,
            inaccuracies=0,
            mistakes=0,
            blunders=0,
        )
        for seat, (entry, own) in enumerate({"mine": score, "other": 1 - score}.items())
    )
    return Analysis(
        analyser=1,
        rules_version=1,
        edition_sha256="0" * 64,
        replay_sha256="0" * 64,
        match_id="m",
        budget="quick",
        playouts=1,
        seats=seats,
        decisions=decisions,
        draws=(),
        course=(),
    )


def seats_of(*found: Analysis, rules: Sequence[str] = ()) -> list[Seat]:
    rule_sets = rules or ["basic"] * len(found)
    return [brief(one, sets, "mine").seats[0] for one, sets in zip(found, rule_sets, strict=True)]


def shown(seats: Sequence[Seat]) -> dict[str, tuple[float, float]]:
    return {part.group.name: (part.decisions, round(part.loss.mean, 3)) for part in parts_of(seats)}


def test_losses_are_grouped_by_kind_dearest_first_and_by_year() -> None:
    seats = seats_of(
        analysis(
            decision("PILE_SECTION", 0.1),
            decision("SPACE", 0.3, year=2),
            decision("SPACE", None, year=2),
            decision("SPACE", 0.5, seat=1),
        ),
        analysis(decision("SPACE", 0.1)),
    )
    assert list(shown(seats).items()) == [
        ("all decisions", (1.5, 0.25)),
        ("space", (1.0, 0.2)),
        ("pile section", (0.5, 0.05)),
        ("year 1", (1.0, 0.1)),
        ("year 2", (0.5, 0.15)),
    ]
    assert parts_of(seats)[1].mistakes == 1.0


def test_only_certain_mistakes_are_added_up() -> None:
    found = analysis(decision("SPACE", 0.3), decision("SPACE", 0.01), decision("SPACE", -0.2))
    (whole, *_) = parts_of(seats_of(found))
    assert (whole.decisions, whole.mistakes, whole.loss.mean) == pytest.approx((3, 1, 0.3))
    assert certain_loss(found, 0) == Value(mean=0.3, error=0.01, worlds=0)


def test_rule_sets_are_shown_if_there_are_several_each_with_its_own_matches() -> None:
    matches = [analysis(decision("SPACE", loss)) for loss in (0.2, 0.4, 0.9)]
    found = shown(seats_of(*matches, rules=["basic", "basic", "pro"]))
    assert found["basic"] == (1.0, 0.3)
    assert found["pro"] == (1.0, 0.9)
    assert "basic" not in shown(seats_of(*matches))


def test_shares_add_up_and_have_the_interval_of_a_ratio() -> None:
    losses = [(0.2, 0.2), (0.3, 0.1), (0.25, 0.25), (0.3, 0.2), (0.2, 0.3)]
    parts = parts_of(
        seats_of(*(analysis(decision("SPACE", a), decision("BUILD", b)) for a, b in losses))
    )
    shares = {part.group: part.share for part in parts}
    kinds = [share for group, share in shares.items() if group.subject is Subject.KIND]
    assert sum(share.mean for share in kinds if share) == pytest.approx(1)
    whole = parts[0].share
    assert whole is not None
    assert whole == pytest.approx((1, 0))
    space = parts[1].share
    assert space is not None
    assert space.mean == pytest.approx(1.25 / 2.3)
    rests = [a - space.mean * (a + b) for a, b in losses]
    assert space.half == pytest.approx((mean_of(rests).half or 0) / 0.46)


@pytest.mark.parametrize("losses", [(0.3,) * 4, (0.3, 0.0, 0.0, 0.0, 0.0), (0.0,) * 5])
def test_there_is_no_share_of_a_loss_that_may_be_zero(losses: tuple[float, ...]) -> None:
    parts = parts_of(seats_of(*(analysis(decision("SPACE", loss)) for loss in losses)))
    assert [part.share for part in parts] == [None] * 3


def test_only_the_decisions_of_the_entry_are_listed_dearest_first() -> None:
    found = analysis(*(decision("SPACE", loss / 20, seat=loss % 2) for loss in range(-2, 40)))
    costs = [one.loss.mean for one in brief(found, "basic", "mine").dearest if one.loss]
    assert costs == [loss / 20 for loss in range(38, 18, -2)]
    assert brief(found, "basic", None).dearest[0].seat == 1


def test_changes_are_those_of_the_same_matches() -> None:
    before = seats_of(analysis(decision("SPACE", 0.5)), analysis(decision("SPACE", 0.9)))
    now = seats_of(
        analysis(decision("SPACE", 0.2), decision("BUILD", 0.1), score=1.0),
        analysis(decision("SPACE", 0.6), score=1.0),
    )
    found = {one.name: one for one in changes_of(list(zip(before, now, strict=True)))}
    assert list(found) == ["score", "lost: all decisions", "lost: space", "lost: build"]
    assert found["score"][1:] == (0.0, 1.0, (1.0, None))
    space = found["lost: space"]
    assert (space.before, space.now) == pytest.approx((0.7, 0.4))
    assert space.difference.mean == pytest.approx(-0.3)
    assert found["lost: build"].before == 0.0


def test_intervals_are_students_from_five_matches_on() -> None:
    assert mean_of([0.0, 1.0, 0.0, 1.0]) == Mean(0.5, None)
    assert mean_of([0.0, 1.0, 0.0, 1.0, 0.5]) == pytest.approx((0.5, 0.621), abs=1e-3)
