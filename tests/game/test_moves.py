"""The areas' moves, clause by clause."""

import pytest

from asara_game.events import (
    BuyersDispatched,
    BuyersRecruited,
    FundsTaken,
    GeniePaid,
    LitWindowsDrawn,
    LitWindowsKept,
    PileSearched,
    SectionTaken,
)
from asara_game.view import view
from asara_game.vocabulary import SectionKind
from tests.game.table import Table, section, told

# Markets.


# Bank and coloured building.


@pytest.mark.parametrize("value", [6, 8, 10, 12])
def test_the_bank_pays_the_value_of_the_space(value):
    table = Table()
    events = table.send(f"bank {value}", "blue")
    assert told(events, FundsTaken) == [FundsTaken(0, table.info(f"bank {value}").space, value)]
    assert table.asari(0) == 20 + value


def test_the_coloured_building_takes_any_buyer_face_down_and_pays_five():
    table = Table()
    table.hand(0, "blue orange")
    table.play("dispatch coloured-building 1")
    assert table.offered() == ["lay blue face-down", "lay orange face-down"]
    events = table.play("lay orange face-down")
    space = table.info("coloured-building 1").space
    assert events == [BuyersDispatched(0, space, 0, 1), FundsTaken(0, space, 5)]
    assert table.asari(0) == 25


# House of Spies.


@pytest.mark.parametrize("cost", [3, 5])
def test_a_bribe_searches_a_pile_and_the_section_is_paid_besides(cost):
    table = Table()
    table.pile("turret", "black turret", "white turret", "red turret gold", "black turret")
    table.send(f"spies {cost}", "blue")
    assert table.kind == "PILE"
    assert table.asari(0) == 20  # the bribe is paid with the choice of the pile
    events = table.play("search turret")
    assert events == [PileSearched(0, SectionKind.TURRET, -cost)]
    assert table.offered() == [
        "take red turret gold",
        "take black turret",
        "take white turret",
        "decline",
    ]
    events = table.play("take black turret")
    assert events == [SectionTaken(0, section("black turret"), True, -6)]
    assert table.asari(0) == 20 - cost - 6
    assert table.public.pile_sizes[3] == 3


# Tent and House of Lighted Windows (professional).


@pytest.mark.parametrize("cost", [2, 4, 6])
def test_the_tent_is_paid_and_draws_two_buyers_from_the_top(cost):
    table = Table("pro")
    table.hand(0, "blue blue")
    table.buyer_pile("green green purple orange")
    events = table.send(f"tent {cost}", "blue")
    assert told(events, BuyersRecruited) == [BuyersRecruited(0, 2, -cost)]
    assert table.held(0) == "blue purple orange"
    assert table.public.buyer_pile_size == 2
    assert table.asari(0) == 20 - cost


@pytest.mark.parametrize(("asari", "drawn", "kept"), [(4, 3, 1), (10, 5, 2)])
def test_the_two_offers_of_the_house_of_lighted_windows(asari, drawn, kept):
    table = Table("pro")
    table.lit_stack("white white black red red green brown")
    table.send("lit-windows 1", "blue")
    assert table.offered() == ["pay 4", "pay 10"]
    events = table.play(f"pay {asari}")
    assert events == [LitWindowsDrawn(0, drawn, -asari)]
    top = ["brown", "green", "red", "red", "black"][:drawn]
    assert [c.name.lower() for c in table.private(0).searched_lit_windows] == top
    assert table.public.lit_stack_size == 7 - drawn
    asked = view(table.state, 0).decision
    assert asked is not None
    assert asked.lit_windows_to_keep == kept
    events = table.play("keep red" if kept == 1 else "keep red red")
    assert events == [LitWindowsKept(0, kept)]
    assert table.held_lit(0) == " ".join(["red"] * kept)
    while table.kind == "LIT_RETURN":
        assert table.play(table.offered()[0]) == []
    assert table.public.lit_stack_size == 7 - kept
    assert table.public.seats[0].lit_windows == kept


# House of the Bottle Genie.


@pytest.mark.parametrize("cost", [3, 5, 7])
def test_the_genie_is_paid_before_the_wish(cost):
    table = Table("pro+genie")
    assert told(table.send(f"genie {cost}", "blue"), GeniePaid) == [GeniePaid(0, -cost)]
    assert table.kind == "WISH"
    assert table.asari(0) == 20 - cost


@pytest.mark.parametrize(("wish", "cost"), [("spies 5", 5), ("tent 6", 6), ("circle 2", 2)])
def test_the_wished_move_costs_what_its_space_costs(wish, cost):
    table = Table("pro+genie")
    table.hand(0, "blue blue")
    table.stock(0, "red base", "red turret")
    table.send("genie 7", "blue")
    table.play(f"wish {wish}")
    if wish.startswith("spies"):
        table.play("search base", "decline")
    assert table.asari(0) == 20 - 7 - cost
