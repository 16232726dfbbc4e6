"""Every legal action of every match has a number of its own, which is the same in all rules."""

import dataclasses
import random

import numpy as np
import pytest

from asara_env.action_numbers import (
    ACTION_COUNT,
    UnsupportedEdition,
    action_of,
    legal_numbers,
    mask,
    number_of,
    numbering,
)
from asara_game.actions import Action, ExtendTower, LightWindow, parse_action
from asara_game.edition import load_edition, parse_edition
from asara_game.engine import apply
from asara_game.rules import Rules, parse_rule_sets
from asara_game.state import State
from asara_game.view import view
from asara_game.vocabulary import Colour, Section, SectionKind, Tower
from tests.game.play import CASES, WIDE_CASES, playout
from tests.game.table import rules

TOWERS = (Tower(Colour.RED), Tower(Colour.BROWN), Tower(Colour.RED))


@pytest.mark.parametrize(("rule_sets", "seats"), WIDE_CASES)
def test_every_legal_action_has_one_number_and_back(rule_sets, seats):
    for seed in range(1, 3):
        for moment in playout(rules(rule_sets, seats), seed):
            state: State = moment.state
            if not state.legal:
                continue
            numbers = legal_numbers(state)
            assert len(set(numbers)) == len(state.legal)
            assert [action_of(number, state) for number in numbers] == list(state.legal)
            assert [number_of(action, state) for action in state.legal] == numbers
            seen = view(state, state.seat)
            assert legal_numbers(seen) == numbers
            assert sorted(numbers) == list(np.flatnonzero(mask(seen)))


def test_every_number_of_the_shipped_edition_is_an_action():
    towers = tuple(Tower(colour) for colour in Colour for _ in range(4))
    numbers = numbering(load_edition())
    actions = [numbers.action_of(number, towers) for number in range(ACTION_COUNT)]
    assert len(set(actions)) == ACTION_COUNT
    assert [numbers.number_of(action, towers) for action in actions] == list(range(ACTION_COUNT))


def test_the_same_number_means_the_same_space_in_all_rules():
    found: dict[Action, int] = {}
    for case in CASES:
        state = next(playout(rules(*case.values), 1)).state
        for action in state.legal:
            assert found.setdefault(action, number_of(action, state)) == number_of(action, state)
    assert len(found) > 20


def test_towers_are_numbered_by_colour():
    numbers = numbering(load_edition())
    trunk = Section(SectionKind.TRUNK, Colour.RED, False)
    second = numbers.number_of(ExtendTower(3, trunk), TOWERS)
    assert second == numbers.number_of(ExtendTower(1, trunk), TOWERS) + 4
    assert numbers.action_of(second, TOWERS) == ExtendTower(3, trunk)
    assert numbers.action_of(second, TOWERS[::2]) == ExtendTower(2, trunk)


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (-1, "action number -1: not one of 0 to"),
        (ACTION_COUNT, f"action number {ACTION_COUNT}: not one of 0 to {ACTION_COUNT - 1}"),
        ("3", "action number '3': not a whole number"),
        (2.5, "action number 2.5: not a whole number"),
        (None, "action number None: not a whole number"),
    ],
)
def test_a_number_that_is_none_is_refused(number, problem):
    numbers = numbering(load_edition())
    with pytest.raises(ValueError, match=problem):
        numbers.action_of(number, TOWERS)


def test_a_tower_that_does_not_stand_is_refused():
    numbers = numbering(load_edition())
    trunk = Section(SectionKind.TRUNK, Colour.RED, False)
    third = numbers.number_of(ExtendTower(3, trunk), TOWERS) + 4
    with pytest.raises(ValueError, match="needs tower 3 of colour red; the seat has 2"):
        numbers.action_of(third, TOWERS)
    with pytest.raises(ValueError, match="the seat has 3 towers"):
        numbers.number_of(LightWindow(4, False), TOWERS)
    with pytest.raises(ValueError, match="tower 2 has another colour"):
        numbers.number_of(ExtendTower(2, trunk), TOWERS)


def test_a_space_that_the_edition_does_not_have_is_refused():
    numbers = numbering(load_edition())
    with pytest.raises(ValueError, match="'dispatch bank 7' has no number in edition"):
        numbers.number_of(parse_action("dispatch bank 7"), ())


def test_a_corrected_number_of_the_edition_changes_no_action_number():
    shipped = load_edition()
    data = shipped.data.replace(b"values = [6, 8, 10, 12]", b"values = [5, 8, 10, 12]")
    data = data.replace(b'"bank 6"', b'"bank 5"')
    corrected = numbering(parse_edition(data))
    before = numbering(shipped).number_of(parse_action("dispatch bank 6"), ())
    assert corrected.number_of(parse_action("dispatch bank 5"), ()) == before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"bank": (6, 8, 10, 12, 14)}, "5 spaces in area 'bank'; environments have numbers for 4"),
        ({"market_spaces": 5}, "5 spaces in a market"),
        ({"patronage_spaces": 2}, "2 spaces of the caliph's patronage"),
        ({"lit_spaces": 4}, "4 spaces in the House of Lighted Windows"),
        ({"lit_windows": (4, 3, 3, 3, 3)}, "16 lit windows"),
        ({"tiles": (((5, 1),) * 5,) * 4}, "6 towers of colour brown"),
    ],
)
def test_an_edition_that_is_too_large_is_refused(change, problem):
    edition = dataclasses.replace(load_edition(), **change)
    with pytest.raises(UnsupportedEdition, match=problem):
        numbering(edition)


def test_no_mask_for_a_seat_that_does_not_decide():
    state = next(playout(Rules(load_edition(), parse_rule_sets("basic"), 2), 1)).state
    with pytest.raises(ValueError, match="no mask: seat 1 does not decide"):
        mask(view(state, 1))
    while state.seat >= 0:
        state = random_step(state)
    with pytest.raises(ValueError, match="no mask: the match is over"):
        mask(state)


def random_step(state):
    apply(state, random.Random(1).choice(state.legal))
    return state
