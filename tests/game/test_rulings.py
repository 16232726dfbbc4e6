"""Rulings: decisions of this project on points that the rulebooks leave open.

`test_play` holds what may be chosen, what is paid and the order of gift cards at every decision of
random matches. R11, R12, R14 and R20 concern the evaluations and stand in test_scoring.py.
"""

from itertools import permutations

import pytest

from asara_game.events import (
    BuyersRecruited,
    FundsTaken,
    GeniePaid,
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveDeclined,
    MoveLost,
    PileSearched,
    SectionTaken,
)
from asara_game.state import IllegalAction, lit_colour
from asara_game.view import public_view, view
from asara_game.vocabulary import Colour, GiftCard, GiftKind, SectionKind
from tests.game.table import EVERYTHING, Table, section, told, tower

MARKETS = ("base-market", "trunk-market", "window-market", "turret-market")
TEN_ASARI = GiftCard(GiftKind.ASARI, asari=10)
TWO_PRESTIGE = GiftCard(GiftKind.PRESTIGE, prestige=2)
CHOOSE_BUYER = GiftCard(GiftKind.CHOOSE_BUYER)
BUY_BASE = GiftCard(GiftKind.BUY_SECTION, section_kind=SectionKind.BASE)
BUY_LIT_WINDOW = GiftCard(GiftKind.BUY_LIT_WINDOW, asari=4)


def test_r01_a_face_down_pair_replaces_only_a_colour_that_is_required():
    table = Table()
    table.hand(0, "blue blue green")
    start = table.state.copy()
    table.play("dispatch bank 12")
    assert table.offered() == ["lay blue", "lay green"]
    table.state = start
    table.occupy("bank 6", colour="green")
    table.play("dispatch bank 12")
    assert table.offered() == ["lay green", "lay blue blue face-down", "lay blue green face-down"]


def test_r02_a_space_with_a_cost_is_offered_to_who_can_pay_it_and_a_market_to_all():
    table = Table("pro+genie")
    table.display("turret")
    for asari in range(9):
        table.money(0, asari)
        assert all(table.offers(market) == [1] for market in MARKETS)
        for area, costs in {"spies": [3, 5], "tent": [2, 4, 6], "genie": [3, 5, 7]}.items():
            assert table.offers(area) == [cost for cost in costs if cost <= asari]


@pytest.mark.parametrize(
    ("space", "answers", "owed"),
    [
        ("trunk-market 1", [], []),
        ("spies 5", ["search base"], [PileSearched(0, SectionKind.BASE, -5)]),
        ("genie 3", [], [GeniePaid(0, -3)]),
    ],
)
def test_r03_a_purchase_and_a_wish_may_be_declined_and_their_price_is_owed(space, answers, owed):
    table = Table("pro+genie")
    events = table.send(space, "blue")[1:] + table.play(*answers, "decline")
    assert events == [*owed, MoveDeclined(0)]
    assert table.asari(0) == 20 + sum(event.asari for event in owed)


def test_r04_a_seat_that_can_do_nothing_else_dispatches_to_the_coloured_building():
    table = Table("pro+genie")
    table.hand(0, "orange")
    table.money(0, 0)
    table.occupy(*(f"{market} 1" for market in MARKETS), "bank 6", "patronage 1", colour="blue")
    assert table.offered() == ["dispatch coloured-building 1"]


def test_r05_no_lit_window_on_a_window_of_the_same_build():
    table = Table("pro")
    table.towers(0, tower("red"))
    table.stock(0, "red window")
    table.lit(0, "red")
    assert table.offers("circle") == [1]


def test_r06_the_bank_pays_when_the_players_hold_more_coins_than_the_box():
    table = Table()
    table.money(0, 500)
    table.money(1, 500)
    assert FundsTaken(0, table.info("bank 12").space, 12) in table.send("bank 12", "blue")
    assert table.asari(0) == 512


