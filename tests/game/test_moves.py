"""The areas' moves, clause by clause."""

import pytest

from asara_game.events import (
    BuyersDispatched,
    BuyersRecruited,
    FundsTaken,
    GeniePaid,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveDeclined,
    PatronageTaken,
    PileSearched,
    SectionTaken,
    WishMade,
)
from asara_game.view import view
from asara_game.vocabulary import Area, SectionKind
from tests.game.table import Table, section, told

PRICES = {"brown": 3, "green": 4, "red": 5, "black": 6, "white": 8}

# Markets.


@pytest.mark.parametrize("gold", ["", " gold"])
@pytest.mark.parametrize("kind", ["base", "trunk", "window", "turret"])
@pytest.mark.parametrize("colour", PRICES)
def test_a_section_costs_its_colours_price_in_every_market_with_gold_or_without(colour, kind, gold):
    table = Table()
    text = f"{colour} {kind}{gold}"
    table.display(kind, text, text, "brown " + kind)
    table.send(f"{kind}-market 1", "blue")
    events = table.play(f"take {text}")
    assert events == [SectionTaken(0, section(text), False, -PRICES[colour])]
    assert table.asari(0) == 20 - PRICES[colour]
    assert sum(table.private(0).sections) == 1
    assert sum(table.public.displays[SectionKind[kind.upper()] - 1]) == 2


def test_one_section_of_that_market_only():
    table = Table()
    table.display("trunk", "red trunk", "white trunk gold", "red trunk")
    table.send("trunk-market 1", "blue")
    assert table.offered() == ["take red trunk", "take white trunk gold", "decline"]
    table.play("take white trunk gold")
    assert table.asked == 1
    assert table.public.displays[1] == (0, 0, 0, 0, 2, 0, 0, 0, 0, 0)


def test_only_what_the_purse_can_pay_is_offered():
    table = Table()
    table.display("base", *(f"{colour} base" for colour in PRICES))
    for asari in range(10):
        table.money(0, asari)
        state = table.state.copy()
        events = table.send("base-market 1", "blue")
        payable = [f"take {colour} base" for colour, price in PRICES.items() if price <= asari]
        assert (table.offered() if payable else ["decline"]) == [*payable, "decline"]
        assert told(events, MoveDeclined) == ([] if payable else [MoveDeclined(0)])
        table.state = state


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


def test_the_coloured_building_never_has_a_colour_and_is_never_full():
    table = Table()
    table.hand(0, "blue blue blue blue")
    table.hand(1, "green green green green green")
    for _ in range(8):
        table.send("coloured-building 1", "")
        assert table.area_colour(Area.COLOURED_BUILDING) == 0
    marks = table.lying("coloured-building 1")
    assert [(mark.seat, mark.colour) for mark in marks] == [(0, 0), (1, 0)] * 4


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


def test_only_the_seat_that_searches_sees_the_pile_and_as_long_as_it_searches():
    table = Table(seats=3)
    table.hand(0, "blue")
    table.pile("turret", "white turret", "red turret", "black turret gold")
    table.send("spies 3", "blue")
    assert table.private(0).searched_sections == ()
    table.play("search turret")
    seen = [section("red turret"), section("black turret gold"), section("white turret")]
    assert list(table.private(0).searched_sections) == seen
    assert table.private(1).searched_sections == table.private(2).searched_sections == ()
    table.play("decline")
    assert table.private(0).searched_sections == ()


def test_what_a_searched_pile_holds_is_told_to_nobody():
    worlds = []
    for pile in (["brown base", "green base"], ["red base gold", "white base"]):
        table = Table()
        table.pile("base", *pile)
        events = table.send("spies 3", "blue")
        events += table.play("search base")
        within = view(table.state, 1)
        events += table.play("decline")
        worlds.append((events, within, view(table.state, 1)))
    assert worlds[0] == worlds[1]


def test_the_bribe_leaves_less_for_the_section():
    table = Table()
    table.money(0, 7)
    table.pile("base", "brown base", "green base", "red base")
    table.send("spies 3", "blue")
    table.play("search base")
    assert table.offered() == ["take brown base", "take green base", "decline"]


def test_a_bribe_that_leaves_nothing_to_spend_ends_the_move():
    table = Table()
    table.money(0, 3)
    table.send("spies 3", "blue")
    events = table.play("search base")
    assert [type(event).__name__ for event in events] == ["PileSearched", "MoveDeclined"]
    assert table.asari(0) == 0


def test_a_searched_pile_is_shuffled():
    """Its new order follows from the deal, whatever its order before."""
    orders = []
    for pile in (
        ["red base", "brown base", "white base"],
        ["white base", "red base", "brown base"],
    ):
        table = Table()
        table.pile("base", *pile)
        table.send("spies 3", "blue")
        table.play("search base", "decline")
        assert table.state.shuffle_counts[0] == 2
        orders.append(list(table.state.piles[0]))
    assert orders[0] == orders[1]


# Patronage.


