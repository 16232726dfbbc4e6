"""A seat is sent the same bytes in two worlds that differ only in what is hidden from it."""

import pytest

from asara_codec.encode import action_message
from asara_game.actions import parse_action
from asara_game.engine import apply
from asara_game.events import FundsTaken
from asara_game.view import RunningView, public_view, view
from asara_game.vocabulary import Colour, DecisionKind
from asara_server.match import feed
from asara_server.match import match as match_module
from asara_server.match.match import Answer
from asara_server.web.live_matches import LiveMatch
from tests.events import turns
from tests.game.play import CASES, builder, visitor
from tests.game.table import EVERYTHING
from tests.leak import worlds
from tests.leak.worlds import Leak, Twins
from tests.sizes import others_long

SHARE = 2_000 // len(CASES) + 1
"""Least number of other worlds that each case tries; together they try 2,000."""


@pytest.mark.parametrize(("rule_sets", "seats"), others_long(CASES, 16))
def test_no_seat_can_tell_two_worlds_apart(rule_sets, seats):
    for seed, policy in enumerate((builder, visitor)):
        twins = Twins(rule_sets, seats, seed)
        twins.play(policy)
        assert twins.worlds >= SHARE
        assert twins.different >= 0.8 * twins.worlds
        assert twins.rich > 0.05 * twins.worlds
        if twins.state.rules.professional:
            assert twins.places > 0.02 * twins.worlds


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 106))
@pytest.mark.parametrize(("rule_sets", "seats"), CASES)
def test_no_seat_can_tell_two_worlds_apart_long(rule_sets, seats, seed):
    Twins(rule_sets, seats, seed).play(builder if seed % 2 else visitor)


# The property can fail: referees that leak on purpose are detected.


def leaky_running_view(leak):
    """A class like `RunningView`, with a leak in every view."""

    class Leaky(RunningView):
        def __init__(self, state):
            super().__init__(state)
            self.state = state

        def deciding(self, public=None, events=-1):
            return leak(self.state, self.state.seat, super().deciding(public, events))

        def of(self, seat):
            if seat == self.state.seat:
                return self.deciding()
            return leak(self.state, seat, super().of(seat))

    return Leaky


def purse_of_another(state, seat, seen):
    return seen._replace(private=seen.private._replace(asari=state.money[seat - 1]))


