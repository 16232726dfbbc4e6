"""What the areas' moves cost and pay, and what gift cards do.

What may be chosen, and every purse, is held by `test_play` for all matches.
"""

import pytest

from asara_game.events import (
    BuyersDispatched,
    BuyersRecruited,
    FundsTaken,
    GeniePaid,
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    PileSearched,
    SectionTaken,
)
from asara_game.view import view
from asara_game.vocabulary import GiftCard, GiftKind, SectionKind
from tests.game.table import EVERYTHING, Table, section, told

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


# Gift cards.

GIFT = {
    "asari": GiftCard(GiftKind.ASARI, asari=8),
    "prestige": GiftCard(GiftKind.PRESTIGE, prestige=2),
    "buyer": GiftCard(GiftKind.CHOOSE_BUYER),
    "base": GiftCard(GiftKind.BUY_SECTION, section_kind=SectionKind.BASE),
    "trunk": GiftCard(GiftKind.BUY_SECTION, section_kind=SectionKind.TRUNK),
    "lit": GiftCard(GiftKind.BUY_LIT_WINDOW, asari=4),
}


def with_gifts(*names: str, space: str = "bank 6", rule_sets: str = EVERYTHING) -> Table:
    table = Table(rule_sets, 3)
    table.hand(0, "blue blue")
    table.no_gifts()
    table.gifts(space, *(GIFT[name] for name in names))
    return table


def test_the_cards_of_a_space_go_to_who_dispatches_there_before_its_move():
    table = with_gifts("asari", "prestige")
    events = table.send("bank 6", "blue")
    assert [type(event).__name__ for event in events] == [
        "BuyersDispatched",
        "GiftTaken",
        "GiftTaken",
        "FundsTaken",
    ]
    assert (table.asari(0), table.prestige(0)) == (20 + 8 + 6, 2)
    assert table.public.chests == ()


def test_a_face_down_pair_takes_the_gifts_as_well():
    table = with_gifts("asari")
    table.occupy("bank 12", colour="green")
    events = table.send("bank 6", "blue blue face-down")
    assert told(events, GiftTaken) == [GiftTaken(0, GIFT["asari"], True, 8)]


def test_shuffling_the_stack_ends_what_was_known_of_it():
    table = with_gifts("lit", space="lit-windows 1")
    table.turn(1)
    table.hand(1, "blue blue")
    table.lit_stack("white red green white black")
    table.send("lit-windows 2", "blue")
    table.play("pay 4", "keep white", "return black")
    assert len(table.private(1).known_lit_windows) == 2
    table.turn(0)
    table.play("dispatch lit-windows 1", "lay blue", "keep red")
    assert table.private(1).known_lit_windows == ()
