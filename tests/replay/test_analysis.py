"""The analysis of a replay, and its file."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from asara_game.rules import parse_rule_sets
from asara_search.analysis import BUDGETS, Budget, DecisionPrice, DecisionPricer
from asara_server.journal.replay import Replay, ReplayError
from asara_server.replay import analysis as analysis_module
from asara_server.replay.analysis import analyse
from asara_server.replay.analysis_file import (
    Analysis,
    AnalysisError,
    Value,
    analysis_bytes,
    read_analysis,
)
from asara_server.replay.analysis_page import page_analysis
from asara_server.replay.replay_view import OPEN, replay_view
from asara_server.replay.signing import SigningKey
from asara_server.replay.unfinished_analysis import UnfinishedAnalysis
from tests.match.playouts import EVERYTHING, random_replay, replay_bytes
from tests.replay.priced import without_playouts

KEY = SigningKey.new()
BASIC = parse_rule_sets("basic")
LEAST = Budget(candidates=2, choosing=2, years=1, pricing=1, doubtful=1, luck=1)
SCHEMA = Path(analysis_module.__file__).with_name("analysis.schema.json")


REPLAY = random_replay(BASIC, 2, seed=1, replies=5)
DATA = replay_bytes(REPLAY, KEY)


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS, "quick", LEAST)


def analysed(replay: Replay) -> Analysis:
    return analyse(replay_bytes(replay, KEY), "quick", lambda: None)


@pytest.fixture(scope="module")
def found() -> Analysis:
    """The analysis of a match that was cut short."""
    steps: list[None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUDGETS, "quick", LEAST)
        analysis = analyse(DATA, "quick", lambda: steps.append(None))
    assert len(steps) == sum(one.decision > 0 for one in analysis.decisions)
    return analysis


def test_every_action_of_a_reply_is_a_decision_in_its_order(found: Analysis) -> None:
    replied = [action for r in REPLAY.records for action in getattr(r, "actions", ())]
    chosen = [one.chosen for one in found.decisions if one.decision]
    assert chosen == [str(action) for action in replied if not isinstance(action, bytes)]
    for one in found.decisions:
        assert one.forced == (one.loss is None) == (not one.candidates)
    assert [one.draw for one in found.draws] == ["deal"]


def test_the_sums_are_those_of_the_decisions_and_draws(found: Analysis) -> None:
    for one in found.seats:
        assert one.luck.mean == pytest.approx(sum(draw.gained[one.seat] for draw in found.draws))
        assert one.score == pytest.approx(one.score_after_luck + one.luck.mean)
    assert sum(one.score for one in found.seats) == 1


def test_the_same_replay_gives_the_same_bytes(found: Analysis) -> None:
    assert analysis_bytes(found) == analysis_bytes(analyse(DATA, "quick", lambda: None))


def test_a_match_in_which_nobody_decided_is_refused() -> None:
    with pytest.raises(ReplayError, match="nothing to analyse: no seat has answered a decision"):
        analysed(random_replay(BASIC, 2, seed=1, replies=0))


def test_a_replay_that_does_not_hold_is_refused() -> None:
    with pytest.raises(ReplayError, match="version 99 of the rules"):
        analysed(replace(REPLAY, header=replace(REPLAY.header, rules_version=99)))
    with pytest.raises(ReplayError, match="does not fit the records"):
        analyse(DATA[:-3] + b"abc", "quick", lambda: None)
    with pytest.raises(ReplayError, match="record"):
        analysed(replace(REPLAY, records=REPLAY.records[1:]))


def test_only_an_analysis_of_this_replay_and_version_is_read(
    found: Analysis, tmp_path: Path
) -> None:
    path = tmp_path / "a.analysis.json"
    assert read_analysis(path, DATA) is None
    path.write_bytes(analysis_bytes(found))
    assert read_analysis(path, DATA) == found
    for other, fault in (
        (found.model_copy(update={"analyser": 99}), "another version of the program"),
        (found.model_copy(update={"rules_version": 99}), "another version of the program"),
        (found.model_copy(update={"replay_sha256": "0" * 64}), "about another replay"),
        (found.model_copy(update={"format": 2}), "not an analysis, or one in another format"),
    ):
        path.write_bytes(analysis_bytes(other))
        with pytest.raises(AnalysisError, match=fault):
            read_analysis(path, DATA)


def test_the_file_of_a_seat_contains_nothing_from_other_seats_and_from_luck(
    found: Analysis,
) -> None:
    price = Value(mean=0.3, error=0.1, worlds=9)
    decisions = [
        one.model_copy(update={"label": "mistake", "best": "decline", "loss": price})
        for one in found.decisions
    ]
    found = found.model_copy(update={"decisions": tuple(decisions)})
    other = found.model_copy(
        update={
            "decisions": tuple(one for one in decisions if one.seat == 1),
            "draws": (),
            "course": tuple(one for one in found.course if one.seat == 1),
            "seats": tuple(one.model_copy(update={"luck": price}) for one in found.seats),
        }
    )
    own = page_analysis(found, 1)
    assert own == page_analysis(other, 1)
    assert {one["seat"] for part in own.values() for one in part} == {1}
    assert own["marks"]
    assert own["course"]
    assert {one["seat"] for one in page_analysis(found)["marks"]} == {0, 1}


def test_the_schema_is_published_as_it_is() -> None:
    schema = json.dumps(Analysis.model_json_schema(), indent=2) + "\n"
    assert SCHEMA.read_text() == schema


@pytest.mark.parametrize("hide_forced", [False, True])
def test_decisions_and_draws_have_their_place_among_the_events(
    monkeypatch: pytest.MonkeyPatch, *, hide_forced: bool
) -> None:
    """In a match with rejections, breaks, a steward and perhaps pauses."""
    without_playouts(monkeypatch)
    replay = random_replay(EVERYTHING, 3, seed=8, hide_forced=hide_forced)
    found = analysed(replay)
    before = {}
    sequence = 0
    for moment in replay_view(replay, OPEN).moments:
        if moment.HasField("decision") and moment.decision.actions:
            before[moment.decision.seat, moment.decision.decision_id] = sequence
        sequence = moment.sequence
    decisions = [one for one in found.decisions if one.decision and not one.step]
    assert len(decisions) > 20
    for one in decisions:
        place = before[one.seat, one.decision]
        assert one.sequence == place or (hide_forced and one.sequence > place)  # after a pause
    assert {"deal", "year", "buyers", "lit windows"} == {draw.draw for draw in found.draws}
    assert all(draw.sequence <= sequence for draw in found.draws)
    last = max(i for i, one in enumerate(found.decisions) if one.seat == 2)
    assert last < len(found.decisions) / 2, "seat 2 forfeited"
    ends = [(point.expected.mean, point.sequence) for point in found.course[-3:]]
    assert ends == [(one.score, sequence) for one in found.seats]
    for seat in range(3):
        course = [point.sequence for point in found.course if point.seat == seat]
        assert course == sorted(course)


class Stopped(Exception):
    """The analysis was interrupted."""


def analysed_until(path: Path, steps: int, data: bytes = DATA) -> int:
    """Analyse with a file for what was found, until an interruption; return its unusable line."""
    left = iter(range(steps))

    def progress() -> None:
        if next(left, None) is None:
            raise Stopped

    with closing(UnfinishedAnalysis(path, data, "quick")) as unfinished:
        with pytest.raises(Stopped):
            analyse(data, "quick", progress, unfinished)
        return unfinished.damaged


def continued(path: Path) -> tuple[bytes, int]:
    with closing(UnfinishedAnalysis(path, DATA, "quick")) as unfinished:
        found = analyse(DATA, "quick", lambda: None, unfinished)
        return analysis_bytes(found), unfinished.damaged


def test_an_interrupted_analysis_continues_without_a_difference(
    found: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "part"
    for steps in (2, 4):
        assert analysed_until(path, steps) == 0
    kept = path.read_bytes()
    path.write_bytes(kept[:-9])  # killed while it wrote
    priced: list[str] = []
    price = DecisionPricer.price

    def count(pricer: DecisionPricer, *decision: Any) -> DecisionPrice:
        priced.append(decision[-2])
        return price(pricer, *decision)

    monkeypatch.setattr(DecisionPricer, "price", count)
    assert continued(path) == (analysis_bytes(found), 0)
    assert path.read_bytes().startswith(kept)
    lines = kept.count(b"\n")
    assert len(priced) == path.read_bytes().count(b"\n") - (lines - 1)
    monkeypatch.setattr(DecisionPricer, "price", None)
    assert continued(path) == (analysis_bytes(found), 0)


def test_what_is_damaged_or_foreign_is_found_again(found: Analysis, tmp_path: Path) -> None:
    path = tmp_path / "part"
    whole = analysis_bytes(found)
    analysed_until(path, 3)
    first, second, *rest = path.read_bytes().splitlines(keepends=True)
    digit = second.rindex(b"5")
    for lines, damaged in (
        ([first, second[:digit] + b"6" + second[digit + 1 :], *rest], 2),
        ([first, *rest], 2),
        ([b"\n", first], 1),
        ([b"\xff" * 9000, b"\n"], 1),
        ([], 0),
    ):
        path.write_bytes(b"".join(lines))
        assert continued(path) == (whole, damaged)
        assert continued(path) == (whole, 0)
    other = replay_bytes(random_replay(BASIC, 2, seed=2, replies=5), KEY)
    assert analysed_until(path, 2, other) == 1
    assert continued(path) == (whole, 1)


def test_values_that_somebody_wrote_with_sound_digests_are_not_used(
    found: Analysis, tmp_path: Path
) -> None:
    path = tmp_path / "part"
    with closing(UnfinishedAnalysis(path, DATA, "quick")) as unfinished:
        unfinished.recall(TypeAdapter(str), lambda: "not a price")
    assert continued(path) == (analysis_bytes(found), 0)
