import json
import random
from typing import Any

import pytest

from asara.v1.play_pb2 import PlayResponse
from asara.v1.replay_view_pb2 import ReplayDecision, ReplayView
from asara.v1.view_pb2 import PrivateView
from asara_codec.decode import event_from_proto
from asara_codec.encode import serialize
from asara_codec.results import RejectionReason, Termination
from asara_game.rules import RULE_COMBINATIONS
from asara_game.vocabulary import DecisionKind
from asara_server.journal.replay import Replay
from asara_server.journal.resimulate import resimulate
from asara_server.match.inputs import Absence, PauseRecord, Presence
from asara_server.match.match import Match
from asara_server.replay import replay_view as module
from asara_server.replay.replay_view import (
    EVERYBODY,
    LONGEST_LOG,
    OPEN,
    parse_viewer,
    replay_view,
    seat_viewer,
)
from tests.leak.replay_worlds import elsewhere
from tests.match.playouts import EVERYTHING, finished_replay, random_replay, random_spec, rules_for
from tests.sizes import others_long
from tests.vectors import viewed_matches

REPLAY = random_replay(EVERYTHING, 3, seed=8)
"""The bot of seat 2 is rejected twice, loses its stream, and forfeits."""
SOME = list(zip(RULE_COMBINATIONS, (2, 3, 4, 2, 3, 4), strict=True))
"""Every combination of rule sets, and every number of seats."""


def played(replay: Replay) -> Match:
    return resimulate(replay.header.spec(), replay.header.limits, replay.records)


def sent(replay: Replay, seat: int) -> list[PlayResponse]:
    """Return all messages to a seat."""
    outbox = played(replay).outbox
    return [PlayResponse.FromString(data) for receiver, data in outbox if receiver == seat]


def decisions(seen: ReplayView) -> list[ReplayDecision]:
    return [moment.decision for moment in seen.moments if moment.HasField("decision")]


def paused_replay(seats: int, seed: int) -> Replay:
    """The replay of a match in which pauses hide that a seat had no choice."""
    return random_replay(EVERYTHING, seats, seed, hide_forced=True)


# What everybody is shown


@pytest.mark.parametrize(("rule_sets", "seats"), SOME)
def test_every_viewer_is_shown_every_event_once_and_in_order(rule_sets: Any, seats: int) -> None:
    replay = random_replay(rule_sets, seats, seed=4)
    events = played(replay).feed.events
    for viewer in (EVERYBODY, OPEN, *map(seat_viewer, range(seats))):
        seen = replay_view(replay, viewer)
        shown = [event_from_proto(event) for moment in seen.moments for event in moment.events]
        assert shown == events
        count = 0
        for moment in seen.moments:
            count += len(moment.events)
            assert moment.sequence == count
        assert [result.entry for result in seen.results] == list(replay.header.entries)


def test_everybody_is_shown_turns_without_decisions_views_and_times() -> None:
    seen = replay_view(REPLAY, EVERYBODY)
    ends = played(REPLAY).feed.turn_ends
    assert [moment.sequence for moment in seen.moments] == ends
    for moment in seen.moments:
        assert not moment.HasField("decision")
        assert not moment.private_views
        kinds = [event.WhichOneof("event") for event in moment.events]
        assert kinds.count("buyers_dispatched") <= 1


# What a seat is shown


@pytest.mark.parametrize(
    ("rule_sets", "seats", "paused"),
    others_long([(EVERYTHING, 4, True), *((rules, seats, False) for rules, seats in SOME)], 4),
)
def test_a_seat_is_shown_the_same_in_every_world_that_it_cannot_tell_apart(
    monkeypatch: pytest.MonkeyPatch, rule_sets: Any, seats: int, paused: bool
) -> None:
    replay = random_replay(rule_sets, seats, seed=seats, hide_forced=paused)
    dice = random.Random(1)
    for seat in range(seats):
        monkeypatch.undo()
        true = serialize(replay_view(replay, seat_viewer(seat)))
        monkeypatch.setattr(module, "resimulated", elsewhere(seat, dice))
        assert serialize(replay_view(replay, seat_viewer(seat))) == true


@pytest.mark.parametrize(("seats", "seed"), [(2, 1), (4, 3)])
def test_a_seat_is_shown_the_decisions_and_views_that_it_was_sent(seats: int, seed: int) -> None:
    replay = random_replay(EVERYTHING, seats, seed)
    for seat in range(seats):
        seen = replay_view(replay, seat_viewer(seat))
        asked = {}
        private: dict[int, PrivateView] = {}
        for message in sent(replay, seat):
            if message.HasField("decision"):
                asked[message.decision.decision_id] = message.decision
        now = None
        for moment in seen.moments:
            if moment.HasField("decision") and moment.decision.kind:
                given = moment.decision
                decision = asked[given.decision_id]
                assert decision.view.private_view == now
                assert given.legal_actions == decision.legal_actions
                assert given.kind == decision.kind
                assert given.space == decision.space
                assert given.gifts == decision.gifts
                assert given.build_steps == decision.build_steps
                assert given.sections_to_build == decision.sections_to_build
                assert given.lit_windows_to_keep == decision.lit_windows_to_keep
                private[given.decision_id] = decision.view.private_view
            for now in moment.private_views:
                assert now.seat == seat
        assert set(private) == set(asked)


def test_a_forfeit_ends_the_private_views_of_its_seat() -> None:
    seen = replay_view(REPLAY, seat_viewer(2))
    forfeits = [
        number
        for number, moment in enumerate(seen.moments)
        if any(event.HasField("seat_forfeited") for event in moment.events)
    ]
    assert forfeits
    later = seen.moments[forfeits[0] :]
    assert not any(moment.private_views or moment.HasField("decision") for moment in later)
    assert any(moment.private_views for moment in replay_view(REPLAY, OPEN).moments[-20:])


