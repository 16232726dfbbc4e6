"""Whose decision it is, and the outcome of replies."""

import random

import pytest

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_game.actions import parse_action
from asara_game.events import BuyersDispatched
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_game.vocabulary import Area, Colour, DecisionKind, Space
from asara_server.match.inputs import Absence, Presence, RejectionRecord, ReplyRecord, StartRecord
from asara_server.match.match import NEVER, Answer, steward_action
from asara_server.match.spec import MatchSpec, Player
from tests.game.table import Table
from tests.referee.harness import LIMITS, Driven, rules, spec
from tests.sizes import others_long


def test_the_match_starts_with_the_table_for_everybody_and_a_decision_for_one():
    driven = Driven(spec(3))
    assert driven.kinds(0) == ["match_started", "decision"]
    assert driven.kinds(1) == driven.kinds(2) == ["match_started"]
    started = driven.told[0][0].match_started
    decision = driven.told[0][1].decision
    assert (started.match_id, started.seat, started.seats) == ("m1", 0, 3)
    assert not started.resumed
    assert started.sequence == decision.sequence == len(driven.match.feed.events)
    assert not decision.events, "the view in match_started holds them"
    assert decision.decision_id == 1


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("rule_sets", others_long(RULE_COMBINATIONS, 5), ids=format_rule_sets)
def test_every_match_ends_with_a_result_for_every_seat(rule_sets, seats):
    driven = Driven(spec(seats, format_rule_sets(rule_sets)))
    driven.play_out(random.Random(seats))
    match = driven.match
    assert [r.seat for r in match.results] == list(range(seats))
    assert all(r.end.termination is Termination.COMPLETED for r in match.results)
    assert [r.end.prestige for r in match.results] == match.state.prestige
    assert min(r.end.rank for r in match.results) == 1
    assert not match.void_reason
    assert match.deadline_us == NEVER
    assert match.asked is None
    for told in driven.told:
        ended = told[-1].match_ended
        assert [r.rank for r in ended.results] == [r.end.rank for r in match.results]
        assert ended.deal_secret == match.spec.secret
        assert ended.sequence == len(match.feed.events)


def test_every_seat_hears_every_event_once_in_order_and_its_decisions_are_counted():
    driven = Driven(spec(3, "pro+gifts+genie"))
    driven.play_out(random.Random(2))
    everything = len(driven.match.feed.events)
    for told in driven.told:
        heard = told[0].match_started.sequence
        for response in told[1:]:
            message = getattr(response, str(response.WhichOneof("response")))
            heard += len(message.events)
            assert message.sequence == heard
        assert heard == everything
        ids = [r.decision.decision_id for r in told if r.HasField("decision")]
        assert ids == list(range(1, len(ids) + 1)) != []


def test_several_actions_are_played_as_far_as_they_go_in_the_turn():
    driven = Driven()
    space = next(a for a in driven.match.state.legal if str(a) == "dispatch base-market 1")
    lay = parse_action("lay blue"), parse_action("lay yellow"), parse_action("lay purple")
    hand = driven.told[0][1].decision.view.private_view.hand
    buyer = lay[hand[0] - 1] if hand[0] <= 3 else parse_action("lay green")
    nonsense = ActionMessage()
    driven.clear()
    driven.reply(space, buyer, parse_action("decline"), nonsense, referee_us=17)
    [reply] = [r for r in driven.match.records if isinstance(r, ReplyRecord)]
    assert list(map(str, reply.actions)) == ["dispatch base-market 1", str(buyer), "decline"]
    assert (reply.bot_us, reply.referee_us) == (1000, 17)
    assert driven.asked == 1
    assert driven.match.faults == [], "what comes behind the end of the turn is no fault"


def test_the_first_further_action_that_is_not_legal_ends_the_run():
    driven = Driven()
    space = driven.match.state.legal[0]
    driven.reply(*[space] * LIMITS.match_limits.actions_per_reply)
    _, record = driven.match.records
    assert isinstance(record, ReplyRecord)
    assert record.actions == (space,)
    assert driven.asked == 0
    assert driven.kinds(0) == ["match_started", "decision", "decision"]


