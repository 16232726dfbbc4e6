"""Worlds with the history of a match: each fits all that the seat has seen."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import pytest
from scipy.stats import chi2

from asara_game.deal import Deal
from asara_game.edition import load_edition
from asara_game.engine import apply, new_match
from asara_game.events import Event
from asara_game.knowledge import buyer_history
from asara_game.knowledge.history import History
from asara_game.knowledge.worlds import Worlds
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State, buyer_counts
from asara_game.view import View, view
from asara_game.vocabulary import DecisionKind
from asara_search.policies import GreedyPolicy
from tests.game.knowledge.possible_states import is_possible
from tests.game.play import CASES, POLICIES, Policy, anything, playout, visitor
from tests.game.table import rules
from tests.sizes import others_long


def followed(
    match_rules: Rules, seed: int, policy: Policy | None = None
) -> Iterator[tuple[View, History, State]]:
    """Every view from which worlds can be dealt, with its seat's history and the true state."""
    histories = [History(match_rules, seat) for seat in range(match_rules.seats)]
    for state, _, events in playout(match_rules, seed, policy):
        for history in histories:
            history.add(events)
        if state.seat >= 0:
            histories[state.seat].look(view(state, state.seat))
        for seat, history in enumerate(histories):
            seen = view(state, seat)
            if seen.decision is not None or state.seat < 0:
                yield seen, history, state


@pytest.mark.parametrize("number", others_long(range(len(CASES)), 4))
def test_every_world_fits_all_that_a_seat_has_seen(number):
    rule_sets, seats = CASES[number].values
    dice = random.Random(1)
    policy = POLICIES[number % len(POLICIES)]
    for moment, (seen, history, state) in enumerate(followed(rules(rule_sets, seats), 5, policy)):
        if moment % 5:
            continue
        world = Worlds(seen, history).sample(dice)
        assert is_possible(seen, state, history)
        assert is_possible(seen, world, history)
        assert world.money == state.money
        assert world.unbuilt == state.unbuilt
        assert [sorted(pile) for pile in world.piles] == [sorted(pile) for pile in state.piles]
        assert view(world, seen.private.seat) == seen


def test_a_world_is_found_soon_after_a_look_into_the_buyer_pile(monkeypatch):
    """However many buyers were shown since: greedy seats show those that other seats miss."""
    monkeypatch.setattr(buyer_history, "_TRIES", 40)
    match_rules = rules("pro+gifts+genie", 4)
    greedy = GreedyPolicy(match_rules)
    plays, dice = random.Random(22), random.Random(1)
    state, events = new_match(match_rules, Deal(plays.randbytes(32)))
    histories = [History(match_rules, seat) for seat in range(4)]
    tested = 0
    while state.seat >= 0:
        for history in histories:
            history.add(events)
        seen, history = view(state, state.seat), histories[state.seat]
        history.look(seen)
        if len(history.buyers.steps) > 10:
            tested += 1
            for _ in range(10):
                assert history.buyers.arrange(seen.private, dice) is not None
        if plays.random() < (0.46 if state.seat == 2 else 0.1):
            action = visitor(state.legal, plays)
        else:
            action = greedy.choose(state, plays)
        events = apply(state, action)
    assert tested > 10


def a_rivals_purse(state):
    state.money[1] += 1


def a_section_of_a_rival(state):
    state.unbuilt[40], state.unbuilt[50] = state.unbuilt[50] + 1, state.unbuilt[40]


def a_card_of_the_deck(state):
    state.gift_deck[0] = (state.gift_deck[0] + 1) % 4


def a_place_in_the_stack(state):
    state.lit_stack[0] ^= 24


@pytest.mark.parametrize(
    "change", [a_rivals_purse, a_section_of_a_rival, a_card_of_the_deck, a_place_in_the_stack]
)
def test_a_state_that_the_events_exclude_is_not_allowed(change):
    moments = followed(rules("pro+gifts", 3), 3, visitor)
    _, history, state = next(m for m in moments if m[0].public.year == 2)
    assert history.allows(state)
    other = state.copy()
    change(other)
    assert not history.allows(other)


def test_a_history_with_a_gap_leaves_the_decision_to_the_view():
    moments = followed(rules("pro+gifts", 3), 3, visitor)
    seen, history, state = next(m for m in moments if m[0].public.year == 2)
    history.interrupt()
    worlds = Worlds(seen, history)
    assert not worlds.exact
    assert history.allows(state)
    assert is_possible(seen, worlds.sample(random.Random(1)))


def test_a_history_begins_with_the_first_view():
    moments = followed_once(rules("basic+gifts", 2))
    seen, _, _ = next(moments)
    history = History.from_view(seen)
    assert history.complete
    for later, known, events in moments:
        seen = later
        history.add(events)
        assert history.money == known.money
        assert history.gift_deck == known.gift_deck
        assert history.unbuilt == known.unbuilt
    assert not History.from_view(seen).complete