def test_a_seat_that_never_took_part_is_shown_what_everybody_is_shown() -> None:
    dice = random.Random(3)
    match = Match(random_spec(rules_for(EVERYTHING, 3), dice, "m"), REPLAY.header.limits)
    absence = Absence(Termination.NEVER_STARTED, "no file")
    match.start({0: Presence(), 1: Presence()}, {2: absence})
    now = 0
    while not match.finished and now < 60_000:
        now += 1_000
        assert match.asked is not None
        seat = match.asked
        match.reply(seat, match.decision_id(seat), [match.state.legal[-1]], now)
        match.record_reply(0)
    match.forfeit(1, Termination.CRASH, "exit code 1", now)
    replay = finished_replay(match)
    absent, everybody = (replay_view(replay, viewer) for viewer in (seat_viewer(2), EVERYBODY))
    absent.viewer, absent.viewer_seat = everybody.viewer, 0
    assert absent == everybody
    assert [e.WhichOneof("event") for e in everybody.moments[1].events] == ["seat_forfeited"]


def test_a_decision_that_ran_out_of_time_is_shown_without_an_answer() -> None:
    replay = random_replay(EVERYTHING, 2, seed=8)
    match = resimulate(replay.header.spec(), replay.header.limits, replay.records[:20])
    seat = match.asked
    assert seat is not None
    asked_at_us = match.asked_at_us
    number = match.decision_id(seat)
    match.expire(match.deadline_us)
    replay = finished_replay(match)
    for viewer in (seat_viewer(seat), OPEN):
        last = decisions(replay_view(replay, viewer))[-1]
        assert (last.seat, last.decision_id) == (seat, number)
        assert last.legal_actions
        assert not last.actions
        assert not last.rejection
        assert last.bot_us == last.time_us - asked_at_us > last.clock_us
    others = decisions(replay_view(replay, seat_viewer(1 - seat)))
    assert others
    assert all(one.actions for one in others)


def test_a_rejection_that_forfeits_is_the_last_of_its_seat() -> None:
    replay = random_replay(EVERYTHING, 2, seed=8)
    match = resimulate(replay.header.spec(), replay.header.limits, replay.records[:20])
    seat = match.asked
    assert seat is not None
    while not match.finished:
        match.reply(seat, match.decision_id(seat), [], match.records[-1].time_us + 100)
    replay = finished_replay(match)
    last = decisions(replay_view(replay, seat_viewer(seat)))[-1]
    assert int(last.rejection) == RejectionReason.EMPTY
    assert not last.actions


# Pauses, and replies with several actions


def test_pauses_do_not_show() -> None:
    """A moment never ends where a pause took the place of a decision."""
    replay = paused_replay(4, seed=2)
    assert any(isinstance(record, PauseRecord) for record in replay.records)
    for viewer in (EVERYBODY, *map(seat_viewer, range(4))):
        seen = replay_view(replay, viewer)
        ends = set(played(replay).feed.turn_ends)
        assert seen.moments
        for moment, following in zip(seen.moments, seen.moments[1:], strict=False):
            asked_next = following.HasField("decision")
            assert moment.sequence in ends or asked_next


# The open view


def test_what_a_bot_wrote_is_shown_beside_its_decision_and_cut() -> None:
    logs = {(0, 1): "thinking", (0, 2): "x" * 10_000, (1, 1): "a secret"}
    seen = replay_view(REPLAY, seat_viewer(0), logs)
    first, second, *others = decisions(seen)
    assert first.log == "thinking"
    assert len(second.log) == LONGEST_LOG
    assert second.log.endswith("x…")
    assert not any(other.log for other in others)
    assert b"a secret" not in serialize(seen)
    assert b"thinking" not in serialize(replay_view(REPLAY, EVERYBODY, logs))
    assert b"a secret" in serialize(replay_view(REPLAY, OPEN, logs))


# Viewers


def test_viewers_are_parsed_and_formatted() -> None:
    for text in ("everybody", "open", "seat-0", "seat-3"):
        assert str(parse_viewer(text)) == text
    for wrong in ("", "seat", "seat-4", "seat--1", "SEAT-1", "everybody "):
        with pytest.raises(ValueError, match="not a viewer"):
            parse_viewer(wrong)


# The vectors


@pytest.mark.long
def test_the_vectors_are_those_of_their_replays() -> None:
    names = []
    for name, replay in viewed_matches.replays():
        assert viewed_matches.stored_view(name) == viewed_matches.open_view(replay)
        digests = json.loads((viewed_matches.FOLDER / f"{name}.public.json").read_text())
        assert digests == viewed_matches.public_digests(replay)
        viewers = json.loads((viewed_matches.FOLDER / f"{name}.viewers.json").read_text())
        assert viewers == viewed_matches.viewer_digests(replay)
        names.append(name)
    assert names == sorted(viewed_matches.MATCHES)


_WITHOUT_EVENT = (DecisionKind.GIFT_BUYER, DecisionKind.LIT_RETURN)
"""Decisions whose answer changes the public view although no event follows."""


@pytest.mark.long
def test_the_public_views_of_the_vectors_are_those_that_were_sent() -> None:
    for _, replay in viewed_matches.replays():
        views = viewed_matches.public_views(replay)
        by_sequence = {
            moment.sequence: data
            for moment, data in zip(replay_view(replay, OPEN).moments, views, strict=True)
        }
        for seat in range(len(replay.header.entries)):
            for message in sent(replay, seat):
                decision = message.decision
                if (
                    decision.view.HasField("public_view")
                    and int(decision.kind) not in _WITHOUT_EVENT
                ):
                    assert by_sequence[decision.sequence] == serialize(decision.view.public_view)
