"""A forfeit shows nobody how far another seat's turn has come; `tests/leak` holds the rest."""

import random
from itertools import pairwise

import pytest

from asara_codec.encode import action_message
from asara_codec.results import SeatForfeited, Termination
from asara_game.actions import Action, ChooseSpace
from asara_game.vocabulary import DecisionKind
from asara_server.match.inputs import Presence
from asara_server.match.match import Answer, Match
from asara_server.match.spec import MatchSpec
from tests.referee.harness import LIMITS, spec
from tests.sizes import others_long


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


def turns_of(moves: list[Action]) -> list[list[Action]]:
    """Moves by turn; those that were forced are not among them."""
    turns: list[list[Action]] = []
    for move in moves:
        if isinstance(move, ChooseSpace) or not turns:
            turns.append([])
        turns[-1].append(move)
    return turns


def told_of_a_forfeit(
    match_spec: MatchSpec, before: list[Action], turn: list[Action], after: int, forfeiter: int
) -> list[tuple[int, bytes]]:
    """All that the seats that wait are sent if one of them forfeits after so many moves of a turn.

    The numbers of the events are included, so this is what watchers are sent as well.
    """
    match = played(match_spec, before)
    deciding = match.asked
    for number, move in enumerate(turn):
        if number == after:
            match.forfeit(forfeiter, Termination.CRASH, "", 10**6)
        make(match, move, 10**6)
    told = [message for message in match.outbox if message[0] != deciding]
    for start, end in pairwise([0, *match.feed.turn_ends]):
        told += [(end, part) for part in match.feed.event_parts[start:end]]
    return told


@pytest.mark.parametrize("seats", others_long([3, 4], 2))
@pytest.mark.parametrize("rule_sets", ["basic", "pro+gifts+genie"])
def test_a_forfeit_does_not_show_how_far_another_seats_turn_has_come(rule_sets, seats):
    rng = random.Random(seats)
    match_spec = spec(seats, rule_sets, secret=rng.randbytes(32))
    whole = played(match_spec, [])
    moves = []
    while not whole.finished:
        moves.append(rng.choice(whole.state.legal))
        make(whole, moves[-1], 0)
    turns = turns_of(moves)
    longer = [number for number, turn in enumerate(turns) if len(turn) > 1]
    for number in rng.sample(longer, 12):
        before = [move for turn in turns[:number] for move in turn]
        deciding = played(match_spec, before).asked
        forfeiter = rng.choice([seat for seat in range(seats) if seat != deciding])
        turn = turns[number]
        told = [
            told_of_a_forfeit(match_spec, before, turn, after, forfeiter)
            for after in range(len(turn))
        ]
        assert all(other == told[0] for other in told[1:])
        assert any(data != b"" for _, data in told[0])


@pytest.mark.parametrize("rule_sets", ["basic", "pro+gifts+genie"])
def test_a_seats_own_forfeit_follows_the_whole_turn(rule_sets):
    rng = random.Random(rule_sets)
    match_spec = spec(3, rule_sets, secret=rng.randbytes(32))
    within = 0
    for length in range(3, 60, 4):
        match = played(match_spec, [])
        for _ in range(length):
            make(match, rng.choice(match.state.legal), 0)
        assert match.asked is not None
        within += match.state.kind not in (DecisionKind.SPACE, DecisionKind.BUYERS)
        before = len(match.feed.turn_ends)
        match.forfeit(match.asked, Termination.CRASH, "", 0)
        events = match.feed.events[: match.feed.turn_ends[before]]
        assert isinstance(events[-1], SeatForfeited)
    assert within


@pytest.mark.parametrize("hide_forced", [False, True])
def test_a_match_that_ends_within_a_turn_ends_that_turn(hide_forced):
    rng = random.Random(hide_forced)
    within = 0
    for length in range(40):
        match_spec = spec(2, "pro+gifts+genie", secret=rng.randbytes(32), hide_forced=hide_forced)
        match = played(match_spec, [])
        now = 0
        for _ in range(length):
            while match.asked is None and not match.finished:
                now = match.deadline_us
                match.expire(now)
            make(match, rng.choice(match.state.legal), now)
            now += 1_000_000
        feed = match.feed
        within += feed.turn_ends[-1] < len(feed.events)
        match.forfeit(1 - match.state.seat, Termination.CRASH, "", now)
        assert match.finished
        assert feed.turn_ends[-1] == len(feed.events)
    assert within > 3