def test_a_reply_to_an_answered_decision_is_ignored_in_the_turn_and_after_it():
    driven = Driven()
    driven.reply()
    while True:
        records = list(driven.match.records)
        driven.clear()
        driven.reply(seat=0, decision=1, expected=Answer.IGNORED)
        assert driven.match.records == records
        assert driven.told == [[], []]
        if driven.asked != 0:
            break
        driven.reply()
    driven.reply(seat=0, expected=Answer.IGNORED)


@pytest.mark.parametrize("decision", [2, 0, -1, 2**62])
def test_a_decision_that_was_never_asked_is_rejected(decision):
    driven = Driven()
    driven.clear()
    driven.reply(decision=decision, expected=Answer.REJECTED)
    rejection = driven.told[0][0].rejection
    assert rejection.reason == 5
    assert rejection.detail == f"decision {decision} was never asked; decision 1 is open"
    assert rejection.decision_id == 1
    assert len(rejection.legal_actions) == len(driven.match.state.legal)


def test_a_seat_that_is_not_asked_is_told_so():
    driven = Driven()
    driven.clear()
    driven.reply(driven.match.state.legal[0], seat=1, decision=1, expected=Answer.REJECTED)
    rejection = driven.told[1][0].rejection
    assert (rejection.decision_id, list(rejection.legal_actions)) == (0, [])
    assert rejection.detail == "decision 1 was never asked; none is open"


def rejected(driven, *actions):
    """The rejection of a reply with these actions."""
    driven.clear()
    now = driven.now = driven.now + 1000
    assert driven.match.reply(driven.asked, 1, list(actions), now) is Answer.REJECTED
    driven.take()
    [response] = driven.told[0]
    return response.rejection


def test_a_bad_reply_is_rejected_with_the_legal_list_and_the_clock_runs_on():
    driven = Driven(spec(clocks=Clocks(bank_us=10_000_000, increment_us=1_000_000, grace_us=0)))
    illegal = ActionMessage()
    illegal.build_count.count = 3
    unknown = ActionMessage()
    too_many = [illegal] * (LIMITS.match_limits.actions_per_reply + 1)
    legal = driven.told[0][1].decision.legal_actions
    cases = [(1, []), (2, [illegal]), (3, [unknown])]
    for number, (reason, actions) in enumerate(cases, 1):
        rejection = rejected(driven, *actions)
        assert rejection.reason == reason
        assert rejection.decision_id == 1
        assert rejection.legal_actions == legal
        assert rejection.forgiven == 3 - number
        assert rejection.clock_us == 11_000_000 - number * 1000
    driven = Driven()
    assert rejected(driven, *too_many).reason == 4


def test_the_fourth_rejected_reply_forfeits():
    driven = Driven(spec(3))
    for _ in range(3):
        rejected(driven)
    assert driven.match.termination(0) is Termination.UNSPECIFIED
    driven.clear()
    driven.match.reply(0, 1, [], driven.now)
    driven.take()
    assert driven.match.termination(0) is Termination.REJECTED_REPLIES
    assert [type(r) for r in driven.match.records] == [StartRecord] + [RejectionRecord] * 4
    assert driven.match.faults[-1].reason is Termination.REJECTED_REPLIES
    assert driven.asked == 1
    assert driven.kinds(0) == ["update"], "it is told that it forfeited, and nothing more"
    events = driven.told[0][0].update.events
    assert [event.WhichOneof("event") for event in events] == [
        "buyers_dispatched",
        "funds_taken",
        "seat_forfeited",
    ]
    assert events[-1].seat_forfeited.termination == 2


