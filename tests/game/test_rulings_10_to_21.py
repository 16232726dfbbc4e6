"""Rulings R10 to R21: decisions of this project on points that the rulebooks leave open.

R11, R12, R14 and R20 concern the evaluations and stand in test_scoring.py.
"""

import pytest

from asara_game.events import (
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveLost,
    SectionTaken,
)
from asara_game.state import IllegalAction
from asara_game.view import public_view, view
from asara_game.vocabulary import GiftCard, GiftKind
from tests.game.table import (
    BUY_BASE,
    BUY_LIT_WINDOW,
    CHOOSE_BUYER,
    EVERYTHING,
    TEN_ASARI,
    TWO_PRESTIGE,
    Table,
    told,
    tower,
)

# R10: a gift that cannot be used has no effect; a move that can no longer be paid is lost.


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


def test_r10_a_move_that_the_gift_made_too_dear_is_lost():
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", BUY_LIT_WINDOW)
    table.money(0, 7)
    table.send("lit-windows 1", "blue")
    assert table.kind == "GIFT_LIT_WINDOW"
    events = table.play(table.offered()[0])
    assert events[:2] == [LitWindowsKept(0, 1, -4), MoveLost(0)]
    assert table.asari(0) == 3
    assert table.asked == 1


def test_r10_a_move_that_can_still_be_paid_is_made():
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", BUY_LIT_WINDOW)
    table.money(0, 8)
    table.send("lit-windows 1", "blue")
    events = table.play(table.offered()[0])
    assert LitWindowsDrawn(0, 3, -4) in events
    assert not told(events, MoveLost)


def test_r10_a_lit_house_that_the_gift_has_emptied_is_lost():
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", BUY_LIT_WINDOW)
    table.lit_stack("red")
    events = table.send("lit-windows 1", "blue")
    assert events[1:3] == [GiftTaken(0, BUY_LIT_WINDOW, True), LitWindowsKept(0, 1, -4)]
    assert told(events, MoveLost) == [MoveLost(0)]


# R13: the genie grants no discount on the building circle.


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


# R15: money and unbuilt sections are shown to their owner alone.


def test_r15_purse_and_stock_are_in_no_other_view():
    table = Table(EVERYTHING, 3)
    seen = [view(table.state, seat) for seat in (0, 2)]
    public = public_view(table.state)
    table.money(1, 3)
    table.stock(1, "white base gold")
    assert public_view(table.state) == public
    assert [view(table.state, seat) for seat in (0, 2)] == seen
    assert table.asari(1) == 3
    assert sum(table.private(1).sections) == 1


# R16: the genie takes no gift.


def test_r16_a_wish_takes_no_gift():
    table = Table(EVERYTHING)
    table.gifts("bank 6", TEN_ASARI, TWO_PRESTIGE)
    chests = table.public.chests
    table.send("genie 3", "blue")
    events = table.play("wish bank 6")
    assert not told(events, GiftTaken)
    assert table.asari(0) == 20 - 3 + 6
    assert table.prestige(0) == 0
    assert table.public.chests == chests


def test_r16_a_wish_for_a_market_needs_no_space_with_a_gift():
    table = Table(EVERYTHING)
    table.gifts("base-market 1", TEN_ASARI)
    table.send("genie 3", "blue")
    table.play("wish base-market 1")
    assert table.kind == "SECTION"
    assert table.asari(0) == 17


# R17: the ten-Asari offer stands while one window is left.


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
    assert len(table.held_lit(0).split()) == kept


# R18: several gift cards on a space take effect in the order they were laid.


def test_r18_gifts_take_effect_in_the_order_they_were_laid():
    for cards in ((TEN_ASARI, BUY_BASE, TWO_PRESTIGE), (BUY_BASE, TWO_PRESTIGE, TEN_ASARI)):
        table = Table("basic+gifts")
        table.gifts("bank 6", *cards)
        table.money(0, 0)
        table.display("base", "brown base", "green base")
        events = table.send("bank 6", "blue")
        if table.kind == "GIFT_SECTION":
            events += table.play("take green base")
        assert [gift.card for gift in told(events, GiftTaken)] == list(cards)
        paid_first = cards[0] is TEN_ASARI
        assert bool(told(events, SectionTaken)) is paid_first
        assert [gift.effective for gift in told(events, GiftTaken)].count(False) == 1 - paid_first


def test_r18_the_cards_that_still_wait_are_told_to_who_is_asked():
    table = Table("basic+gifts")
    table.gifts("bank 6", TWO_PRESTIGE, BUY_BASE, TEN_ASARI)
    table.send("bank 6", "blue")
    asked = view(table.state, 0).decision
    assert asked is not None
    assert asked.gifts == (BUY_BASE, TEN_ASARI)
    assert table.prestige(0) == 2
    assert table.asari(0) == 20


# R19: what a player can pay at a space with cards is judged with the Asari of those cards.


def test_r19_the_asari_of_the_cards_on_a_space_open_it():
    table = Table("pro+gifts")
    table.gifts("lit-windows 1", TEN_ASARI)
    table.money(0, 0)
    assert table.offers("lit-windows") == [1]  # the others have no cards
    events = table.send("lit-windows 1", "blue")
    assert told(events, GiftTaken) == [GiftTaken(0, TEN_ASARI, True, 10)]
    assert table.offered() == ["pay 4", "pay 10"]


def test_r19_the_asari_of_several_cards_are_added_to_the_purse():
    one, two = (GiftCard(GiftKind.ASARI, asari=asari) for asari in (1, 2))
    for cards, offered in (((one,), []), ((one, TWO_PRESTIGE, two), [1])):
        table = Table("pro+gifts")
        table.gifts("lit-windows 1", *cards)
        table.money(0, 1)
        assert table.offers("lit-windows") == offered


def test_r19_a_purchase_before_the_asari_can_cost_the_move():
    """The cards are added up, and then take effect one after the other (ruling R18)."""
    table = Table("pro+gifts")
    two_asari = GiftCard(GiftKind.ASARI, asari=2)
    table.gifts("lit-windows 1", BUY_BASE, two_asari)
    table.money(0, 3)
    table.display("base", "brown base", "brown base")
    assert table.offers("lit-windows") == [1]
    events = table.send("lit-windows 1", "blue")
    assert told(events, MoveLost) == [MoveLost(0)]
    assert table.asari(0) == 2


@pytest.mark.parametrize(
    ("space", "area", "without", "with_ten"),
    [
        ("spies 5", "spies", [], [5]),
        ("tent 6", "tent", [2], [2, 6]),
        ("genie 7", "genie", [], [7]),
        ("circle 3", "circle", [2], [2, 3]),
    ],
)
def test_r19_holds_wherever_an_edition_places_a_chest(space, area, without, with_ten):
    for cards, offered in (((TWO_PRESTIGE,), without), ((TEN_ASARI,), with_ten)):
        table = Table(EVERYTHING, chests=(space,))
        table.stock(0, "red base", "red turret", "red trunk")
        table.gifts(space, *cards)
        table.money(0, 2)
        assert table.offers(area) == offered


# R21: a wish never names the House of the Bottle Genie.


def test_r21_a_wish_never_names_the_house_of_the_bottle_genie():
    table = Table("pro+genie")
    table.money(0, 60)
    table.send("genie 3", "blue")
    assert table.kind == "WISH"
    assert table.offers("genie") == []
    for number in (3, 5, 7):  # its own space and the free ones
        with pytest.raises(IllegalAction):
            table.play(f"wish genie {number}")
    assert table.asari(0) == 57
