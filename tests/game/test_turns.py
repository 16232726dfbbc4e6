"""Turns and years: their order, dispatching, and how a year begins and ends."""

from collections import Counter

import pytest

from asara_game.events import (
    BuyersDispatched,
    DisplayFilled,
    GiftLaid,
    IncomeReceived,
    PatronageTaken,
    YearEvaluated,
    YearStarted,
)
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets, parse_rule_sets
from asara_game.state import Dispatched
from asara_game.view import view
from asara_game.vocabulary import Area, GiftCard, GiftKind, RuleSet
from tests.game.table import EVERYTHING, Table, told, tower

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


@pytest.mark.parametrize(("seats", "size"), [(2, 9), (3, 8), (4, 7)])
def test_hands_by_number_of_players(seats, size):
    table = Table(seats=seats)
    assert [sum(table.private(seat).hand) for seat in range(seats)] == [size] * seats
    assert table.public.buyer_pile_size == 45 - seats * size


def test_starting_money_rises_clockwise_from_the_starting_player():
    for seats in (2, 3, 4):
        table = Table(seats=seats)
        assert [table.asari(seat) for seat in range(seats)] == [20, 21, 22, 23][:seats]
        income = told(table.opening, IncomeReceived)
        assert [(event.seat, event.asari) for event in income] == list(
            enumerate([20, 21, 22, 23][:seats])
        )


def test_seat_0_holds_the_patronage_and_starts():
    table = Table(seats=3)
    assert table.public.patronage_seat == 0
    assert table.asked == 0
    assert table.opening[0] == YearStarted(0, 1, 8)


def test_every_display_shows_nine_sections_of_its_kind():
    table = Table()
    assert [sum(display) for display in table.public.displays] == [9] * 4
    assert table.public.pile_sizes == (11, 11, 16, 11)
    filled = told(table.opening, DisplayFilled)
    assert [{s.kind for s in event.sections} for event in filled] == [{1}, {2}, {3}, {4}]
    for market, event in enumerate(filled):
        shown = Counter((s.colour - 1) * 2 + s.gold for s in event.sections)
        assert table.public.displays[market] == tuple(shown[i] for i in range(10))


@pytest.mark.parametrize(
    ("rule_sets", "lit", "deck"),
    [("basic", 0, 0), ("pro", 15, 0), ("basic+gifts", 0, 15), (EVERYTHING, 15, 18)],
)
def test_what_the_rule_sets_add(rule_sets, lit, deck):
    table = Table(rule_sets)
    areas = {info.area for info in table.rules.spaces}
    assert (Area.TENT in areas) is (Area.HOUSE_OF_LIGHTED_WINDOWS in areas) is (lit > 0)
    assert (Area.HOUSE_OF_THE_BOTTLE_GENIE in areas) is ("genie" in rule_sets)
    assert table.public.lit_stack_size == lit
    assert table.public.gift_deck_size == deck
    assert (
        len(told(table.opening, GiftLaid))
        == len(table.public.chests)
        == {15: 5, 18: 6}.get(deck, 0)
    )


# Dispatching.


def test_the_first_buyer_in_an_area_may_have_any_colour_and_sets_the_areas():
    table = Table(seats=3)
    table.hand(0, "blue purple orange")
    table.play("dispatch window-market 1")
    assert table.offered() == ["lay blue", "lay purple", "lay orange"]
    table.play("lay purple", "decline")
    assert table.area_colour(Area.WINDOW_MARKET) == 3
    table.hand(1, "blue purple orange")
    table.play("dispatch window-market 2")
    assert table.offered()[0] == "lay purple"
    assert "lay blue" not in table.offered()
    # The colour of one area binds no other.
    table = Table()
    table.occupy("window-market 1", colour="purple")
    table.hand(0, "blue orange")
    table.play("dispatch trunk-market 1")
    assert table.offered() == ["lay blue", "lay orange"]


def test_a_pair_may_hold_the_required_colour_and_two_of_a_kind():
    table = Table()
    table.occupy("bank 6", colour="green")
    table.hand(0, "green green blue")
    table.play("dispatch bank 8")
    pairs = [text for text in table.offered() if text.endswith("face-down")]
    assert pairs == ["lay blue green face-down", "lay green green face-down"]


def test_a_face_down_pair_lies_on_one_space_and_leaves_the_areas_colour():
    table = Table()
    table.occupy("bank 6", colour="green")
    table.hand(0, "blue orange")
    events = table.send("bank 12", "blue orange face-down")
    assert told(events, BuyersDispatched) == [
        BuyersDispatched(0, table.info("bank 12").space, 0, 2)
    ]
    assert table.lying("bank 12") == [Dispatched(table.info("bank 12").space, 0, 0)]
    assert table.area_colour(Area.BANK) == 4
    assert table.public.seats[0].hand_size == 0


def test_a_pair_keeps_its_colours_from_everybody_but_its_player():
    worlds = []
    for pair in ("blue orange", "purple purple"):
        table = Table(seats=3)
        table.occupy("bank 6", colour="green")
        table.hand(0, f"{pair} yellow")
        events = table.send("bank 12", f"{pair} face-down")
        assert [b.name.lower() for b in table.private(0).face_down[0][1]] == pair.split()
        worlds.append((events, [view(table.state, seat) for seat in (1, 2)]))
    assert worlds[0] == worlds[1]