def test_rejections_are_counted_by_match_and_not_by_decision():
    driven = Driven()
    for _ in range(3):
        driven.match.reply(driven.asked, driven.decision_id(driven.asked), [], driven.now)
        driven.take()
        seat = driven.asked
        driven.reply()
        while driven.asked != seat:
            driven.reply()
    assert driven.match.termination(0) is Termination.UNSPECIFIED
    driven.match.reply(0, driven.decision_id(0), [], driven.now)
    assert driven.match.termination(0) is Termination.REJECTED_REPLIES


def test_the_steward_plays_on_for_a_seat_that_forfeited_and_it_ranks_last():
    driven = Driven(spec(3, "pro+gifts+genie"))
    driven.match.forfeit(0, Termination.CRASH, "process 7 was killed", driven.now)
    driven.take()
    driven.play_out(random.Random(5))
    end = driven.match.results[0].end
    assert end.rank == 3
    assert (end.termination, end.detail) == (Termination.CRASH, "process 7 was killed")
    events = driven.match.feed.events
    stewarded = [e for e in events if isinstance(e, BuyersDispatched) and e.seat == 0]
    assert {e.space for e in stewarded} == {Space(Area.COLOURED_BUILDING, 1)}


def test_several_forfeits_tie_at_the_end():
    driven = Driven(spec(4))
    for seat in (1, 2):
        driven.match.forfeit(seat, Termination.CRASH, "", driven.now)
    driven.play_out(random.Random(6))
    ranks = [r.end.rank for r in driven.match.results]
    assert ranks[1] == ranks[2] == 3
    assert sorted((ranks[0], ranks[3])) in ([1, 2], [1, 1])


def test_with_one_seat_left_the_match_ends_at_once():
    driven = Driven(spec(3))
    driven.match.forfeit(0, Termination.CRASH, "", driven.now)
    assert not driven.match.finished
    driven.match.forfeit(2, Termination.PROTOCOL_VIOLATION, "", driven.now)
    driven.take()
    assert driven.match.finished
    assert [r.end.rank for r in driven.match.results] == [2, 1, 2]
    assert driven.match.results[1].end.termination is Termination.COMPLETED
    assert driven.kinds(1)[-1] == "match_ended"


def test_seats_that_never_started_forfeit_together():
    driven = Driven(spec(2), start=False)
    never = Absence(Termination.NEVER_STARTED, "did not connect within 30 s")
    driven.match.start({}, {0: never, 1: never})
    assert driven.match.finished
    assert [r.end.rank for r in driven.match.results] == [1, 1]
    assert {r.end.termination for r in driven.match.results} == {Termination.NEVER_STARTED}


@pytest.mark.parametrize("replies", [0, 1])
def test_a_forfeit_is_sent_to_all_seats_when_the_turn_ends(replies):
    driven = Driven(spec(3), present={seat: Presence(live_updates=True) for seat in range(3)})
    for _ in range(replies):
        driven.reply()
    driven.clear()
    driven.match.forfeit(1, Termination.CRASH, "", driven.now)
    driven.take()
    assert driven.told == [[], [], []], "seat 0 is in its turn"
    while driven.asked == 0:
        driven.reply()
    for told in driven.told:
        [update] = [r.update for r in told if r.HasField("update")][:1]
        kinds = [event.WhichOneof("event") for event in update.events]
        assert kinds.index("seat_forfeited") == len(kinds) - 1


def test_a_seat_that_never_started_is_known_before_the_first_turn():
    driven = Driven(spec(3), start=False)
    present = {0: Presence(), 2: Presence(live_updates=True)}
    driven.match.start(present, {1: Absence(Termination.NEVER_STARTED, "did not connect")})
    driven.take()
    assert driven.kinds(0) == ["match_started", "decision"]
    [event] = driven.told[0][1].decision.events
    assert event.WhichOneof("event") == "seat_forfeited"
    assert driven.kinds(2) == ["match_started", "update"]


