"""Previews of turns: what the referee sends next, in every world that the seat may be in; hints."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from starlette.testclient import TestClient

from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import MatchStarted, PlayResponse
from asara.v1.preview_pb2 import PreviewEnd, PreviewRequest, PreviewResponse
from asara.v1.view_pb2 import View as ViewMessage
from asara_codec.clocks import Clocks
from asara_codec.encode import action_message, event_message
from asara_codec.messages import decision_bytes, match_started_bytes
from asara_codec.view_writer import ViewWriter
from asara_game.actions import Action
from asara_game.engine import apply
from asara_game.events import (
    BuyersDispatched,
    BuyersRecruited,
    Event,
    LitWindowsDrawn,
    PileSearched,
)
from asara_game.knowledge.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_server.web.app import create_app
from asara_server.web.preview import LARGEST_REQUEST, PreviewError, hint, preview
from asara_server.web.settings import WebSettings
from tests.game.play import WIDE_CASES, playout
from tests.game.table import rules
from tests.yardstick import at_most, loop_s

_CLOCKS = Clocks(1, 1, 1, 1, 1)
_SEARCHES = (DecisionKind.GIFT_BUYER, DecisionKind.GIFT_LIT_WINDOW)


def _started(state: State) -> MatchStarted:
    data = match_started_bytes(
        match_id="m1",
        view=view(state, state.seat),
        clocks=_CLOCKS,
        deal_commitment=bytes(32),
        sequence=1,
    )
    return PlayResponse.FromString(data).match_started


def _asked(state: State, events: Sequence[Event] = ()) -> DecisionMessage:
    """The decision as the referee sends it, without what depends on the match."""
    data = decision_bytes(
        match_id="m1",
        decision_id=0,
        view=view(state, state.seat),
        events=(),
        sequence=0,
        clock_us=0,
        charged_us=0,
    )
    decision = PlayResponse.FromString(data).decision
    decision.events.extend(map(event_message, events))
    return decision


def _request(state: State, actions: Sequence[Action] = ()) -> PreviewRequest:
    return PreviewRequest(
        started=_started(state), decision=_asked(state), actions=map(action_message, actions)
    )


def _position(rule_sets: str = "pro+gifts+genie", seats: int = 4, skip: int = 120) -> State:
    for number, moment in enumerate(playout(rules(rule_sets, seats), 3)):
        if number == skip:
            return moment.state.copy()
    raise AssertionError("the match is too short")


def _is_over(state: State, seat: int) -> bool:
    return state.seat != seat or state.kind is DecisionKind.SPACE


def _check_end(response: PreviewResponse, worlds: list[State], played: list[list[Event]]) -> None:
    if response.end == PreviewEnd.PREVIEW_END_HIDDEN:
        for world, events in zip(worlds, played, strict=True):
            searched = any(isinstance(e, PileSearched | LitWindowsDrawn) for e in events)
            assert searched or world.kind in _SEARCHES or any("Gift" in str(e) for e in events)
        return
    recruited = any(isinstance(event, BuyersRecruited) for event in played[0])
    assert response.HasField("view") is not recruited
    for events in played:
        assert any(isinstance(event, BuyersRecruited) for event in events) is recruited


def _check_view(
    shown: ViewMessage, before: State, world: State, seat: int, events: list[Event]
) -> None:
    """The view at the end of a turn is that of the next turn, except for whose turn it is."""
    dispatches = sum(isinstance(event, BuyersDispatched) for event in events)
    own = before.kind in (DecisionKind.SPACE, DecisionKind.BUYERS)
    if world.year != before.year or world.seat < 0 or dispatches > own:
        return  # what a seat was forced to in later turns, or a new year, has changed the table
    seen = view(world, seat)
    after = ViewMessage.FromString(ViewWriter().view(seen))
    after.public_view.turn_seat = seat
    assert shown == after


def _compare(state: State, dice: random.Random, ends: Counter[str]) -> None:
    """Play a turn by previews; compare each with what follows in several worlds."""
    seat = state.seat
    seen = view(state, seat)
    worlds = [state.copy(), *(determinize(seen, dice) for _ in range(3))]
    played: list[list[Event]] = [[] for _ in worlds]
    actions: list[Action] = []
    response = preview(_request(state))
    assert response.decision == _asked(state)
    while True:
        action = dice.choice(worlds[0].legal)
        actions.append(action)
        for world, events in zip(worlds, played, strict=True):
            events.extend(apply(world, action))
        response = preview(_request(state, actions))
        if response.WhichOneof("next") == "end":
            break
        for world, events in zip(worlds, played, strict=True):
            assert world.seat == seat
            assert response.decision == _asked(world, events)
    ends[PreviewEnd.Name(response.end)] += 1
    _check_end(response, worlds, played)
    if response.end == PreviewEnd.PREVIEW_END_TURN:
        for world in worlds:
            assert _is_over(world, seat)
        if response.HasField("view"):
            for world, events in zip(worlds, played, strict=True):
                _check_view(response.view, state, world, seat, events)


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_a_preview_is_what_the_referee_sends_next_in_every_world(
    rule_sets: str, seats: int
) -> None:
    dice = random.Random(f"{rule_sets}/{seats}")
    ends = Counter[str]()
    kinds = set()
    for moment in playout(rules(rule_sets, seats), 1):
        state = moment.state
        if state.seat >= 0 and (state.kind not in kinds or dice.random() < 0.1):
            kinds.add(state.kind)
            _compare(state.copy(), dice, ends)
    assert ends["PREVIEW_END_TURN"] > 5
    assert ends["PREVIEW_END_HIDDEN"] > 0


def test_a_preview_takes_less_than_ten_milliseconds() -> None:
    """Of a slow core, on which a reference loop takes 40."""
    requests = [_request(_position(skip=skip)) for skip in range(100, 200, 10)]
    for request in requests:
        preview(request)
    with at_most(len(requests) / 4):
        for request in requests:
            preview(request)


def test_an_action_that_is_not_legal_is_named() -> None:
    request = _request(_position())
    request.actions.add().build_count.count = 9
    with pytest.raises(PreviewError, match="action 1, 'build 9', is not legal"):
        preview(request)


def test_actions_after_the_end_are_refused() -> None:
    state = _position("basic", 2, 0)
    request = _request(state)
    while (response := preview(request)).WhichOneof("next") == "decision":
        request.actions.append(response.decision.legal_actions[-1])
    length = len(request.actions)
    request.actions.append(request.actions[0])
    with pytest.raises(PreviewError, match=f"nothing can be foreseen after action {length}"):
        preview(request)


def test_legal_actions_that_the_view_does_not_give_are_refused() -> None:
    request = _request(_position())
    del request.decision.legal_actions[0]
    with pytest.raises(PreviewError, match="the legal actions are not those of the view"):
        preview(request)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda r: r.started.edition.buyers[0].__setattr__("count", 2**31 - 1), "count"),
        (lambda r: r.started.edition.spaces[30].space.__setattr__("number", 61), "number"),
        (lambda r: r.decision.view.public_view.__setattr__("buyer_pile_size", 10**9), "buyer_pile"),
        (lambda r: r.decision.view.private_view.__setattr__("asari", -1), "asari is -1"),
        (lambda r: r.decision.view.private_view.hand.extend([1] * 600), "more than 512 entries"),
        (lambda r: r.decision.build_steps.add(), "action: no member is set"),
        (lambda r: r.decision.__setattr__("match_id", "x" * LARGEST_REQUEST), "more than 65,536"),
        (lambda r: r.actions.extend([r.decision.legal_actions[0]] * 65), "more than 64 actions"),
        (lambda r: r.started.__setattr__("seats", 3), "the view has 4 seats, and the match 3"),
        (lambda r: r.decision.view.public_view.__setattr__("turn_seat", 9), "not the turn"),
        (lambda r: r.decision.ClearField("view"), "no public part"),
        (lambda r: r.started.ClearField("edition"), "edition"),
    ],
)
def test_hostile_numbers_are_refused_in_one_sentence(change: Any, text: str) -> None:
    request = _request(_position())
    change(request)
    with pytest.raises(PreviewError, match=text) as refused:
        preview(request)
    assert "\n" not in str(refused.value)


def test_garbage_is_answered_or_refused_quickly() -> None:
    """Requests with random bytes changed, and with fields of other positions."""
    dice = random.Random(5)
    positions = [_request(_position(skip=skip)).SerializeToString() for skip in (40, 120, 200)]
    answers = Counter[bool]()
    longest_s = 0.0
    for _ in range(1500):
        data = bytearray(dice.choice(positions))
        for _ in range(dice.choice((1, 1, 2, 8))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        request = PreviewRequest()
        try:
            request.ParseFromString(bytes(data))
        except DecodeError:
            continue
        started = time.process_time()
        try:
            preview(request)
            answers[True] += 1
        except PreviewError:
            answers[False] += 1
        longest_s = max(longest_s, time.process_time() - started)
    assert longest_s < 12 * loop_s()
    assert answers[True]
    assert answers[False]


def test_the_server_answers_previews_and_refuses_nonsense() -> None:
    request = _request(_position())
    with TestClient(create_app(WebSettings()), base_url="http://localhost") as client:
        answer = client.post("/api/preview", content=request.SerializeToString())
        assert answer.status_code == 200
        assert PreviewResponse.FromString(answer.content) == preview(request)
        nonsense = client.post("/api/preview", content=b"\xff\xff")
        assert nonsense.status_code == 400
        assert nonsense.json() == {"error": "the request is no PreviewRequest"}
        empty = client.post("/api/preview", content=b"")
        assert empty.status_code == 422
        assert empty.json()["error"].startswith("the request cannot be answered: ")
        large = client.post("/api/preview", content=bytes(LARGEST_REQUEST + 1))
        assert large.status_code == 413


# Hints


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is too slow for all playouts of a hint."""
    monkeypatch.setattr("asara_server.web.preview.LONGEST_S", 1e9)