def test_a_buyer_on_the_coloured_building_keeps_its_colour_from_all_others():
    worlds = []
    for buyer in ("blue", "orange"):
        table = Table()
        table.hand(0, f"{buyer} yellow")
        events = table.send("coloured-building 1", f"{buyer} face-down")
        worlds.append((events, view(table.state, 1)))
    assert worlds[0] == worlds[1]


def test_a_single_buyer_must_have_the_areas_colour():
    table = Table()
    table.hand(0, "orange")
    table.occupy("bank 6", colour="green")
    table.occupy("base-market 1", colour="orange")
    assert table.offers("bank") == []
    assert table.offers("base-market") == [2]
    assert table.offers("trunk-market") == [1]


def test_a_space_takes_one_dispatch():
    table = Table()
    table.occupy("bank 6", "bank 10", "patronage 1", colour="blue")
    assert table.offers("bank") == [8, 12]
    assert table.offers("patronage") == []


def test_market_spaces_that_differ_in_nothing_are_offered_once():
    table = Table("basic+gifts")
    table.no_gifts()
    assert table.offers("trunk-market") == [1]
    table.gifts("trunk-market 1", GiftCard(GiftKind.PRESTIGE, prestige=2))
    assert table.offers("trunk-market") == [1, 2]
    table.occupy("trunk-market 2", "trunk-market 3", colour="blue")
    assert table.offers("trunk-market") == [1, 4]
    table.occupy("trunk-market 4", colour="blue")
    assert table.offers("trunk-market") == [1]


# Turns.


def test_turns_go_clockwise():
    table = Table(seats=4)
    order = []
    for _ in range(9):
        order.append(table.asked)
        table.play(
            "dispatch coloured-building 1", f"lay {table.held(table.asked).split()[0]} face-down"
        )
    assert order == [0, 1, 2, 3, 0, 1, 2, 3, 0]


def test_players_without_buyers_are_skipped():
    table = Table(seats=3)
    table.hand(0, "blue green orange")
    table.hand(1, "")
    table.hand(2, "blue green")
    order = []
    while table.state.year == 1:
        order.append(table.asked)
        events = table.send(
            "coloured-building 1", f"{table.held(table.asked).split()[0]} face-down"
        )
        dispatched = [event.seat for event in told(events, BuyersDispatched)]
        assert dispatched[0] == order[-1]
    assert order == [0, 2, 0, 2, 0]


def test_a_lone_player_goes_on_until_his_hand_is_empty():
    table = Table()
    table.hand(0, "blue green orange")
    table.hand(1, "")
    table.send("bank 12", "blue")
    assert table.asked == 0


def test_a_decision_with_one_action_is_not_asked_but_told():
    table = Table()
    table.hand(0, "blue")
    table.hand(1, "green purple")
    events = table.play("dispatch bank 12")
    assert [type(event).__name__ for event in events] == ["BuyersDispatched", "FundsTaken"]
    assert table.asked == 1


def test_a_turn_that_is_forced_altogether_is_told():
    table = Table()
    table.hand(0, "blue")
    table.hand(1, "orange")
    for area in ("base", "trunk", "window", "turret"):
        table.occupy(f"{area}-market 1", colour="blue")
    table.occupy("patronage 1", "bank 6", colour="blue")
    table.money(1, 0)
    events = table.send("bank 12", "blue")
    assert [event.seat for event in told(events, BuyersDispatched)] == [0, 1]
    assert table.state.year == 2


# The end of a year, and the next.


def test_a_year_ends_when_nobody_holds_a_buyer_and_is_evaluated():
    table = Table()
    table.towers(0, tower("red"))
    events = table.play_out(until=2)
    assert [(e.seat, e.prestige) for e in told(events, YearEvaluated)] == [(0, 2), (1, 0)]
    assert [e.year for e in told(events, YearStarted)] == [2]


def test_a_new_year_clears_the_board_and_deals_all_buyers_anew():
    table = Table(EVERYTHING, 3)
    table.play_out(until=2)
    assert not any(table.public.dispatched)
    assert not any(table.public.area_colours)
    assert [seat.hand_size for seat in table.public.seats] == [8, 8, 8]
    assert table.public.buyer_pile_size == 45 - 24
    assert all(table.private(seat).face_down == () for seat in range(3))


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


def test_displays_are_not_refilled_within_a_year():
    table = Table()
    table.send("base-market 1", "blue")
    table.play(table.offered()[0])
    assert sum(table.public.displays[0]) == 8


def test_the_patronage_pays_one_prestige_and_starts_the_next_year():
    table = Table(seats=3)
    table.hand(0, "")
    table.hand(1, "blue")
    table.hand(2, "")
    table.turn(1)
    events = table.send("patronage 1", "blue")
    assert told(events, PatronageTaken) == [PatronageTaken(1)]
    assert [e.patronage for e in told(events, YearEvaluated)] == [0, 1, 0]
    assert told(events, YearStarted) == [YearStarted(1, 2, 8)]
    assert table.asked == 1


def test_who_took_the_patronage_keeps_it_until_another_takes_it():
    table = Table()
    table.play_out(until=3)
    assert table.public.patronage_seat == 0
    assert table.prestige(0) == 2


def test_four_years_and_no_more():
    table = Table()
    years = [event.year for event in told(table.play_out(), YearStarted)]
    assert years == [2, 3, 4]
    assert table.asked == -1


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
