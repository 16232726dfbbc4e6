"""With `hide_forced`, waiting time does not tell whether a seat had a choice."""

import hmac
import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from asara_codec.results import Termination
from asara_game.actions import Decline, LayBuyers
from asara_game.vocabulary import DecisionKind
from asara_server.journal.replay import ReplayError
from asara_server.journal.resimulate import resimulate, resimulated
from asara_server.match.inputs import ExpiryRecord, PauseRecord, Presence, Record, ReplyRecord
from asara_server.match.match import NEVER, Match
from asara_server.match.pauses import RECENT, Pauses, could_have_had_a_choice
from asara_server.match.spec import MatchLimits
from tests.match.playouts import finished_replay
from tests.match.waiting import accuracy, turns_of_match
from tests.referee.harness import SECRET, Driven, spec

LIMITS = MatchLimits()


def thinking(rng: random.Random) -> float:
    return rng.uniform(0.05, 0.2)


def pass_pause(driven: Driven) -> None:
    driven.now = driven.match.deadline_us
    driven.expire()


def play(driven: Driven, rng: random.Random, until: Callable[[Match], bool]) -> None:
    """Play at random, with thinking time, until a condition holds; pauses pass."""
    while not driven.match.finished and not until(driven.match):
        if driven.match.asked is None:
            pass_pause(driven)
        else:
            driven.reply(rng.choice(driven.match.state.legal), after_s=thinking(rng))


def paused(match: Match) -> bool:
    return match.asked is None and not match.finished


def in_a_pause(
    seats: int = 2, rule_sets: str = "basic", *, seed: int = 0, live: bool = True
) -> Driven:
    """A match whose first pause has just begun; every message so far has been cleared."""
    present = {seat: Presence(live_updates=live) for seat in range(seats)}
    driven = Driven(spec(seats, rule_sets, hide_forced=True), present=present)
    play(driven, random.Random(seed), paused)
    driven.clear()
    return driven


def finished(seats: int = 2, rule_sets: str = "pro+gifts", seed: int = 0) -> Driven:
    driven = Driven(spec(seats, rule_sets, hide_forced=True))
    play(driven, random.Random(seed), lambda _: False)
    return driven


def audited(records: tuple[Record, ...], driven: Driven) -> None:
    """Re-simulate the match with these records instead of its own."""
    replay = replace(finished_replay(driven.match), records=records)
    for _ in resimulated(replay):
        pass


def test_in_a_pause_nobody_is_sent_anything_and_the_table_stays() -> None:
    driven = in_a_pause()
    match = driven.match
    ends, now = list(match.feed.turn_ends), driven.now
    assert len(match.state.legal) == 1
    assert match.deadline_us > now
    driven.now = match.deadline_us - 1
    driven.expire()
    assert paused(match)
    assert [driven.kinds(seat) for seat in range(2)] == [[], []]
    assert match.feed.turn_ends == ends
    driven.expire(after_s=0.000_001)
    assert isinstance(match.records[-1], PauseRecord)
    assert match.feed.turn_ends != ends or match.asked is not None


def test_a_pause_lies_between_the_seats_own_recent_answers() -> None:
    answers: dict[int, list[int]] = {0: [], 1: [], 2: []}
    driven = Driven(spec(3, "pro+gifts", hide_forced=True))
    rng = random.Random(2)
    match, pauses = driven.match, 0
    while not match.finished:
        if match.asked is None:
            seat, began = match.state.seat, driven.now
            pass_pause(driven)
            assert min(answers[seat]) <= driven.now - began <= max(answers[seat])
            pauses += 1
            continue
        seat, before = match.asked, driven.now
        driven.reply(rng.choice(match.state.legal), after_s=thinking(rng) * (seat + 1) ** 2)
        answers[seat].append(driven.now - before)
    assert pauses > 1


