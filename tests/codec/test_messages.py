import random
from collections.abc import Iterable
from typing import Any, get_args

import pytest
from google.protobuf.message import Message

from asara.v1 import event_pb2, vocabulary_pb2
from asara.v1 import play_pb2 as pb
from asara.v1.watch_pb2 import WatchResponse
from asara_codec.clocks import Clocks
from asara_codec.decode import action_from_proto, clocks_from_proto, event_from_proto
from asara_codec.editions import edition_message, rules_from_proto
from asara_codec.encode import event_bytes, event_message
from asara_codec.messages import (
    decision_bytes,
    goodbye_bytes,
    match_ended_bytes,
    match_started_bytes,
    rejection_bytes,
    update_bytes,
    watch_ended_bytes,
    watch_started_bytes,
    watch_update_bytes,
    welcome_bytes,
)
from asara_codec.reflection import CodecError
from asara_codec.results import RejectionReason, SeatEnd, SeatForfeited, SeatResult, Termination
from asara_codec.view_reader import public_from_proto, view_from_proto
from asara_codec.view_writer import ViewWriter
from asara_game import events as ev
from asara_game.actions import Action
from asara_game.deal import Deal
from asara_game.engine import apply, new_match
from asara_game.rules import Rules
from asara_game.view import RunningView, public_view, view
from asara_game.vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    GiftKind,
    RuleSet,
    SectionKind,
    Space,
    Tower,
)
from tests.game.play import POLICIES, Policy, playout
from tests.match.playouts import EVERYTHING, WIDE_CASES, rules_for

CLOCKS = Clocks(30_000_000, 60_000_000, 500_000, 50_000, 2**40)
RESULTS = (
    SeatResult(
        0,
        "grün",
        SeatEnd(1, 57, Termination.COMPLETED, ""),
        12,
        (2, 1, *[0] * 37, 3),
        (0, 2, 0, 0, 1),
    ),
    SeatResult(1, "red", SeatEnd(2, -1, Termination.TIME_OUT, "too late"), 0, (0,) * 40, (0,) * 5),
)
SENT_RESULTS = [
    pb.SeatResult(
        seat=0,
        entry="grün",
        rank=1,
        prestige=57,
        termination=event_pb2.TERMINATION_COMPLETED,
        asari=12,
        sections=[
            *[vocabulary_pb2.Section(kind=1, colour=1)] * 2,  # type: ignore[arg-type]
            vocabulary_pb2.Section(kind=1, colour=1, gold=True),  # type: ignore[arg-type]
            *[vocabulary_pb2.Section(kind=4, colour=5, gold=True)] * 3,  # type: ignore[arg-type]
        ],
        lit_windows=[2, 2, 5],  # type: ignore[list-item]
    ),
    pb.SeatResult(
        seat=1,
        entry="red",
        rank=2,
        prestige=-1,
        termination=event_pb2.TERMINATION_TIME_OUT,
        detail="too late",
    ),
]
BANK = Space(Area.BANK, 12)
TRUNK = SECTION_TYPES[15]
TOWER = Tower(Colour.RED, True, False, 1, 2, 3, 4, 2, 1)
EVENTS: list[ev.Event | SeatForfeited] = [
    ev.YearStarted(2, 1, 9),
    ev.IncomeReceived(1, 20),
    ev.DisplayFilled(0, SECTION_TYPES[10:14]),
    ev.DisplayFilled(0, ()),
    ev.GiftLaid(0, BANK, GiftCard(GiftKind.ASARI, asari=6)),
    ev.BuyersDispatched(3, BANK, BuyerColour.PURPLE, 1),
    ev.BuyersDispatched(3, BANK, 0, 2),
    ev.GiftTaken(1, GiftCard(GiftKind.BUY_SECTION, section_kind=SectionKind.TURRET), False),
    ev.GiftTaken(1, GiftCard(GiftKind.PRESTIGE, prestige=2), True, 0, 2),
    ev.SectionTaken(1, TRUNK, True, -5),
    ev.MoveDeclined(1),
    ev.MoveLost(1),
    ev.FundsTaken(0, BANK, 12),
    ev.PileSearched(0, SectionKind.WINDOW, -3),
    ev.PatronageTaken(1),
    ev.BuyersRecruited(1, 2, -4),
    ev.LitWindowsDrawn(1, 5, -10),
    ev.LitWindowsKept(1, 2),
    ev.GeniePaid(1, -7),
    ev.WishMade(1, BANK),
    ev.BuildStarted(1, 3, -3),
    ev.TowerFounded(1, 2, TOWER, 0, 2),
    ev.TowerExtended(1, 2, TRUNK, 0, 1),
    ev.WindowLit(1, 2, True, 0, 1),
    ev.YearEvaluated(1, 3, 2, 1, 1, 0, 7),
    ev.FinalEvaluated(1, (4, 0, 8, 0, 12), 8, 9, 2, 0, 43),
    SeatForfeited(3, Termination.CRASH),
]


