"""The messages of a seat with live updates, after a break, and without the public view."""

import random
from hashlib import sha256

import pytest

from asara_codec.results import Termination
from asara_game.state import State
from asara_game.vocabulary import DecisionKind
from asara_server.match.inputs import Presence
from tests.referee.harness import Driven, spec

QUIET = Presence()
LIVE = Presence(live_updates=True)


def heard(told):
    """Sequence numbers by kind of message."""
    found = []
    for response in told:
        kind = str(response.WhichOneof("response"))
        message = getattr(response, kind)
        if kind != "rejection":
            found.append((kind, message.sequence - len(getattr(message, "events", ()))))
    return found


def test_the_digest_of_a_seat_is_over_every_message_to_it_in_order():
    digests = [bytes(32)] * 3

    class Digesting(Driven):
        def take(self):
            for seat, data in self.match.outbox:
                digests[seat] = sha256(digests[seat] + data).digest()
            super().take()

    driven = Digesting(spec(3), present={0: QUIET, 1: LIVE, 2: LIVE})
    driven.play_out(random.Random(1))
    assert driven.match.feed.digests == tuple(digests)


def test_live_updates_tell_each_turn_by_itself():
    driven = Driven(spec(3), present={0: QUIET, 1: QUIET, 2: LIVE})
    driven.play_out(random.Random(1))
    feed = driven.match.feed
    updates = [r.update for r in driven.told[2] if r.HasField("update")]
    assert [u.sequence for u in updates] == feed.turn_ends[1:]
    starts = [u.sequence - len(u.events) for u in updates]
    own = [r.decision for r in driven.told[2] if r.HasField("decision")]
    told_with_own_decisions = sum(len(d.events) for d in own)
    assert sum(len(u.events) for u in updates) + told_with_own_decisions == (
        len(feed.events) - feed.turn_ends[0]
    )
    assert starts[0] == feed.turn_ends[0]
    assert not driven.told[2][-1].match_ended.events


def test_a_live_bots_decision_at_the_start_of_its_turn_carries_no_events():
    driven = Driven(spec(2), present={0: LIVE, 1: LIVE})
    driven.play_out(random.Random(2))
    for told in driven.told:
        asked = [response.decision for response in told if response.HasField("decision")]
        begun = [decision for decision in asked if int(decision.kind) == DecisionKind.SPACE]
        assert begun
        assert not any(decision.events for decision in begun)


def test_a_live_bot_hears_of_the_forfeit_that_ends_a_match_before_the_end():
    driven = Driven(spec(2), present={0: LIVE, 1: QUIET})
    driven.match.forfeit(1, Termination.CRASH, "", driven.now)
    driven.take()
    assert driven.kinds(0)[-2:] == ["update", "match_ended"]
    assert not driven.told[0][-1].match_ended.events


def test_the_public_view_can_be_left_out():
    driven = Driven(present={0: Presence(omit_public_view=True), 1: QUIET})
    assert driven.told[0][0].match_started.view.HasField("public_view")
    decision = driven.told[0][1].decision
    assert not decision.view.HasField("public_view")
    assert decision.view.private_view.hand
    while driven.asked == 0:
        driven.reply()
    assert driven.told[1][-1].decision.view.HasField("public_view")


def driven_to(condition, seats=3, rule_sets="pro+gifts+genie", seed=3):
    """A match, played until its state meets a condition."""
    driven = Driven(spec(seats, rule_sets))
    driven.play_out(random.Random(seed), until=lambda match: condition(match.state))
    assert not driven.match.finished
    return driven


def come_back(driven, seat, presence):
    """Break the stream of a seat, and let its bot come back; what it was told before is dropped."""
    driven.match.leave(seat, driven.now)
    driven.clear()
    driven.match.enter(seat, presence, driven.now)
    driven.take()


def in_the_middle(state: State) -> bool:
    return state.seat == 0 and state.kind == DecisionKind.SECTION


def test_a_bot_that_comes_back_in_its_turn_gets_table_and_decision():
    driven = driven_to(in_the_middle)
    before = driven.told[0][-1].decision
    come_back(driven, 0, QUIET)
    assert driven.kinds(0) == ["match_started", "decision"]
    started, decision = driven.told[0][0].match_started, driven.told[0][1].decision
    assert started.resumed
    assert started.sequence == decision.sequence == len(driven.match.feed.events)
    assert started.view == before.view
    assert not decision.events
    assert decision.decision_id == before.decision_id
    assert decision.legal_actions == before.legal_actions
    assert driven.told[1:] == [[], []]


@pytest.mark.parametrize("offset", [-3, 0, 1, 10**15])
def test_a_bot_that_says_what_it_heard_last_gets_what_it_missed_first(offset):
    driven = driven_to(in_the_middle)
    sequence = len(driven.match.feed.events)
    come_back(driven, 0, Presence(last_sequence=sequence + offset))
    assert heard(driven.told[0]) == [
        *([("update", sequence + offset)] if offset < 0 else []),
        ("match_started", sequence),
        ("decision", sequence),
    ]


@pytest.mark.parametrize("presence", [QUIET, LIVE, Presence(last_sequence=0)])
def test_a_bot_that_comes_back_in_anothers_turn_hears_nothing_until_its_own(presence):
    driven = driven_to(in_the_middle)
    come_back(driven, 1, presence)
    rng = random.Random(4)
    while driven.asked != 1:
        assert driven.told[1] == []
        driven.reply(rng.choice(driven.match.state.legal))
    missed = [] if presence.last_sequence is None else ["update"]
    assert driven.kinds(1) == [*missed, "match_started", "decision"]
    assert driven.told[1][-2].match_started.resumed


def test_a_bot_that_comes_back_before_the_end_gets_the_table_and_the_end():
    driven = driven_to(in_the_middle)
    driven.match.leave(1, driven.now)
    driven.match.enter(1, QUIET, driven.now)
    driven.clear()
    driven.match.forfeit(0, Termination.CRASH, "", driven.now)
    driven.match.forfeit(2, Termination.CRASH, "", driven.now)
    driven.take()
    assert driven.kinds(1)[-2:] == ["match_started", "match_ended"] or driven.kinds(1) == [
        "match_started",
        "decision",
        "match_ended",
    ]


def test_nothing_is_said_to_a_bot_that_is_away():
    driven = Driven(spec(2), present={0: QUIET, 1: LIVE})
    driven.match.leave(1, driven.now)
    driven.clear()
    driven.play_out(random.Random(5), until=lambda match: match.asked == 1)
    assert driven.told[1] == []


def test_the_end_is_told_to_all_others_if_a_bot_is_away():
    driven = Driven(spec(3))
    driven.match.leave(0, driven.now)
    driven.clear()
    for seat in (0, 1):
        driven.match.forfeit(seat, Termination.CRASH, "", driven.now)
    driven.take()
    assert [driven.kinds(seat)[-1:] for seat in range(3)] == [[], ["match_ended"], ["match_ended"]]


def test_a_forfeited_seat_whose_bot_listens_on_hears_the_end():
    driven = Driven(spec(3))
    driven.expire(after_s=1000)
    assert driven.match.termination(0) is Termination.TIME_OUT
    driven.clear()
    driven.play_out(random.Random(6))
    assert driven.kinds(0) == ["match_ended"]
    result = driven.told[0][0].match_ended.results[0]
    assert int(result.termination) == Termination.TIME_OUT