@pytest.mark.parametrize(
    ("pile", "drawn"), [("green purple orange", "purple orange"), ("orange", "orange")]
)
def test_r07_a_short_buyer_pile_gives_what_is_left(pile, drawn):
    table = Table("pro")
    table.hand(0, "blue blue")
    table.buyer_pile(pile)
    events = table.send("tent 2", "blue")
    assert told(events, BuyersRecruited) == [BuyersRecruited(0, len(drawn.split()), -2)]
    assert table.held(0) == f"blue {drawn}"


def test_r07_a_short_stack_of_lit_windows_gives_what_is_left():
    table = Table("pro")
    table.lit_stack("red green")
    table.send("lit-windows 1", "blue")
    assert table.play("pay 4") == [LitWindowsDrawn(0, 2, -4)]
    assert table.offered() == ["keep green", "keep red"]


def test_r08_a_pile_and_a_house_without_anything_left_are_closed():
    """To dispatches, and to wishes (R7 for the tent and the lit windows)."""
    table = Table("pro+genie")
    table.pile("trunk")
    start = table.state.copy()
    table.send("spies 3", "blue")
    assert table.offered() == ["search base", "search window", "search turret"]
    table.state = start
    table.buyer_pile("")
    table.lit_stack("")
    for kind in ("base", "window", "turret"):
        table.pile(kind)
    for dispatch in ("genie 3", ""):
        assert [table.offers(area) for area in ("spies", "tent", "lit-windows")] == [[], [], []]
        if dispatch:
            table.send(dispatch, "blue")


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
        stack = reversed(table.state.lit_stack)
        downwards = [Colour(lit_colour(window)).name.lower() for window in stack]
        assert downwards == ["red", *order]
        orders.add(order)
    assert len(orders) == 6


@pytest.mark.parametrize(
    ("card", "change"),
    [
        (BUY_BASE, lambda table: table.money(0, 2)),
        (BUY_BASE, lambda table: table.display("base")),
        (BUY_LIT_WINDOW, lambda table: table.money(0, 3)),
        (BUY_LIT_WINDOW, lambda table: table.lit_stack("")),
        (CHOOSE_BUYER, lambda table: table.buyer_pile("")),
    ],
)
def test_r10_a_gift_that_cannot_be_used_has_no_effect(card, change):
    table = Table("pro+gifts")
    table.gifts("bank 6", card)
    change(table)
    asari = table.asari(0)
    assert told(table.send("bank 6", "blue"), GiftTaken) == [GiftTaken(0, card, False)]
    assert table.asari(0) == asari + 6


@pytest.mark.parametrize(
    ("asari", "stack", "after"),
    [
        (7, "red green", MoveLost(0)),  # too dear after the gift
        (20, "red", MoveLost(0)),  # emptied by the gift
        (8, "red green", LitWindowsDrawn(0, 1, -4)),
    ],
)
def test_r10_a_move_that_the_gift_has_made_impossible_is_lost(asari, stack, after):
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", BUY_LIT_WINDOW)
    table.money(0, asari)
    table.lit_stack(stack)
    events = table.send("lit-windows 1", "blue")
    if table.kind == "GIFT_LIT_WINDOW":
        events += table.play(table.offered()[0])
    assert events[1:4] == [GiftTaken(0, BUY_LIT_WINDOW, True), LitWindowsKept(0, 1, -4), after]


def test_r13_a_wish_for_a_plot_builds_its_number_and_pays_it():
    table = Table("pro+genie")
    table.stock(0, "red base", "red turret", "red trunk")
    table.occupy("circle 1", "circle 2")
    assert table.offers("circle") == [3]  # which may build 2 as well
    table.send("genie 3", "blue")
    assert table.offers("circle") == [2, 3]
    table.play("wish circle 2")
    assert table.public.seats[0].towers == (tower("red"),)
    assert table.asari(0) == 20 - 3 - 2


def test_r15_purse_and_stock_are_in_no_other_view():
    table = Table(EVERYTHING, 3)
    seen = [view(table.state, seat) for seat in (0, 2)]
    public = public_view(table.state)
    table.money(1, 3)
    table.stock(1, "white base gold")
    assert public_view(table.state) == public
    assert [view(table.state, seat) for seat in (0, 2)] == seen
    assert (table.asari(1), sum(table.private(1).sections)) == (3, 1)


