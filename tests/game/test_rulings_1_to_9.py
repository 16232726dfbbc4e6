"""Rulings R1 to R9: decisions of this project on points that the rulebooks leave open."""

from itertools import permutations

import pytest

from asara_game.events import (
    BuyersRecruited,
    FundsTaken,
    GeniePaid,
    LitWindowsDrawn,
    MoveDeclined,
    PileSearched,
)
from asara_game.state import lit_colour
from asara_game.vocabulary import Colour, SectionKind
from tests.game.table import EVERYTHING, Table, told, tower

# R1: a face-down pair replaces a colour that is required.


def test_r01_no_face_down_pair_in_an_area_without_colour():
    table = Table()
    table.hand(0, "blue blue green")
    table.play("dispatch bank 12")
    assert table.offered() == ["lay blue", "lay green"]


def test_r01_a_face_down_pair_where_a_colour_is_required():
    table = Table()
    table.hand(0, "blue blue green")
    table.occupy("bank 6", colour="green")
    table.play("dispatch bank 12")
    assert table.offered() == ["lay green", "lay blue blue face-down", "lay blue green face-down"]


# R2: a space whose move says "must" is offered only to who can make the move.


def test_r02_a_market_is_open_to_a_seat_that_can_buy_nothing():
    table = Table()
    table.money(0, 0)
    table.display("turret")
    for market in ("base-market", "trunk-market", "window-market", "turret-market"):
        assert table.offers(market) == [1]


@pytest.mark.parametrize(
    ("area", "costs"), [("spies", [3, 5]), ("tent", [2, 4, 6]), ("genie", [3, 5, 7])]
)
def test_r02_a_space_with_a_cost_is_offered_to_who_can_pay_it(area, costs):
    table = Table(EVERYTHING)
    for asari in range(9):
        table.money(0, asari)
        assert table.offers(area) == [cost for cost in costs if cost <= asari]


# R3: what may be declined.


def test_r03_taking_a_section_may_be_declined():
    table = Table()
    events = table.send("trunk-market 1", "blue")
    assert table.offered()[-1] == "decline"
    events = table.play("decline")
    assert events == [MoveDeclined(0)]
    assert table.asari(0) == 20


def test_r03_a_searched_pile_may_be_declined_and_the_bribe_is_owed():
    table = Table()
    table.send("spies 5", "blue")
    events = table.play("search base", "decline")
    assert events == [PileSearched(0, SectionKind.BASE, -5), MoveDeclined(0)]
    assert table.asari(0) == 15


def test_r03_the_wish_may_be_declined_and_the_genie_is_owed():
    table = Table("pro+genie")
    events = table.send("genie 3", "blue")
    events += table.play("decline")
    assert events[-2:] == [GeniePaid(0, -3), MoveDeclined(0)]
    assert table.asari(0) == 17


# R4: a player can always dispatch.


def test_r04_the_coloured_building_takes_one_buyer_from_a_seat_that_can_do_nothing_else():
    table = Table(EVERYTHING)
    table.hand(0, "orange")
    table.money(0, 0)
    table.no_gifts()
    for market in ("base-market", "trunk-market", "window-market", "turret-market"):
        table.occupy(f"{market} 1", colour="blue")
    table.occupy("bank 6", "patronage 1", colour="blue")
    assert table.offered() == ["dispatch coloured-building 1"]


# R5: a lit window covers a window that stood before the build.


def test_r05_no_lit_window_on_a_window_of_the_same_build():
    table = Table("pro")
    table.towers(0, tower("red"))
    table.stock(0, "red window")
    table.lit(0, "red")
    assert table.offers("circle") == [1]


# R6: the kitty never runs out.


def test_r06_the_bank_pays_when_the_players_hold_more_coins_than_the_box():
    table = Table()
    table.money(0, 500)
    table.money(1, 500)
    assert FundsTaken(0, table.info("bank 12").space, 12) in table.send("bank 12", "blue")
    assert table.asari(0) == 512


# R7: draw what is left.


def test_r07_a_short_buyer_pile_gives_what_is_left():
    table = Table("pro")
    table.hand(0, "blue blue")
    table.buyer_pile("orange")
    events = table.send("tent 2", "blue")
    assert told(events, BuyersRecruited) == [BuyersRecruited(0, 1, -2)]
    assert table.held(0) == "blue orange"


def test_r07_no_tent_without_a_buyer_pile():
    table = Table("pro+genie")
    table.buyer_pile("")
    assert table.offers("tent") == []
    table.send("genie 3", "blue")
    assert table.offers("tent") == []


def test_r07_a_short_stack_of_lit_windows_gives_what_is_left():
    table = Table("pro")
    table.lit_stack("red green")
    table.send("lit-windows 1", "blue")
    events = table.play("pay 4")
    assert events == [LitWindowsDrawn(0, 2, -4)]
    assert table.offered() == ["keep green", "keep red"]


def test_r07_no_house_of_lighted_windows_without_a_stack():
    table = Table("pro+genie")
    table.lit_stack("")
    assert table.offers("lit-windows") == []
    table.send("genie 3", "blue")
    assert table.offers("lit-windows") == []


# R8: empty piles.


def test_r08_no_spies_without_a_pile():
    table = Table("pro+genie")
    for kind in ("base", "trunk", "window", "turret"):
        table.pile(kind)
    assert table.offers("spies") == []
    table.send("genie 3", "blue")
    assert table.offers("spies") == []


def test_r08_an_empty_pile_cannot_be_searched():
    table = Table()
    table.pile("trunk")
    table.send("spies 3", "blue")
    assert table.offered() == ["search base", "search window", "search turret"]


# R9: the player chooses the order in which windows go back under the stack.


def stack_downwards(table):
    return [Colour(lit_colour(window)).name.lower() for window in reversed(table.state.lit_stack)]


def places(table, seat):
    return [(above, colour.name) for above, colour in table.private(seat).known_lit_windows]


def test_r09_every_order_can_be_chosen_one_window_after_the_other():
    orders = set()
    for order in permutations(("black", "green", "brown")):
        table = Table("pro")
        table.lit_stack("red black green brown white white")
        table.send("lit-windows 1", "blue")
        table.play("pay 10", "keep white white")
        table.play(f"return {order[0]}")
        assert table.kind == "LIT_RETURN"
        assert sorted(table.offered()) == sorted(f"return {colour}" for colour in order[1:])
        table.play(f"return {order[1]}")
        assert stack_downwards(table) == ["red", *order]
        orders.add(order)
    assert len(orders) == 6


def test_r09_only_who_put_them_there_knows_the_order():
    table = Table("pro", 3)
    table.hand(0, "blue")
    table.lit_stack("white black red green brown")
    table.send("lit-windows 1", "blue")
    table.play("pay 4", "keep green", "return red")
    assert places(table, 0) == [(2, "RED"), (3, "BROWN")]
    assert places(table, 1) == places(table, 2) == []
