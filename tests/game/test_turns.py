"""Rule sets, and what a year begins with; `test_play` holds the order of turns in all matches."""

import pytest

from asara_game.events import (
    DisplayFilled,
    GiftLaid,
    IncomeReceived,
)
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets, parse_rule_sets
from asara_game.vocabulary import RuleSet
from tests.game.table import EVERYTHING, Table, told

# Rule sets.


def test_the_six_combinations_and_their_names():
    names = ["basic", "basic+gifts", "pro", "pro+gifts", "pro+genie", "pro+gifts+genie"]
    assert [format_rule_sets(rule_sets) for rule_sets in RULE_COMBINATIONS] == names
    assert [parse_rule_sets(name) for name in names] == list(RULE_COMBINATIONS)


@pytest.mark.parametrize(
    "text", ["", "genie", "basic+genie", "gifts+genie", "professional", "pro,gifts"]
)
def test_no_other_combination(text):
    with pytest.raises(ValueError, match="rule set"):
        parse_rule_sets(text)


@pytest.mark.parametrize("seats", [-1, 0, 1, 5])
def test_two_to_four_players(seats):
    table = Table()
    with pytest.raises(ValueError, match="seats"):
        Rules(table.rules.edition, table.rules.rule_sets, seats)
    with pytest.raises(ValueError, match="basic"):
        Rules(table.rules.edition, frozenset({RuleSet.GIFTS}), 2)


# The first year.


def test_starting_money_rises_clockwise_from_the_starting_player():
    for seats in (2, 3, 4):
        table = Table(seats=seats)
        assert [table.asari(seat) for seat in range(seats)] == [20, 21, 22, 23][:seats]
        income = told(table.opening, IncomeReceived)
        assert [(event.seat, event.asari) for event in income] == list(
            enumerate([20, 21, 22, 23][:seats])
        )


# The end of a year, and the next.


def test_a_new_year_pays_everybody_twenty_and_keeps_what_is_behind_the_screen():
    table = Table()
    table.hand(0, "blue")
    table.hand(1, "")
    table.stock(0, "white trunk gold")
    table.send("bank 12", "blue")
    assert [table.asari(seat) for seat in (0, 1)] == [20 + 12 + 20, 21 + 20]
    assert sum(table.private(0).sections) == 1


def test_a_new_year_refills_the_displays_as_far_as_the_piles_last():
    table = Table()
    table.hand(0, "blue")
    table.hand(1, "")
    table.display("base", *["red base"] * 4)
    table.display("trunk", *["red trunk"] * 4)
    table.display("window")
    table.pile("trunk", "white trunk", "brown trunk gold")
    table.pile("window")
    sizes = table.public.pile_sizes
    events = table.send("bank 12", "blue")
    assert [sum(display) for display in table.public.displays] == [9, 6, 0, 9]
    assert table.public.pile_sizes == (sizes[0] - 5, 0, 0, sizes[3])
    filled = told(events, DisplayFilled)
    assert [len(event.sections) for event in filled] == [5, 2]
    assert [str(s.colour.name) for s in filled[1].sections] == ["BROWN", "WHITE"]


def test_a_gift_is_laid_on_every_chest_each_year_on_top_of_those_that_stayed():
    table = Table(EVERYTHING)
    for year in range(1, 5):
        assert [len(cards) for _, cards in table.public.chests] == [year] * 6
        assert table.public.gift_deck_size == 24 - 6 * year
        before = table.public.chests
        events = table.play_out(until=year + 1) if year < 4 else []
        for (space, cards), (_, old) in zip(table.public.chests, before, strict=True):
            laid = [e.card for e in told(events, GiftLaid) if e.space == space]
            assert cards == (*old, *laid)