def test_the_patronage_goes_to_who_dispatches_there_at_once():
    table = Table(seats=3)
    table.hand(1, "blue blue")
    table.turn(1)
    assert table.send("patronage 1", "blue")[1:] == [PatronageTaken(1)]
    assert table.public.patronage_seat == 1
    assert table.asari(1) == 21
    assert table.prestige(1) == 0
    assert table.offers("patronage") == []


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


def test_recruited_buyers_are_the_players_secret():
    worlds = []
    for pile in ("green orange", "purple blue"):
        table = Table("pro")
        table.hand(0, "blue blue")
        table.hand(1, "yellow yellow")
        table.buyer_pile(pile)
        events = table.send("tent 2", "blue")
        worlds.append((events, view(table.state, 1)))
    assert worlds[0] == worlds[1]


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


def test_every_choice_of_windows_to_keep_is_offered_once():
    table = Table("pro")
    table.lit_stack("white red red green green")
    table.send("lit-windows 1", "blue")
    table.play("pay 10")
    assert table.offered() == [
        "keep green green",
        "keep green red",
        "keep green white",
        "keep red red",
        "keep red white",
    ]


def test_the_dear_offer_needs_ten_asari():
    table = Table("pro")
    table.money(0, 9)
    assert told(table.send("lit-windows 1", "blue"), LitWindowsDrawn) == [LitWindowsDrawn(0, 3, -4)]


def test_what_was_drawn_and_kept_is_the_players_secret():
    worlds = []
    for stack in ("red green brown", "black white red"):
        table = Table("pro", 3)
        table.hand(0, "blue")
        table.lit_stack(stack)
        table.send("lit-windows 1", "blue")
        events = table.play("pay 4")
        views = [view(table.state, seat) for seat in (1, 2)]
        for kind in ("LIT_KEEP", "LIT_RETURN"):
            assert table.kind == kind
            events += table.play(table.offered()[-1])
            views += [view(table.state, seat) for seat in (1, 2)]
        worlds.append((events, views))
    assert worlds[0] == worlds[1]


def test_windows_that_go_back_without_a_choice_look_the_same_afterwards():
    worlds = []
    for stack in ("red green brown", "white black white"):
        table = Table("pro", 3)
        table.hand(0, "blue")
        table.lit_stack(stack)
        table.send("lit-windows 1", "blue")
        events = table.play(
            "pay 4", *(["keep green", "return red"] if "red" in stack else ["keep black"])
        )
        worlds.append((events, [view(table.state, seat) for seat in (1, 2)]))
    assert worlds[0] == worlds[1]


# House of the Bottle Genie.


@pytest.mark.parametrize("cost", [3, 5, 7])
def test_the_genie_is_paid_before_the_wish(cost):
    table = Table("pro+genie")
    assert told(table.send(f"genie {cost}", "blue"), GeniePaid) == [GeniePaid(0, -cost)]
    assert table.kind == "WISH"
    assert table.asari(0) == 20 - cost


def test_any_area_but_the_patronage_and_the_genie_may_be_wished_for():
    table = Table("pro+genie")
    table.stock(0, "red base", "red turret")
    table.send("genie 3", "blue")
    assert table.offered() == [
        "wish base-market 1",
        "wish trunk-market 1",
        "wish window-market 1",
        "wish turret-market 1",
        "wish circle 2",
        "wish bank 6",
        "wish bank 8",
        "wish bank 10",
        "wish bank 12",
        "wish coloured-building 1",
        "wish spies 3",
        "wish spies 5",
        "wish tent 2",
        "wish tent 4",
        "wish tent 6",
        "wish lit-windows 1",
        "decline",
    ]


def test_an_occupied_space_may_be_wished_for():
    table = Table("pro+genie")
    table.occupy(*(f"bank {value}" for value in (6, 8, 10, 12)), colour="blue")
    table.send("genie 3", "blue")
    assert table.offers("bank") == [6, 8, 10, 12]
    events = table.play("wish bank 12")
    assert events[:2] == [
        WishMade(0, table.info("bank 12").space),
        FundsTaken(0, table.info("bank 12").space, 12),
    ]
    assert table.asari(0) == 20 - 3 + 12


def test_no_buyer_is_placed_on_the_space_that_is_wished_for():
    table = Table("pro+genie")
    table.hand(0, "blue green")
    table.send("genie 3", "blue")
    table.play("wish bank 12")
    assert table.lying("bank 12") == []
    assert table.area_colour(Area.BANK) == 0
    assert table.held(0) == "green"


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


def test_only_moves_that_can_be_paid_after_the_genie_may_be_wished_for():
    table = Table("pro+genie")
    table.money(0, 6)
    table.stock(0, "red base", "red turret", "red trunk", "red trunk")
    table.send("genie 3", "blue")
    assert table.offers("spies") == [3]
    assert table.offers("tent") == [2]
    assert table.offers("circle") == [2, 3]
    assert table.offers("lit-windows") == []


def test_a_wish_buys_from_a_market():
    table = Table("pro+genie")
    table.display("window", "white window", "red window")
    table.send("genie 7", "blue")
    events = table.play("wish window-market 1", "take white window")
    assert told(events, SectionTaken) == [SectionTaken(0, section("white window"), False, -8)]
    assert table.asari(0) == 20 - 7 - 8
