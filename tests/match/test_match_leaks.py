"""The bytes that a seat is sent are the same in all worlds that it cannot tell apart."""

import random

import pytest

from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara_codec.encode import action_message
from asara_codec.results import Termination
from asara_game.actions import Action
from asara_game.determinize import determinize
from asara_game.rules import RULE_COMBINATIONS, format_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_server.match.inputs import Presence, ReplyRecord
from asara_server.match.match import Answer, Match
from tests.referee.harness import LIMITS, spec

MOMENTS = 4
WORLDS = 2


def played(match_spec, moves):
    """A match in which these moves were made, with an empty outbox."""
    match = Match(match_spec, LIMITS.match_limits)
    seats = range(len(match_spec.players))
    match.start({seat: Presence(live_updates=seat % 2 == 0) for seat in seats}, {})
    for number, move in enumerate(moves):
        make(match, move, 1000 * number)
    match.outbox.clear()
    return match


def make(match: Match, move: Action, now_us: int) -> None:
    """Answer the open decision by a legal action."""
    seat = match.asked
    assert seat is not None
    answer = match.reply(seat, match.decision_id(seat), [action_message(move)], now_us)
    assert answer is Answer.ACCEPTED
    match.record_reply(referee_us=0)


def provoke(match_spec, moves, seat, state: State | None):
    """All that a seat is sent when it does anything but move; in another world if given."""
    match = played(match_spec, moves)
    if state is not None:
        match.state = state
    now = 10**6
    nonsense = ActionMessage()
    nonsense.take_section.section.colour = 77  # type: ignore[assignment]
    illegal = ActionMessage()
    illegal.build_count.count = 99
    last = match.decision_id(seat)
    for actions in ([nonsense], [illegal]):  # with the one below, as many as are forgiven
        match.reply(seat, last, actions, now)
    match.leave(seat, now)
    match.enter(seat, Presence(last_sequence=0), now)
    match.reply(seat, last + 1, [illegal], now)
    other = (seat + 1) % len(match_spec.players)
    match.leave(other, now)
    match.enter(other, Presence(), now)
    if len(match_spec.players) > 2 and match.asked != other:
        match.forfeit(other, Termination.CRASH, "gone", now)
    return [data for told, data in match.outbox if told == seat]


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("rule_sets", RULE_COMBINATIONS, ids=format_rule_sets)
def test_no_byte_depends_on_what_is_hidden(rule_sets, seats):
    rng = random.Random(f"{format_rule_sets(rule_sets)}/{seats}")
    match_spec = spec(seats, format_rule_sets(rule_sets), secret=rng.randbytes(32))
    whole = played(match_spec, [])
    while not whole.finished:
        make(whole, rng.choice(whole.state.legal), 0)
    moves = [record.actions[0] for record in whole.records if isinstance(record, ReplyRecord)]
    told = 0
    for length in rng.sample(range(len(moves)), MOMENTS):
        match = played(match_spec, moves[:length])
        seat = match.asked
        assert seat is not None
        true = provoke(match_spec, moves[:length], seat, None)
        told += len(true)
        for _ in range(WORLDS):
            other = determinize(view(match.state, seat), rng)
            assert provoke(match_spec, moves[:length], seat, other) == true
    assert told > MOMENTS


@pytest.mark.parametrize("seats", [2, 4])
def test_a_seat_that_is_not_asked_hears_the_same_in_all_worlds(seats):
    rng = random.Random(seats)
    match_spec = spec(seats, "pro+gifts+genie")
    whole = played(match_spec, [])
    moves = []
    for _ in range(60):
        action = rng.choice(whole.state.legal)
        moves.append(action)
        make(whole, action, 0)
        bystander = (whole.state.seat + 1) % seats
        seen = view(whole.state, bystander)
        if seen.decision is not None:
            true = provoke(match_spec, moves, bystander, None)
            assert true
            assert provoke(match_spec, moves, bystander, determinize(seen, rng)) == true