def test_a_pause_is_charged_to_nobody() -> None:
    driven = in_a_pause()
    began = driven.now
    pass_pause(driven)
    assert driven.now > began
    asked = driven.asked
    driven.reply(after_s=0.07)
    reply = driven.match.records[-1]
    assert isinstance(reply, ReplyRecord)
    assert (reply.seat, reply.bot_us) == (asked, 70_000)


@pytest.mark.parametrize("rule_sets", ["basic", "pro+gifts", "pro+gifts+genie"])
def test_the_same_replies_lead_to_the_same_game_with_and_without_pauses(rule_sets: str) -> None:
    one, other = (Driven(spec(3, rule_sets, hide_forced=hide)) for hide in (True, False))
    for driven in (one, other):
        play(driven, random.Random(4), lambda _: False)
    assert one.match.feed.events == other.match.feed.events
    assert one.match.results == other.match.results
    assert PauseRecord in map(type, one.match.records)


def test_what_is_forced_within_one_reply_is_not_paused() -> None:
    driven = Driven(spec(hide_forced=True))
    rng = random.Random(7)
    match = driven.match
    while not match.finished:
        if match.asked is None:
            pass_pause(driven)
            continue
        action = rng.choice(match.state.legal)
        further = [Decline()] if match.state.kind is DecisionKind.SPACE else []
        driven.reply(action, *further, after_s=thinking(rng))
    replies = [record.actions for record in match.records if isinstance(record, ReplyRecord)]
    whole = [actions for actions in replies if actions[1:] and actions[-1] == Decline()]
    assert len(whole) > 2, "the lay between space and decline was forced"
    assert {len(actions) for actions in whole} == {3}
    assert all(isinstance(actions[1], LayBuyers) for actions in whole)
    audited(tuple(match.records), driven)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda pause: [], "expected no reply, as no seat was asked"),
        (lambda pause: [pause, pause], "expected no record here"),
        (lambda pause: [pause._replace(seat=1 - pause.seat)], "seat: expected"),
        (lambda pause: [pause._replace(time_us=pause.time_us - 1)], "expected no record here"),
    ],
    ids=["missing", "twice", "of another seat", "too short"],
)
def test_a_pause_that_is_missing_invented_or_too_short_is_found(
    change: Callable[[PauseRecord], list[Record]], fault: str
) -> None:
    driven = finished()
    records = driven.match.records
    at = next(index for index, record in enumerate(records) if isinstance(record, PauseRecord))
    pause = records[at]
    assert isinstance(pause, PauseRecord)
    with pytest.raises(ReplayError, match=fault):
        audited((*records[:at], *change(pause), *records[at + 1 :]), driven)


def test_a_match_that_is_resumed_in_a_pause_continues_it() -> None:
    driven = in_a_pause()
    match = resimulate(driven.spec, LIMITS, driven.match.records)
    match.reopen(driven.now)
    assert match.deadline_us == driven.match.deadline_us or match.deadline_us < NEVER
    for seat in range(2):
        match.enter(seat, Presence(), driven.now)
    assert match.deadline_us == driven.match.deadline_us
    match.expire(match.deadline_us)
    assert not paused(match)


def test_a_forfeit_ends_the_pause_of_its_seat_and_of_no_other() -> None:
    for forfeiter in (0, 1, 2):
        driven = in_a_pause(3, seed=5)
        match = driven.match
        seat = match.state.seat
        match.leave(forfeiter, driven.now)
        match.expire_seats(driven.now)
        due = match.deadline_us
        match.forfeit(forfeiter, Termination.CRASH, "gone", driven.now)
        driven.take()
        if forfeiter == seat:
            assert match.asked is not None or match.deadline_us != due
        else:
            assert paused(match)
            assert match.deadline_us == due
        play(driven, random.Random(6), lambda _: False)
        assert match.finished
        assert ExpiryRecord not in map(type, match.records)
        audited(tuple(match.records), driven)