def canonical(kind: type[Message], data: bytes) -> Any:
    """The message in `data`, which must be the bytes that protobuf writes for it."""
    message = kind.FromString(data)
    assert message.SerializeToString(deterministic=True) == data
    return message


def events_in(messages: Iterable[Any]) -> list[Any]:
    return [event_from_proto(message) for message in messages]


def decision(view: Any, events: Iterable[Any] = (), include_public: bool = True) -> Any:
    data = decision_bytes(
        match_id="m-1",
        decision_id=7,
        view=view,
        events=map(event_bytes, events),
        sequence=300,
        clock_us=60_000_000,
        charged_us=0,
        include_public=include_public,
    )
    return canonical(pb.PlayResponse, data).decision


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_views_that_follow_each_other_are_written_as_each_alone(
    rule_sets: frozenset[RuleSet], seats: int, policy: Policy
) -> None:
    moments = playout(rules_for(rule_sets, seats), 7, policy)
    state, _, _ = next(moments)
    running, writer = RunningView(state), ViewWriter()
    for state, _, _ in moments:
        if state.seat >= 0:
            assert writer.view(running.deciding()) == ViewWriter().view(view(state, state.seat))


def match_started(view: Any) -> Any:
    data = match_started_bytes(
        match_id="m-1",
        view=view,
        clocks=CLOCKS,
        deal_commitment=b"c" * 32,
        sequence=11,
        resumed=True,
    )
    return canonical(pb.PlayResponse, data).match_started


def test_every_event_has_an_example() -> None:
    assert {type(event) for event in EVENTS} == {*get_args(ev.Event), SeatForfeited}


@pytest.mark.parametrize(
    "event", [pytest.param(e, id=f"{type(e).__name__}-{i}") for i, e in enumerate(EVENTS)]
)
def test_events_round_trip(event: ev.Event | SeatForfeited) -> None:
    update = canonical(
        pb.PlayResponse, update_bytes(match_id="m-1", events=[event_bytes(event)], sequence=1)
    ).update
    assert update.events == [event_message(event)]
    [back] = events_in(update.events)
    assert back == event
    assert type(back) is type(event)


def test_an_event_of_a_newer_referee_is_refused_with_a_reason() -> None:
    with pytest.raises(CodecError, match="no member is set"):
        event_from_proto(event_message(ev.MoveLost(1)).__class__(seat=1))


@pytest.mark.parametrize("power", [0, 6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28, 29, 35, 62])
def test_numbers_of_every_length_arrive(power: int) -> None:
    for number in (2**power - 1, 2**power, -(2**power)):
        data = update_bytes(match_id="m-1", events=(), sequence=number)
        assert canonical(pb.PlayResponse, data).update.sequence == number


@pytest.mark.parametrize("length", [1, 127, 128, 2047, 2048, 20_000])
def test_texts_of_every_length_arrive(length: int) -> None:
    text = "ü" * length
    data = update_bytes(match_id=text, events=(), sequence=1)
    assert canonical(pb.PlayResponse, data).update.match_id == text


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_decisions_and_views_round_trip_through_whole_matches(
    rule_sets: frozenset[RuleSet], seats: int
) -> None:
    rules = rules_for(rule_sets, seats)
    for moment in playout(rules, seed=1):
        state = moment.state
        public = public_view(state)
        for seat in range(seats):
            seen = view(state, seat)
            started = match_started(seen)
            back = view_from_proto(rules, started)
            assert back.public == public
            assert back.private == seen.private
            assert started.seat == seat
            assert started.view.private_view.seat == seat
        if state.seat < 0:
            continue
        seen = view(state, state.seat)
        message = decision(seen, moment.events)
        assert view_from_proto(rules, message) == seen
        assert events_in(message.events) == list(moment.events)
        assert list(map(type, events_in(message.events))) == list(map(type, moment.events))
        assert (message.match_id, message.decision_id) == ("m-1", 7)
        assert (message.sequence, message.clock_us, message.charged_us) == (300, 60_000_000, 0)
        for action, sent in zip(seen.legal, message.legal_actions, strict=True):
            assert action_from_proto(sent) is action
        bare = decision(seen, moment.events, include_public=False)
        assert not bare.view.HasField("public_view")
        assert bare.view.private_view == message.view.private_view
        with pytest.raises(CodecError, match="omit_public_view"):
            view_from_proto(rules, bare)


def test_playouts_come_to_every_kind_of_decision() -> None:
    rules = rules_for(EVERYTHING, 4)
    kinds = {m.state.kind for seed in range(5) for m in playout(rules, seed) if m.state.seat >= 0}
    assert kinds == set(DecisionKind)


