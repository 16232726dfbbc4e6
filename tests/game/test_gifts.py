"""Gift cards: when they are laid and taken, and the effect of each."""

from asara_game.events import GiftTaken, LitWindowsKept, SectionTaken
from asara_game.view import view
from asara_game.vocabulary import GiftCard, GiftKind, SectionKind
from tests.game.table import EVERYTHING, Table, section, told, tower

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


def test_another_space_of_the_area_takes_no_gift():
    table = with_gifts("asari")
    assert not told(table.send("bank 8", "blue"), GiftTaken)
    assert len(table.public.chests) == 1


def test_choose_a_buyer_shows_the_pile_to_the_player_takes_one_and_shuffles():
    table = with_gifts("buyer")
    table.buyer_pile("orange blue orange green")
    shuffled = table.state.shuffle_counts[4]
    table.send("bank 6", "blue")
    assert [b.name for b in table.private(0).searched_buyers] == [
        "BLUE",
        "GREEN",
        "ORANGE",
        "ORANGE",
    ]
    assert table.private(1).searched_buyers == ()
    assert table.offered() == ["choose blue", "choose green", "choose orange"]
    table.play("choose orange")
    assert table.held(0) == "blue orange"
    assert sorted(table.state.buyer_pile) == [1, 4, 5]
    assert table.state.shuffle_counts[4] == shuffled + 1
    assert table.private(0).searched_buyers == ()


def test_the_chosen_buyer_is_the_players_secret():
    worlds = []
    for choice in ("choose blue", "choose orange"):
        table = with_gifts("buyer")
        table.buyer_pile("orange blue")
        table.send("bank 6", "blue")
        worlds.append((table.play(choice), view(table.state, 1), view(table.state, 2)))
    assert worlds[0] == worlds[1]


def test_buy_a_section_must_be_used_and_buys_from_the_named_markets_display():
    table = with_gifts("trunk")
    table.display("trunk", "red trunk", "white trunk")
    table.send("bank 6", "blue")
    assert table.offered() == ["take red trunk", "take white trunk"]
    events = table.play("take red trunk")
    assert events[0] == SectionTaken(0, section("red trunk"), False, -5)
    assert table.asari(0) == 20 - 5 + 6


def test_a_section_bought_through_a_gift_leaves_the_markets_own_move():
    table = with_gifts("base", space="base-market 1")
    table.display("base", "red base", "white base", "green base")
    events = table.send("base-market 1", "blue")
    events += table.play("take red base", "take white base")
    assert [e.section for e in told(events, SectionTaken)] == [
        section("red base"),
        section("white base"),
    ]
    assert table.asari(0) == 20 - 5 - 8


def test_two_prestige_at_once():
    table = with_gifts("prestige")
    events = table.send("bank 6", "blue")
    assert told(events, GiftTaken) == [GiftTaken(0, GIFT["prestige"], True, 0, 2)]
    assert table.prestige(0) == 2


def test_buy_a_lit_window_looks_through_the_stack_takes_one_and_shuffles():
    table = with_gifts("lit")
    table.lit_stack("white red white")
    table.send("bank 6", "blue")
    assert [c.name for c in table.private(0).searched_lit_windows] == ["RED", "WHITE", "WHITE"]
    assert table.offered() == ["keep red", "keep white"]
    events = table.play("keep white")
    assert events[0] == LitWindowsKept(0, 1, -4)
    assert table.asari(0) == 20 - 4 + 6
    assert table.held_lit(0) == "white"
    assert sorted(table.state.lit_stack) == [3, 5]


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


def test_a_lit_window_bought_through_a_gift_can_be_built_on_a_later_turn():
    table = with_gifts("lit")
    table.towers(0, tower("white", 3, plain_windows=1))
    table.lit_stack("white")
    table.hand(1, "")
    table.hand(2, "")
    assert table.offers("circle") == []
    table.send("bank 6", "blue")
    assert table.offers("circle") == [1]


def test_a_card_that_asks_has_its_say_before_the_next_card():
    table = with_gifts("buyer", "asari", "base")
    table.display("base", "red base", "white base")
    events = table.send("bank 6", "blue")
    assert [gift.card for gift in told(events, GiftTaken)] == [GIFT["buyer"]]
    events = table.play(table.offered()[0])
    assert [gift.card for gift in told(events, GiftTaken)] == [GIFT["asari"], GIFT["base"]]
    assert table.kind == "GIFT_SECTION"
