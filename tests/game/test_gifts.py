"""Gift cards: when they are laid and taken, and the effect of each."""

from asara_game.events import GiftTaken
from asara_game.vocabulary import GiftCard, GiftKind, SectionKind
from tests.game.table import EVERYTHING, Table, told

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
