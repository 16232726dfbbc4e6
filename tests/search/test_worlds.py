"""Worlds that a bot makes from what it was sent, in whole matches between clients and a referee."""

import gc
import random
from collections.abc import Callable
from weakref import ref

import pytest

import asara
import asara_search
from asara.v1.play_pb2 import Limits, PlayResponse
from asara.verifier import Verifier
from asara_codec.messages import decision_bytes
from asara_codec.view_writer import ViewWriter
from asara_game import State, view
from asara_game.state import IllegalAction
from asara_server.match.match import Match as RefereeMatch
from tests.bots.in_process import finished_match
from tests.game.play import CASES, snapshot
from tests.game.table import rules
from tests.sizes import others_long

SECRET = bytes(range(32))
Check = Callable[[asara.Decision, asara.Match], None]


def played(rule_sets: str, seats: int, check: Check, seat: int = 0) -> RefereeMatch:
    """Play a random match, in which `check` is called at each decision of one seat."""

    def watching(decision: asara.Decision, match: asara.Match) -> asara.Action:
        check(decision, match)
        return match.random_action(decision)

    def other(decision: asara.Decision, match: asara.Match) -> asara.Action:
        return match.random_action(decision)

    bots = [watching if number == seat else other for number in range(seats)]
    return finished_match(rules(rule_sets, seats), bots, f"{rule_sets}-{seats}", SECRET)


def shadow(match: asara.Match, messages: list[bytes]) -> asara.Match:
    """The match of another client that was sent these messages."""
    verifier = Verifier(match.match_id, match.seat, None)
    for message in messages:
        verifier.record(message)
    return asara.Match(match.started, "shadow", Limits(), "other", verifier)


def sent_in(world: State, seat: int, decision: asara.Decision) -> bytes:
    """The message of a decision as the referee sends it in this true state, without events."""
    return decision_bytes(
        match_id=decision.match_id,
        decision_id=decision.decision_id,
        view=view(world, seat),
        events=(),
        sequence=decision.sequence,
        clock_us=decision.clock_us,
        charged_us=decision.charged_us,
        include_public=True,
        writer=ViewWriter(),
    )


def differs(world: State, other: State, seat: int) -> bool:
    return any(
        world.hands[rival] != other.hands[rival]
        for rival in range(len(world.hands))
        if rival != seat
    )


@pytest.mark.parametrize("number", others_long(range(len(CASES)), 4))
def test_worlds_are_the_same_in_any_true_state_that_the_seat_cannot_tell_apart(number):
    """The leak test: another client is sent the decisions of other true states all the time."""
    rule_sets, seats = CASES[number].values
    dice = random.Random(number)
    messages: list[bytes] = []
    different = []

    def check(decision, match):
        messages.extend(match.messages[len(messages) : -1])
        other = asara_search.world(decision, match, dice)
        told = PlayResponse.FromString(match.messages[-1])
        again = PlayResponse.FromString(sent_in(other, match.seat, decision))
        again.decision.events.extend(told.decision.events)
        assert again == told
        messages.append(again.SerializeToString())
        if decision.decision_id % 6:
            return
        different.append(differs(other, asara_search.world(decision, match, dice), match.seat))
        twin = shadow(match, messages)
        seed = dice.random()
        one, two = random.Random(seed), random.Random(seed)
        asara_search.world(decision, match, one)
        asara_search.world(again.decision, twin, two)
        mine = asara_search.world(decision, match, one)
        theirs = asara_search.world(again.decision, twin, two)
        assert snapshot(mine) == snapshot(theirs)
        for _ in range(30):
            if legal := asara_search.legal_actions(mine):
                action = dice.choice(legal)
                assert asara_search.apply(mine, action) == asara_search.apply(theirs, action)
                assert snapshot(mine) == snapshot(theirs)

    played(rule_sets, seats, check, seat=number % seats)
    assert sum(different) > len(different) / 3


def at_decision(number: int, check: Check, rule_sets: str = "pro+gifts", seats: int = 3) -> None:
    """Call `check` at one decision of a match."""
    called = []

    def only(decision, match):
        if decision.decision_id == number:
            check(decision, match)
            called.append(number)

    played(rule_sets, seats, only)
    assert called


def test_copies_share_nothing_and_take_their_shuffles_from_their_own_generator():
    def check(decision, match):
        state = asara_search.world(decision, match, random.Random(1))
        before = snapshot(state)
        ends = []
        for seed in (2, 2, 3):
            rng = random.Random(9)
            copy = asara_search.copy(state, random.Random(seed))
            while legal := asara_search.legal_actions(copy):
                asara_search.apply(copy, rng.choice(legal))
            assert asara_search.outcome(copy) is not None
            ends.append(snapshot(copy))
        assert snapshot(state) == before
        assert ends[0] == ends[1] != ends[2]
        assert asara_search.outcome(state) is None

    at_decision(20, check)


