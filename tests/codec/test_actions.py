from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from asara.v1 import vocabulary_pb2 as pb
from asara.v1.play_pb2 import PlayRequest, Reply
from asara_codec.decode import UnknownAction, action_from_proto, reply_from_bytes
from asara_codec.encode import action_message
from asara_game.actions import Action, Decline, parse_action
from tests.codec.every_action import SENT


@pytest.mark.parametrize("sent", SENT, ids=str)
def test_an_action_sent_back_as_it_came_is_the_same_action(sent: Action) -> None:
    message = pb.Action.FromString(action_message(sent).SerializeToString())
    assert action_from_proto(message) is sent
    assert action_from_proto(message) is sent  # out of the cache
    assert parse_action(str(sent)) is sent


TRUNK = {"kind": 2, "colour": 3}
BASE = {"kind": 1, "colour": 3}
DECLINE = pb.Action(decline=pb.Decline()).SerializeToString()


def action(**member: Any) -> pb.Action:
    return pb.Action(**member)


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        pytest.param(message, fault, id=name)
        for name, message, fault in [
            ("nothing", action(), "no member is set; set one of choose_space, lay_buyers,"),
            ("no space", action(choose_space={}), "choose_space.space is not set"),
            (
                "unknown area",
                action(wish={"space": {"area": 99, "number": 1}}),
                "wish.space.area is 99, not one of",
            ),
            (
                "three buyers",
                action(lay_buyers={"buyers": [1, 1, 1], "face_down": True}),
                "lay_buyers.buyers has 3 entries; lay one buyer or two",
            ),
            (
                "falling buyers",
                action(lay_buyers={"buyers": [2, 1], "face_down": True}),
                "lay_buyers.buyers must be in rising order",
            ),
            (
                "unknown buyer",
                action(lay_buyers={"buyers": [1, 6], "face_down": True}),
                "lay_buyers.buyers[1] is 6, not one of BLUE (1)",
            ),
            (
                "far too long",
                action(lay_buyers={"buyers": [1] * 100}),
                "bytes long; no action has more than 64",
            ),
            (
                "a base into a tower",
                action(extend_tower={"tower": 1, "section": BASE}),
                "extend_tower.section.kind is BASE, not TRUNK or WINDOW",
            ),
            (
                "negative tower",
                action(extend_tower={"tower": -1, "section": TRUNK}),
                "extend_tower.tower is -1, not 1 to 255",
            ),
            (
                "unknown field beside",
                pb.Action.FromString(DECLINE + b"\xf8\x07\x01"),
                "decline carries a field that this protocol does not know",
            ),
            (
                "unknown field inside",
                pb.Action.FromString(b"\x22\x02\x08\x01"),
                "decline carries a field that this protocol does not know",
            ),
        ]
    ],
)
def test_what_is_no_action_is_refused_by_naming_the_field(message: pb.Action, fault: str) -> None:
    with pytest.raises(UnknownAction) as raised:
        action_from_proto(message)
    assert fault in str(raised.value)
    assert str(raised.value).startswith("action: ")


def assert_action_or_refusal(message: pb.Action) -> None:
    try:
        understood = action_from_proto(message)
    except UnknownAction:
        return
    assert action_message(understood) == message
    assert parse_action(str(understood)) is understood


@given(st.binary(max_size=80))
def test_no_bytes_bring_anything_but_an_action_or_its_refusal(data: bytes) -> None:
    try:
        message = pb.Action.FromString(data)
    except DecodeError:
        return
    assert_action_or_refusal(message)


NUMBERS = st.one_of(st.integers(-2, 20), st.integers(-(2**31), 2**31 - 1))
MESSAGES = {
    pb.Space: st.builds(pb.Space, area=NUMBERS, number=NUMBERS),
    pb.Section: st.builds(pb.Section, kind=NUMBERS, colour=NUMBERS, gold=st.booleans()),
}


def members() -> st.SearchStrategy[pb.Action]:
    """Actions that are well-formed messages, with any values in their fields."""

    def field(descriptor: Any) -> st.SearchStrategy[Any]:
        if descriptor.message_type is not None:
            return MESSAGES[getattr(pb, descriptor.message_type.name)]
        value = st.booleans() if descriptor.cpp_type == descriptor.CPPTYPE_BOOL else NUMBERS
        return st.lists(value, max_size=4) if descriptor.is_repeated else value

    def member(descriptor: Any) -> st.SearchStrategy[pb.Action]:
        kind = getattr(pb, descriptor.message_type.name)
        fields = {f.name: st.none() | field(f) for f in descriptor.message_type.fields}
        return st.builds(kind, **fields).map(lambda m: pb.Action(**{descriptor.name: m}))

    return st.one_of(*map(member, pb.Action.DESCRIPTOR.fields))


@given(members())
def test_no_message_brings_anything_but_an_action_or_its_refusal(message: pb.Action) -> None:
    assert_action_or_refusal(message)


# Replies in their usual form are read without protobuf's parser, with the same result.


def request(match_id: str, decision_id: int, actions: list[Action]) -> bytes:
    reply = Reply(match_id=match_id, decision_id=decision_id, actions=map(action_message, actions))
    return PlayRequest(reply=reply).SerializeToString()


@pytest.fixture(scope="module")
def _known_actions() -> None:
    """Let the reader meet every action once."""
    for action in SENT:
        action_from_proto(action_message(action))


@pytest.mark.usefixtures("_known_actions")
@settings(max_examples=40)
@given(
    match_id=st.text(min_size=1, max_size=40),
    decision_id=st.integers(1, 2**63 - 1),
    actions=st.lists(st.sampled_from(SENT), max_size=5),
)
def test_a_plain_reply_is_read_at_once(
    match_id: str, decision_id: int, actions: list[Action]
) -> None:
    read = reply_from_bytes(request(match_id, decision_id, actions))
    assert read == (match_id, decision_id, tuple(actions))


@pytest.mark.usefixtures("_known_actions")
@settings(max_examples=200)
@given(
    data=st.one_of(
        st.binary(max_size=60),
        st.builds(
            lambda cut, place, byte: cut[:place] + bytes([byte]) + cut[place + 1 :],
            st.builds(
                request,
                st.text(max_size=130),
                st.integers(-2, 2**63 - 1),
                st.lists(st.sampled_from(SENT), max_size=3),
            ),
            st.integers(0, 40),
            st.integers(0, 255),
        ),
    )
)
def test_what_is_read_at_once_is_what_protobuf_reads(data: bytes) -> None:
    read = reply_from_bytes(data)
    if read is not None:
        request = PlayRequest.FromString(data)
        assert request.WhichOneof("request") == "reply"
        assert not request.HasField("hello")
        reply = request.reply
        assert read.match_id == reply.match_id
        assert read.decision_id == reply.decision_id
        assert read.actions == tuple(map(action_from_proto, reply.actions))


def test_an_action_that_never_came_before_is_left_to_the_parser() -> None:
    data = request("m", 1, [Decline()])
    strange = data.replace(action_message(Decline()).SerializeToString(), b"\x7a\x00")
    assert reply_from_bytes(strange) is None
