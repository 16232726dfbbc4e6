"""A hint tells a seat nothing hidden, and nobody else that it was asked for.

The messages are those of the two referees of `worlds`; the hints are those of the real web server.
"""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from asara.v1.play_pb2 import PlayResponse
from asara.v1.preview_pb2 import PreviewRequest
from asara_game.knowledge.determinize import determinize
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import DecisionKind
from asara_search.analysis import advice
from asara_server.match.inputs import Presence
from asara_server.match.match import Match
from asara_server.web import preview
from asara_server.web.app import create_app
from asara_server.web.settings import WebSettings
from tests.leak.worlds import Twins, living_in
from tests.sizes import others_long

HINTS = 8


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few playouts, and no machine is too slow for them."""
    monkeypatch.setattr(advice, "_PLAYOUTS", 4)
    monkeypatch.setattr(preview, "LONGEST_S", 1e9)


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket at which the web server would reach the referee."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "referee"))
        listener.listen()
        listener.setblocking(False)
        yield listener


def client_of(referee: socket.socket) -> TestClient:
    settings = WebSettings(play_address=f"unix:{referee.getsockname()}")
    return TestClient(create_app(settings), base_url="http://localhost")


def asked(match: Match, seat: int, now: int) -> bytes:
    """The hint request of a page that connected in the middle of its seat's turn."""
    match.outbox.clear()
    match.leave(seat, now)
    match.enter(seat, Presence(live_updates=True), now)
    sent = [PlayResponse.FromString(data) for to, data in match.outbox if to == seat]
    match.outbox.clear()
    [started] = [each.match_started for each in sent if each.HasField("match_started")]
    [decision] = [each.decision for each in sent if each.HasField("decision")]
    started.ClearField("view")
    decision.ClearField("events")
    return PreviewRequest(started=started, decision=decision).SerializeToString()


def in_another_world(twins: Twins, request: bytes) -> bytes:
    """What the page would post if everything were different that is hidden from its seat."""
    state = twins.state
    world = determinize(view(state, state.seat), twins.dice)
    assert world.hands != state.hands or world.piles != state.piles
    with living_in(twins.twin, world):
        other = asked(twins.twin, state.seat, twins.now)
    assert PreviewRequest.FromString(other) == PreviewRequest.FromString(request)
    return other


def worth_asking(state: State, kinds: set[DecisionKind]) -> bool:
    """One decision of each kind, in years in which playouts are short."""
    return state.year > 2 and len(state.legal) > 2 and state.kind not in kinds


@pytest.mark.parametrize(
    ("rule_sets", "seats"),
    others_long([("basic", 2), ("pro+gifts+genie", 4), ("pro", 3), ("basic+gifts", 4)], 4),
)
def test_a_hint_is_the_same_in_all_worlds_that_its_seat_cannot_tell_apart(
    rule_sets: str, seats: int, referee: socket.socket
) -> None:
    twins = Twins(rule_sets, seats, seed=7)
    kinds: set[DecisionKind] = set()
    with client_of(referee) as client:
        while not twins.match.finished and len(kinds) < HINTS:
            state = twins.state
            if worth_asking(state, kinds):
                kinds.add(state.kind)
                request = asked(twins.match, state.seat, twins.now)
                other = in_another_world(twins, request)
                answers = [client.post("/api/hint", content=each) for each in (request, other)]
                assert [answer.status_code for answer in answers] == [200, 200]
                assert answers[0].content == answers[1].content
                assert answers[0].headers == answers[1].headers
            twins._answer(twins.dice.choice(state.legal))
    assert len(kinds) > 3


def test_only_who_has_a_seats_decision_gets_its_hint_and_nobody_hears_of_it(
    referee: socket.socket,
) -> None:
    twins = Twins("basic", 2, seed=7)
    while not worth_asking(twins.state, set()):
        twins._answer(twins.dice.choice(twins.state.legal))
    state = twins.state
    request = asked(twins.match, state.seat, twins.now)
    others = PreviewRequest.FromString(request)
    others.decision.view.private_view.seat = 1 - state.seat
    with client_of(referee) as client:
        paths = ("/api/runs", "/api/hint", "/api/preview", "/metrics")
        before = [client.get(path).content for path in paths]
        hint = client.post("/api/hint", content=request)
        assert hint.status_code == 200
        # The seat that waits knows the public part alone. It has no decision that it could post.
        assert client.post("/api/hint", content=others.SerializeToString()).status_code == 422
        others.decision.view.ClearField("private_view")
        assert client.post("/api/hint", content=others.SerializeToString()).status_code == 422
        assert client.get("/api/hint").status_code == 404
        assert [client.get(path).content for path in paths] == before
        with pytest.raises(BlockingIOError):  # the referee was told nothing
            referee.accept()
        with client.websocket_connect("ws://localhost/ws/play") as page:
            page.send_bytes(b"hello")
            referee.settimeout(60)
            referee.accept()[0].close()  # this is how it would have been told