def pile_in_its_order(state, _, seen):
    searched = seen.private.searched_sections
    ordered = tuple(
        section._replace(colour=Colour(index // 2 + 1), gold=bool(index % 2))
        for section, index in zip(searched, state.piles[state.searched_market], strict=False)
    )
    return seen._replace(private=seen.private._replace(searched_sections=ordered))


def list_in_an_order_that_tells(state, seat, seen):
    tells = state.money[seat - 1] % 2
    return seen._replace(legal=seen.legal[::-1] if tells else seen.legal)


def list_with_a_length_that_tells(state, seat, seen):
    return seen._replace(legal=seen.legal[: 3 + state.money[seat - 1] % 2])


def windows_that_others_know(state, _, seen):
    stack = state.lit_stack
    known = tuple(
        (len(stack) - 1 - place, Colour(window & 7))
        for place, window in enumerate(stack)
        if window >= 8
    )
    return seen._replace(private=seen.private._replace(known_lit_windows=known))


def pairs_face_up(state, _, seen):
    pairs = {(owner, space): pair[0] for owner, space, pair in state.face_down}

    def shown(mark):
        return mark._replace(colour=pairs.get((mark.seat, mark.space), mark.colour))

    areas = tuple(tuple(map(shown, area)) for area in seen.public.dispatched)
    return seen._replace(public=seen.public._replace(dispatched=areas))


@pytest.mark.sources_only
@pytest.mark.parametrize(
    "leak",
    [
        purse_of_another,
        pile_in_its_order,
        list_in_an_order_that_tells,
        list_with_a_length_that_tells,
        windows_that_others_know,
        pairs_face_up,
    ],
)
def test_a_view_that_leaks_is_found_out(monkeypatch, leak):
    monkeypatch.setattr(feed, "RunningView", leaky_running_view(leak))
    with pytest.raises(Leak, match="tell two worlds apart"):
        Twins(EVERYTHING, 3, 1).play(visitor)


@pytest.mark.sources_only
def test_an_error_text_that_leaks_is_found_out(monkeypatch):
    reject = match_module.Match._reject

    def chatty(self, number, reason, detail, now_us):
        detail += f" ({self.state.hands[number - 1]})"
        return reject(self, number, reason, detail, now_us)

    monkeypatch.setattr(match_module.Match, "_reject", chatty)
    with pytest.raises(Leak, match="tell two worlds apart"):
        Twins("basic", 2, 1).play(visitor)


def test_an_event_that_leaks_is_found_out(monkeypatch):
    def chatty(state, action):
        return [
            event._replace(asari=state.buyer_pile[-1]) if isinstance(event, FundsTaken) else event
            for event in apply(state, action)
        ]

    monkeypatch.setattr(worlds, "apply", chatty)
    with pytest.raises(Leak, match="which world"):
        Twins("basic", 2, 1).play(visitor)


@pytest.mark.sources_only
def test_news_of_a_turn_that_is_not_over_is_found_out(monkeypatch):
    happened = feed.MatchFeed.add_events

    def hasty(self, events, state):
        happened(self, events, state)
        self.turn_ends.append(len(self.events))

    monkeypatch.setattr(feed.MatchFeed, "add_events", hasty)
    with pytest.raises(Leak, match="before it is over"):
        Twins("basic", 2, 1).play(visitor)


def test_a_page_that_shows_the_turn_in_progress_is_found_out(monkeypatch):
    watch = LiveMatch.watch

    def hasty(live, after):
        live.match.feed.public = public_view(live.match.state)
        return watch(live, after)

    monkeypatch.setattr(LiveMatch, "watch", hasty)
    with pytest.raises(Leak, match="watchers hear"):
        Twins("basic", 2, 1).play(visitor)


def test_a_page_that_waits_for_the_end_of_the_turn_is_found_out(monkeypatch):
    watch = LiveMatch.watch

    async def patient(live, after):
        if live.match.feed._turn_running:
            await turns(1)
        async for message in watch(live, after):
            yield message

    monkeypatch.setattr(LiveMatch, "watch", patient)
    with pytest.raises(Leak, match="waits"):
        Twins("basic", 2, 1).play(visitor)


def test_the_order_in_which_windows_go_back_is_seen_by_nobody_else():
    """Two seats return the same windows in two orders: others are sent the same (ruling R9)."""
    orders = ("return brown", "return green"), ("return green", "return black")
    stack = [int(colour) for colour in (*Colour, *Colour, *(1, 2, 3, 4, 5))]
    sent = []
    for order in orders:
        match = worlds.referee("pro", 3, bytes(32))
        match.state.lit_stack = stack[:]
        match.outbox.clear()
        told: list[object] = []
        for number, text in enumerate(
            ("dispatch lit-windows 1", None, "pay 10", "keep red white", *order), 1
        ):
            seat = match.state.seat
            action = parse_action(text) if text else match.state.legal[0]
            answer = match.reply(seat, number, [action_message(action)], 1_000 * number)
            assert answer is Answer.ACCEPTED
            match.record_reply(referee_us=0)
            told += [message for message in match.outbox if message[0] != 0]
            told += worlds.watched(match, 0)
            match.outbox.clear()
        assert match.state.kind == DecisionKind.SPACE
        known = [view(match.state, seat).private.known_lit_windows for seat in range(3)]
        sent.append((told, known[1:]))
        assert len(known[0]) == 3
    assert sent[0] == sent[1]
    assert sent[0][1] == [(), ()]
