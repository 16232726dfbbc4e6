"""Rule sets, the draw of lit windows, and new years; `test_play` holds all of it in every match."""

import pytest

from asara_game.events import DisplayFilled, LitWindowsDrawn, LitWindowsKept
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets, parse_rule_sets
from asara_game.view import view
from asara_game.vocabulary import RuleSet
from tests.game.table import Table, colours, told


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


@pytest.mark.parametrize(("asari", "drawn", "kept"), [(4, 3, 1), (10, 5, 2)])
def test_the_two_offers_of_the_house_of_lighted_windows(asari, drawn, kept):
    table = Table("pro")
    table.lit_stack("white white black red red green brown")
    table.send("lit-windows 1", "blue")
    assert table.play(f"pay {asari}") == [LitWindowsDrawn(0, drawn, -asari)]
    seen = view(table.state, 0)
    assert seen.private.searched_lit_windows == tuple(colours("brown green red red black")[:drawn])
    assert seen.decision is not None
    assert seen.decision.lit_windows_to_keep == kept
    assert table.play(f"keep{' red' * kept}") == [LitWindowsKept(0, kept)]
    while table.kind == "LIT_RETURN":
        assert table.play(table.offered()[0]) == []
    assert table.public.lit_stack_size == 7 - kept


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
    assert [section.colour.name for section in filled[1].sections] == ["BROWN", "WHITE"]