def test_a_seat_that_decides_nothing_gets_no_decision() -> None:
    moment = next(playout(rules_for(EVERYTHING, 2), seed=1))
    other = view(moment.state, 1 - moment.state.seat)
    with pytest.raises(ValueError, match="nothing to decide"):
        decision(other)


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_the_edition_that_a_bot_gets_plays_the_same_match(
    rule_sets: frozenset[RuleSet], seats: int
) -> None:
    rules = rules_for(rule_sets, seats)
    sent = match_started(view(next(playout(rules, seed=1)).state, 0))
    assert sent.seats == seats
    assert sent.edition_sha256 == rules.edition.sha256
    got = rules_from_proto(sent)
    assert got is rules_from_proto(sent)
    assert (got.rule_sets, got.seats) == (rule_sets, seats)
    assert edition_message(got) == edition_message(rules)
    assert history(got) == history(rules)


def history(rules: Rules) -> list[Any]:
    """All legal actions and events of a match with a fixed deal and fixed choices."""
    dice = random.Random(5)
    state, events = new_match(rules, Deal(bytes(32)))
    told: list[Any] = [*events]
    while state.seat >= 0:
        told.append(list(map(str, state.legal)))
        told += apply(state, dice.choice(list(state.legal)))
    return told


def test_match_started_says_what_was_given() -> None:
    seen = view(next(playout(rules_for(EVERYTHING, 3), seed=2)).state, 2)
    started = match_started(seen)
    assert list(started.rule_sets) == [1, 2, 3, 4]
    assert clocks_from_proto(started.clocks) == CLOCKS
    assert (started.match_id, started.sequence, started.resumed) == ("m-1", 11, True)
    assert started.deal_commitment == b"c" * 32


def test_a_rejection_lists_the_legal_actions_again() -> None:
    seen = view(next(playout(rules_for(EVERYTHING, 2), seed=1)).state, 0)
    data = rejection_bytes(
        match_id="m-1",
        decision_id=3,
        reason=RejectionReason.EMPTY,
        detail="no action",
        legal=seen.legal,
        clock_us=-1,
        forgiven=2,
    )
    rejection = canonical(pb.PlayResponse, data).rejection
    legal: tuple[Action, ...] = tuple(map(action_from_proto, rejection.legal_actions))
    assert legal == seen.legal
    assert rejection.reason == pb.REJECTION_REASON_EMPTY
    assert (rejection.decision_id, rejection.clock_us, rejection.forgiven) == (3, -1, 2)


def test_the_secret_comes_with_the_end_but_not_of_a_void_match() -> None:
    def ended(void: bool) -> Any:
        data = match_ended_bytes(
            match_id="m-1",
            events=map(event_bytes, EVENTS),
            sequence=9,
            results=RESULTS,
            deal_secret=b"s" * 32,
            void=void,
        )
        return canonical(pb.PlayResponse, data).match_ended

    message = ended(void=False)
    assert events_in(message.events) == EVENTS
    assert list(message.results) == SENT_RESULTS
    assert message.deal_secret == b"s" * 32
    assert ended(void=True).deal_secret == b""


def test_welcome_and_goodbye() -> None:
    limits = pb.Limits(request_bytes=65_536, responses_unread=1000)
    data = welcome_bytes(protocol_version=1, referee="r", entry="e", limits=limits)
    welcome = canonical(pb.PlayResponse, data).welcome
    assert welcome.limits.responses_unread == 1000
    assert (welcome.protocol_version, welcome.referee, welcome.entry) == (1, "r", "e")
    assert canonical(pb.PlayResponse, goodbye_bytes("bye")).goodbye.reason == "bye"


def test_watchers_get_the_same_events_and_only_the_public_view() -> None:
    moment = next(playout(rules_for(EVERYTHING, 2), seed=1))
    data = watch_started_bytes(
        match_id="m-1",
        entries=["a", "b"],
        rules=rules_for(EVERYTHING, 2),
        sequence=4,
        public=public_view(moment.state),
        deal_commitment=b"c" * 32,
        nonces=[b"n" * 32, b""],
    )
    started = canonical(WatchResponse, data).started
    assert list(started.match.entries) == ["a", "b"]
    assert (started.deal_commitment, list(started.nonces)) == (b"c" * 32, [b"n" * 32, b""])
    assert public_from_proto(started.public_view) == public_view(moment.state)
    parts = map(event_bytes, moment.events)
    data = watch_update_bytes(match_id="m-1", events=parts, sequence=4)
    assert events_in(canonical(WatchResponse, data).update.events) == list(moment.events)
    data = watch_ended_bytes(results=RESULTS, deal_secret=b"s")
    ended = canonical(WatchResponse, data).ended
    assert list(ended.results) == SENT_RESULTS