def followed_once(match_rules: Rules) -> Iterator[tuple[View, History, list[Event]]]:
    """The views of seat 0, its history, and the events since the view before."""
    history = History(match_rules, 0)
    for state, _, events in playout(match_rules, 4, anything):
        history.add(events)
        yield view(state, 0), history, events


def test_a_view_that_does_not_follow_from_the_history_is_refused():
    seen, history, _ = next(m for m in followed(rules("basic", 2), 3) if m[0].public.year == 2)
    history.money[seen.private.seat] += 1
    with pytest.raises(ValueError, match="does not follow from the history"):
        Worlds(seen, history)


def small_match(rule_sets: str) -> Rules:
    """Rules with so few components that all hidden arrangements can be listed."""
    edition = replace(
        load_edition(),
        tiles=tuple(((1, 1), (1, 0), (0, 0), (0, 0), (0, 0)) for _ in range(4)),
        display_size=2,
        buyers=(3, 2, 1, 0, 0),
        hand_sizes=(2, 2, 2),
        lit_windows=(2, 1, 0, 0, 0),
        gifts=load_edition().gifts[:3],
        gifts_professional=(),
    )
    return Rules(edition, parse_rule_sets(rule_sets), 2)


def arrangement(state: State, seat: int) -> tuple[object, ...]:
    """All that is hidden from a seat."""
    other = 1 - seat
    face_down = tuple(buyers for owner, _, buyers in state.face_down if owner == other)
    return (
        tuple(map(tuple, state.piles)),
        tuple(state.gift_deck),
        (face_down, buyer_counts(state.hands[other]), tuple(state.buyer_pile)),
        (tuple(state.lit_held_by(other)), tuple(state.lit_stack)),
    )


def expected(state: State, seat: int, seen: View) -> dict[tuple[object, ...], float]:
    """The probability of each arrangement, if all orders of all components are equally likely."""
    other = 1 - seat
    piles = list(product(*[sorted(set(permutations(pile))) for pile in state.piles]))
    decks = sorted(set(permutations(state.gift_deck)))
    laid = [buyers for owner, _, buyers in state.face_down if owner == other]
    hand = [c for c, n in enumerate(buyer_counts(state.hands[other]), 1) for _ in range(n)]
    buyers: Counter[object] = Counter()
    hidden = [int(b) for group in laid for b in group] + hand + state.buyer_pile
    for order in permutations(hidden):
        left = list(order)
        down = tuple(tuple(sorted(left.pop() for _ in group)) for group in laid)
        held = tuple(sorted(left.pop() for _ in hand))
        buyers[down, tuple(held.count(c) for c in range(1, 6)), tuple(left)] += 1
    windows: Counter[object] = Counter()
    known = {len(state.lit_stack) - 1 - above for above, _ in seen.private.known_lit_windows}
    free = [place for place in range(len(state.lit_stack)) if place not in known]
    own = [c for c, n in enumerate(state.lit_held_by(other), 1) for _ in range(n)]
    for order in permutations([state.lit_stack[place] & 7 for place in free] + own):
        stack = state.lit_stack[:]
        for place, colour in zip(free, order, strict=False):
            stack[place] = stack[place] & ~7 | colour
        held = order[len(free) :]
        windows[tuple(held.count(c) for c in range(1, 6)), tuple(stack)] += 1
    ways = len(piles) * len(decks) * buyers.total() * windows.total()
    return {
        (pile, deck, buyer, window): n * m / ways
        for pile in piles
        for deck in decks
        for buyer, n in buyers.items()
        for window, m in windows.items()
    }


@pytest.mark.parametrize("rule_sets", ["basic", "basic+gifts", "pro", "pro+gifts"])
def test_worlds_are_as_likely_as_a_full_enumeration_says(rule_sets):
    """A chi-square test of all that is hidden, in small positions."""
    dice = random.Random(7)
    tested = 0
    for seed in range(40):
        for seen, history, state in followed(small_match(rule_sets), seed, anything):
            seat = seen.private.seat
            if (
                state.seat != seat
                or state.kind is not DecisionKind.SPACE
                or history.lit_windows.lost
                or history.buyers.steps
                or dice.random() > 0.4
            ):
                continue
            likely = expected(state, seat, seen)
            if not 6 <= len(likely) <= 500:
                continue
            worlds = Worlds(seen, history)
            count = 20 * len(likely)
            found = Counter(arrangement(worlds.sample(dice), seat) for _ in range(count))
            assert set(found) <= set(likely)
            square = sum(
                (found[key] - share * count) ** 2 / (share * count) for key, share in likely.items()
            )
            assert chi2.sf(square, len(likely) - 1) > 1e-5
            tested += 1
            if tested == 8:
                return
    assert tested > 3