def test_a_turn_planned_in_a_world_can_be_sent_in_one_reply():
    def planning(decision, match):
        state = asara_search.world(decision, match, match.random)
        plan: list[asara_search.Action] = []
        while state.seat == match.seat and len(plan) < 3:
            plan.append(asara_search.legal_actions(state)[0])
            asara_search.apply(state, plan[-1])
        return asara_search.to_messages(plan)

    finished_match(rules("pro+gifts", 2), [planning, planning], "planned", SECRET)


# What cannot be a world.


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: setattr(d, "match_id", "m2"), r"match 'm2', not to 'pro\+gifts-3'"),
        (lambda d: setattr(d.view.private_view, "seat", 1), "seat 1, not to seat 0"),
        (lambda d: setattr(d, "decision_id", d.decision_id - 1), "is not the last one"),
        (lambda d: d.view.ClearField("public_view"), "run the bot without omit_public_view"),
        (lambda d: setattr(d, "kind", 99), "kind"),
        (lambda d: setattr(d.view.private_view, "asari", 999), "does not follow from the history"),
    ],
)
def test_what_is_not_the_decision_at_hand_is_refused(change, why):
    def check(decision, match):
        other = asara.Decision.FromString(decision.SerializeToString())
        change(other)
        with pytest.raises(ValueError, match=why):
            asara_search.Worlds(other, match)

    at_decision(7, check)


def test_arguments_of_the_wrong_kind_are_named():
    def check(decision, match):
        with pytest.raises(TypeError, match=r"decision: the first argument .*not View"):
            asara_search.world(decision.view, match, match.random)
        with pytest.raises(TypeError, match=r"rng: a generator such as match\.random.*not int"):
            asara_search.world(decision, match, 42)  # type: ignore[arg-type]
        state = asara_search.world(decision, match, match.random)
        with pytest.raises(IllegalAction, match="Action is not an action; pass a member of"):
            asara_search.apply(state, decision.legal_actions[0])
        with pytest.raises(TypeError, match="message already; return it without to_message"):
            asara_search.to_message(decision.legal_actions[0])

    at_decision(2, check)


def test_an_action_of_a_state_is_no_answer():
    def forgetful(decision, match):
        return asara_search.legal_actions(asara_search.world(decision, match, match.random))[0]

    with pytest.raises(asara.BotError, match=r"; return asara_search\.to_message\(action\)"):
        finished_match(rules("basic", 2), [forgetful, forgetful], "forgetful", SECRET)


@pytest.mark.parametrize("seats", [2, 4])
def test_after_a_resumption_the_view_alone_decides(seats):
    def check(decision, match):
        resumed = asara.MatchStarted.FromString(match.started.SerializeToString())
        resumed.resumed = True
        resumed.sequence = decision.sequence - len(decision.events)
        verifier = Verifier(match.match_id, match.seat, None)
        verifier.record(match.messages[-1])
        again = asara.Match(resumed, "again", Limits(), "seed", verifier)
        assert list(again.events) == list(decision.events)
        worlds = asara_search.Worlds(decision, again)
        assert not worlds.exact
        state = worlds.sample(random.Random(1))
        assert view(state, match.seat) == worlds.view

    at_decision(30, check, seats=seats)


def test_a_gap_in_the_events_is_noticed():
    def check(decision, match):
        some = [m for m in match.messages if PlayResponse.FromString(m).HasField("decision")]
        lost = shadow(match, [*some[:4], *some[6:]])
        assert not asara_search.Worlds(decision, lost).exact
        assert asara_search.Worlds(decision, shadow(match, some)).exact

    at_decision(12, check)


def test_events_that_are_repeated_beside_new_ones_are_taken_once():
    def check(decision, match):
        messages: list[bytes] = []
        known: list[asara.Event] = []
        for message in match.messages:
            response = PlayResponse.FromString(message)
            new = list(response.decision.events)
            if new:
                response.decision.ClearField("events")
                response.decision.events.extend([*known[-3:], *new])
                known += new
            messages.append(response.SerializeToString())
        longer = shadow(match, messages)
        assert list(longer.events) == list(match.events)
        one = asara_search.world(decision, match, random.Random(3))
        two = asara_search.world(decision, longer, random.Random(3))
        assert snapshot(one) == snapshot(two)

    at_decision(25, check)


def test_what_is_known_of_a_match_is_forgotten_with_it():
    matches = []

    def check(decision, match):
        asara_search.world(decision, match, match.random)
        matches.append(ref(match))

    at_decision(4, check)
    gc.collect()
    assert matches[0]() is None


def test_the_history_can_be_read():
    def check(decision, match):
        known = asara_search.history(match)
        assert known.seat == match.seat
        assert known.money[match.seat] == decision.view.private_view.asari

    at_decision(21, check)