def test_r16_a_wish_takes_no_gift():
    table = Table(EVERYTHING)
    table.gifts("bank 6", TEN_ASARI, TWO_PRESTIGE)
    chests = table.public.chests
    table.send("genie 3", "blue")
    assert not told(table.play("wish bank 6"), GiftTaken)
    assert (table.asari(0), table.prestige(0)) == (20 - 3 + 6, 0)
    assert table.public.chests == chests


@pytest.mark.parametrize(("left", "kept"), [("red", 1), ("red green", 2), ("red green red", 2)])
def test_r17_the_dear_offer_with_few_windows_keeps_at_most_what_was_drawn(left, kept):
    table = Table("pro")
    table.lit_stack(left)
    table.send("lit-windows 1", "blue")
    assert table.offered() == ["pay 4", "pay 10"]
    events = table.play("pay 10")
    count = len(left.split())
    assert events[0] == LitWindowsDrawn(0, count, -10)
    if count > kept:
        assert all(len(text.split()) == kept + 1 for text in table.offered())
        events += table.play(table.offered()[0])
    assert told(events, LitWindowsKept) == [LitWindowsKept(0, kept)]
    assert sum(table.private(0).lit_windows) == kept


@pytest.mark.parametrize(
    ("cards", "sections"),
    [
        ((TEN_ASARI, BUY_BASE, TWO_PRESTIGE), [SectionTaken(0, section("green base"), False, -4)]),
        ((BUY_BASE, TWO_PRESTIGE, TEN_ASARI), []),
    ],
)
def test_r18_gifts_take_effect_in_the_order_they_were_laid(cards, sections):
    table = Table("basic+gifts")
    table.gifts("bank 6", *cards)
    table.money(0, 0)
    table.display("base", "brown base", "green base")
    events = table.send("bank 6", "blue")
    if sections:
        asked = view(table.state, 0).decision
        assert asked is not None
        assert asked.gifts == cards[1:]  # those that still wait
        events += table.play("take green base")
    assert [gift.card for gift in told(events, GiftTaken)] == list(cards)
    assert told(events, SectionTaken) == sections
    assert all(
        gift.effective for gift in told(events, GiftTaken) if gift.card != BUY_BASE or sections
    )


@pytest.mark.parametrize(
    ("space", "area", "without", "with_ten"),
    [
        ("spies 5", "spies", [], [5]),
        ("tent 6", "tent", [2], [2, 6]),
        ("genie 7", "genie", [], [7]),
        ("circle 3", "circle", [2], [2, 3]),
        ("lit-windows 1", "lit-windows", [], [1]),
    ],
)
def test_r19_the_asari_of_the_cards_open_a_space(space, area, without, with_ten):
    """Wherever an edition places a chest."""
    for cards, offered in (((TWO_PRESTIGE,), without), ((TWO_PRESTIGE, TEN_ASARI), with_ten)):
        table = Table(EVERYTHING, chests=(space,))
        table.stock(0, "red base", "red turret", "red trunk")
        table.gifts(space, *cards)
        table.money(0, 2)
        assert table.offers(area) == offered


def test_r19_a_purchase_before_the_asari_can_cost_the_move():
    """The cards are added up, and then take effect one after the other (ruling R18)."""
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", BUY_BASE, GiftCard(GiftKind.ASARI, asari=2))
    table.money(0, 3)
    table.display("base", "brown base", "brown base")
    assert table.offers("lit-windows") == [1]
    events = table.send("lit-windows 1", "blue")
    assert told(events, MoveLost) == [MoveLost(0)]
    assert table.asari(0) == 2


def test_r21_a_wish_never_names_the_house_of_the_bottle_genie():
    table = Table("pro+genie")
    table.money(0, 60)
    table.send("genie 3", "blue")
    assert table.kind == "WISH"
    assert table.offers("genie") == []
    with pytest.raises(IllegalAction):
        table.play("wish genie 5")