def _late() -> Iterator[State]:
    """Positions of the last year, in which playouts are short, one for each kind of decision."""
    kinds = set()
    for moment in playout(rules("pro+gifts+genie", 3), 3):
        state = moment.state
        if state.seat >= 0 and state.year == 4 and len(state.legal) > 1 and state.kind not in kinds:
            kinds.add(state.kind)
            yield state.copy()


@pytest.mark.usefixtures("patient")
def test_a_hint_depends_on_nothing_that_is_hidden_from_the_seat() -> None:
    dice = random.Random(4)
    *earlier, last = _late()
    for state in (*earlier, last):
        other = determinize(view(state, state.seat), dice)
        assert other.hands != state.hands or other.piles != state.piles
        one, same = (_request(each) for each in (state, other))
        assert one.SerializeToString(deterministic=True) == same.SerializeToString(
            deterministic=True
        )
        if state is last:
            assert hint(one) == hint(same) < len(state.legal)


@pytest.mark.usefixtures("patient")
def test_hints_are_given_only_where_people_play() -> None:
    *_, last = _late()
    request = _request(last)
    data = request.SerializeToString()
    with TestClient(create_app(WebSettings()), base_url="http://localhost") as client:
        assert client.post("/api/hint", content=data).status_code == 404
    played = WebSettings(play_address="unix:/nowhere")
    with TestClient(create_app(played), base_url="http://localhost") as client:
        answer = client.post("/api/hint", content=data)
        assert answer.json() == {"action": hint(request)}
        assert answer.headers["cache-control"] == "no-store"
        assert client.post("/api/hint", content=b"").status_code == 422
        request.decision.view.private_view.asari = 10_000
        assert client.post("/api/hint", content=request.SerializeToString()).status_code == 422