@pytest.mark.parametrize(
    ("matches", "slack"), [(25, 0.12), pytest.param(100, 0.06, marks=pytest.mark.long)]
)
def test_an_attacker_who_measures_turns_learns_nothing(matches: int, slack: float) -> None:
    measured = []
    for hide in (False, True):
        turns = []
        for number in range(matches):
            turns += turns_of_match(number, hide=hide)[0]
        assert len(turns) >= 400
        measured.append(accuracy(turns))
    assert measured[0] > 0.7
    assert measured[1] < 0.5 + slack


def test_a_pause_is_what_the_page_says() -> None:
    """Computed again with fractions; auditors in other languages have only the text."""
    pauses = Pauses(SECRET, "m1", 2)
    assert pauses.draw(1, DecisionKind.BUYERS) == 0, "no answer yet"
    times = [37 * number % 101 for number in range(RECENT + 4)]
    for microseconds in times:
        pauses.add_answer(1, DecisionKind.BUYERS, microseconds)
    key = hmac.digest(SECRET, b"pauses/m1", "sha256")
    latest = sorted(times[-RECENT:])
    for number in range(100):
        digest = hmac.digest(key, number.to_bytes(8, "big"), "sha256")
        place = Fraction(int.from_bytes(digest[:8], "big"), 2**64) * (RECENT - 1)
        low, high = latest[int(place)], latest[int(place) + 1]
        expected = math.floor(low + (high - low) * (place - int(place)))
        assert pauses.draw(1, DecisionKind.BUYERS) == expected
    pauses.add_answer(0, DecisionKind.SPACE, 5)
    assert pauses.draw(0, DecisionKind.BUYERS) == 5, "of another kind, as there is none"


SECRET_CHOICES: list[tuple[DecisionKind, dict[str, object], bool]] = [
    (DecisionKind.BUYERS, {"hand_sizes": [9, 1]}, False),
    (DecisionKind.BUYERS, {"hand_sizes": [0, 2]}, True),
    (DecisionKind.SPACE, {"hand_sizes": [9, 1]}, True),
    (DecisionKind.SPACE, {"hand_sizes": [1, 2]}, False),
    (DecisionKind.BUYERS, {"hand_sizes": [9, 1], "lit": [1]}, False),
    (DecisionKind.SPACE, {"lit": [0, 0, 1]}, True),
    (DecisionKind.BUILD_COUNT, {"lit": [0, 0]}, False),
    (DecisionKind.BUILD, {"lit": [1, 0]}, True),
    (DecisionKind.LIT_KEEP, {"lit_drawn": [1, 2], "lit_to_keep": 2}, False),
    (DecisionKind.LIT_KEEP, {"lit_drawn": [1, 2, 3], "lit_to_keep": 2}, True),
    (DecisionKind.LIT_RETURN, {"lit_drawn": [1]}, False),
    (DecisionKind.LIT_RETURN, {"lit_drawn": [1, 2]}, True),
    (DecisionKind.GIFT_BUYER, {"buyer_pile": [1]}, False),
    (DecisionKind.GIFT_BUYER, {"buyer_pile": [1, 2]}, True),
    (DecisionKind.GIFT_LIT_WINDOW, {"lit_stack": [1]}, False),
    (DecisionKind.GIFT_LIT_WINDOW, {"lit_stack": [1, 2]}, True),
    (DecisionKind.PILE_SECTION, {}, True),
    (DecisionKind.GIFT_SECTION, {"lit": [1], "lit_drawn": [1, 2]}, False),
]


@pytest.mark.parametrize(("kind", "hidden", "secret"), SECRET_CHOICES)
def test_what_could_have_been_a_choice_follows_from_what_is_hidden(
    kind: DecisionKind, hidden: dict[str, object], secret: bool
) -> None:
    seat_1: Any = {"hand_sizes": [9, 9], "lit": [], "lit_drawn": [], "lit_to_keep": 0}
    seat_1 |= {"buyer_pile": [], "lit_stack": [], **hidden}
    lit = seat_1.pop("lit")
    held_by = {0: [1], 1: lit}.__getitem__
    state: Any = SimpleNamespace(kind=kind, seat=1, lit_held_by=held_by, **seat_1)
    assert could_have_had_a_choice(state) is secret
