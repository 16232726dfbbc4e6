"""Properties of every decision of every match, over random play of all combinations."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asara_game.actions import ChooseSpace, Wish, format_space
from asara_game.engine import apply, decision, legal_actions, outcome
from asara_game.state import IllegalAction
from asara_game.view import public_view, view
from asara_game.vocabulary import SECTION_TYPES, Area, DecisionKind, Space, Tower
from tests.game.ledger import Ledger
from tests.game.play import (
    WIDE_CASES,
    check_components,
    check_legal,
    check_tables,
    check_turn,
    mutations,
    playout,
    snapshot,
)
from tests.game.table import rules

SEEDS = st.integers(0, 2**32)
SHORT = settings(max_examples=2, deadline=None)


def check_match(rule_sets: str, seats: int, seed: int) -> None:
    """Components, coins, points, towers and legal lists, from the first decision to the end."""
    in_force = rules(rule_sets, seats)
    ledger = Ledger(in_force)
    for state, _, events in playout(in_force, seed):
        ledger.follow(events)
        check_components(state, ledger.gifts_taken)
        check_tables(state)
        assert state.money == ledger.asari
        assert state.prestige == ledger.prestige
        choosing = state.seat >= 0 and state.kind == DecisionKind.GIFT_BUYER
        hands = list(state.hand_sizes)
        hands[state.turn_seat] += choosing  # the card has been taken, the buyer not yet
        assert hands == ledger.hand_sizes
        assert dict(public_view(state).chests) == ledger.chests
        for seat, stock in enumerate(ledger.stock):
            assert [stock[section] for section in SECTION_TYPES] == state.unbuilt_of(seat)
        assert [list(own) for own in state.towers] == ledger.towers
        assert all(type(tower) is Tower for own in state.towers for tower in own)
        assert [sum(state.lit_held_by(seat)) for seat in range(seats)] == ledger.lit_windows
        assert (state.year, state.patronage_seat) == (ledger.year, ledger.patronage)
        assert state.sections_to_build == ledger.to_build
        if state.seat >= 0:
            check_legal(state)
            check_turn(state)
            assert outcome(state) is None
            assert decision(state).seat == state.turn_seat == state.seat
    assert ledger.year == in_force.edition.years == 4
    assert ledger.finals == seats
    end = outcome(state)
    assert end is not None
    assert end.prestige == tuple(ledger.prestige)
    assert list(legal_actions(state)) == []
    with pytest.raises(ValueError, match="over"):
        decision(state)


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
@SHORT
@given(seed=SEEDS)
def test_every_match_keeps_the_rules(rule_sets, seats, seed):
    check_match(rule_sets, seats, seed)


def check_actions(rule_sets: str, seats: int, seed: int, share: float) -> None:
    """At some decisions, each legal action can be applied to a copy, and no other action can."""
    dice = random.Random(seed)
    seen: dict[Any, None] = {}
    for state, action, _ in playout(rules(rule_sets, seats), seed):
        before = snapshot(state)
        legal = list(state.legal)
        if action is not None:
            seen |= dict.fromkeys(mutations(action))
        seen |= dict.fromkeys(legal)
        if state.seat >= 0 and dice.random() > share:
            continue
        for listed in legal:
            copy = state.copy()
            apply(copy, listed)
            assert snapshot(copy) != before
        near = {m for listed in legal for m in mutations(listed)}
        strange = dice.sample(list(seen), min(40, len(seen)))
        for unlisted in sorted({*near, *strange}.difference(legal), key=str):
            with pytest.raises(IllegalAction):
                apply(state, unlisted)
        assert snapshot(state) == before


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
@settings(max_examples=1)
@given(seed=SEEDS)
def test_what_is_listed_applies_and_what_is_not_is_refused(rule_sets, seats, seed):
    check_actions(rule_sets, seats, seed, share=0.25)


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_a_refusal_tells_the_deciding_seat_nothing_new(rule_sets, seats):
    unlisted = ChooseSpace(Space(Area.BANK, 1))
    for state, _, _ in playout(rules(rule_sets, seats), 5):
        if state.seat < 0:
            continue
        with pytest.raises(IllegalAction) as refused:
            apply(state, unlisted)
        known = view(state, state.seat).legal
        assert f"{len(known)} others are" in str(refused.value)
        assert state.kind.name in str(refused.value)
        spaces = [a.space for a in known if isinstance(a, ChooseSpace | Wish)]
        banks = ", ".join(format_space(s) for s in spaces if s.area is Area.BANK) or "none"
        listed = str(refused.value).endswith(f"; legal spaces in this area: {banks}")
        assert listed == (state.kind in {DecisionKind.SPACE, DecisionKind.WISH})