def test_a_bot_that_forfeits_in_anothers_turn_is_told_even_without_live_updates():
    driven = Driven(spec(3))
    driven.play_out(random.Random(2), until=lambda match: match.state.turn_seat == 2)
    driven.reply()
    driven.clear()
    driven.match.forfeit(1, Termination.PROTOCOL_VIOLATION, "", driven.now)
    driven.take()
    assert driven.told[1] == []
    while driven.match.state.turn_seat == 2:
        driven.reply()
    updates = [response.update for response in driven.told[1]]
    assert [e.WhichOneof("event") for e in updates[-1].events].count("seat_forfeited") == 1


def test_the_steward_declines_where_it_can():
    legal = [parse_action("take red base"), parse_action("decline")]
    assert str(steward_action(DecisionKind.SECTION, legal)) == "decline"
    legal = [parse_action("build 2"), parse_action("build 3")]
    assert str(steward_action(DecisionKind.BUILD_COUNT, legal)) == "build 2"


def test_r09_the_steward_returns_lit_windows_in_the_order_drawn():
    table = Table("pro")
    table.lit_stack("white black red green brown")
    table.send("lit-windows 1", "blue")
    table.play("pay 10", "keep red black")
    for colour in ("brown", "green"):  # then white, without a decision
        action = steward_action(table.state.kind, table.state.legal)
        assert str(action) == f"return {colour}"
        table.play(str(action))
    assert [window & 7 for window in table.state.lit_stack] == [
        Colour.WHITE,
        Colour.GREEN,
        Colour.BROWN,
    ]


def test_an_abandoned_match_tells_no_result_and_no_secret():
    driven = Driven()
    driven.reply()
    driven.clear()
    driven.match.abandon("a test")
    driven.take()
    for told in driven.told:
        [response] = told
        assert response.match_ended.void
        assert response.match_ended.deal_secret == b""
        assert not response.match_ended.results
    assert driven.match.finished
    assert driven.match.void_reason == "a test"


def test_replies_behind_the_end_are_ignored():
    driven = Driven()
    driven.match.forfeit(0, Termination.CRASH, "", driven.now)
    assert driven.match.finished
    for decision in (1, 2, 0):
        assert driven.match.reply(0, decision, [], driven.now) is Answer.IGNORED
        assert driven.match.reply(1, decision, [], driven.now) is Answer.IGNORED


def test_a_spec_names_as_many_players_as_seats_and_none_twice():
    one = Player("a", "token")
    two = (one, Player("b", "t"))
    with pytest.raises(ValueError, match="m1: 1 players for 2 seats"):
        MatchSpec("m1", rules(2), (one,), Clocks(), bytes(32))
    with pytest.raises(ValueError, match="one bot cannot play two seats"):
        MatchSpec("m1", rules(2), (one, one), Clocks(), bytes(32))
    with pytest.raises(ValueError, match="match_id"):
        MatchSpec("", rules(2), (one, Player("b", "t")), Clocks(), bytes(32))
    with pytest.raises(ValueError, match="m1: 1 nonces for 2 seats"):
        MatchSpec("m1", rules(2), two, Clocks(), bytes(32), joint=True, nonces=(b"",))
    with pytest.raises(ValueError, match="m1: the secret of the deal has 31 bytes, not 32"):
        MatchSpec("m1", rules(2), two, Clocks(), bytes(31))
    for name in ("m" * 128, "m"):
        MatchSpec(name, rules(2), two, Clocks(), bytes(32), shared_deal="d" * 128)
    with pytest.raises(ValueError, match="use 1 to 128 bytes"):
        MatchSpec("m" * 129, rules(2), two, Clocks(), bytes(32))


@pytest.mark.parametrize("name", Clocks._fields)
def test_a_time_limit_is_at_most_a_thousand_million_seconds(name):
    most_us = 10**15
    spec(clocks=Clocks(**{name: most_us}))
    for bad in (-1, most_us + 1):
        with pytest.raises(ValueError, match=f"m1: {name} is {bad}; use 0 to {most_us}"):
            spec(clocks=Clocks(**{name: bad}))
