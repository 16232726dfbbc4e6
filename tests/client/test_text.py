import itertools

import pytest

import asara
from asara_codec.encode import action_message
from asara_game.actions import (
    Action,
    BuildCount,
    ChooseBuyer,
    ChooseSpace,
    Decline,
    ExtendTower,
    FoundTower,
    KeepLitWindows,
    LayBuyers,
    LightWindow,
    PayOffer,
    ReturnLitWindow,
    SearchPile,
    TakeSection,
    Wish,
)
from asara_game.vocabulary import Area, BuyerColour, Colour, Section, SectionKind, Space

BOOLS = (False, True)
SECTIONS = [Section(*fields) for fields in itertools.product(SectionKind, Colour, BOOLS)]
ACTIONS: list[Action] = [
    *(ChooseSpace(Space(area, 12)) for area in Area),
    *(LayBuyers((buyer,), face_down) for buyer in BuyerColour for face_down in BOOLS),
    LayBuyers((BuyerColour.BLUE, BuyerColour.GREEN), True),
    *(TakeSection(section) for section in SECTIONS),
    Decline(),
    BuildCount(3),
    *(FoundTower(*fields) for fields in itertools.product(Colour, BOOLS, BOOLS)),
    *(ExtendTower(2, section) for section in SECTIONS),
    *(LightWindow(1, gold) for gold in BOOLS),
    *(SearchPile(kind) for kind in SectionKind),
    PayOffer(4),
    *(KeepLitWindows((colour,)) for colour in Colour),
    KeepLitWindows((Colour.RED, Colour.BLACK)),
    Wish(Space(Area.BANK, 12)),
    *(ChooseBuyer(buyer) for buyer in BuyerColour),
    *(ReturnLitWindow(colour) for colour in Colour),
]


def test_the_bot_writes_every_action_as_the_referee_does() -> None:
    for action in ACTIONS:
        assert asara.format_action(action_message(action)) == str(action)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (asara.Action(), "no action"),
        (asara.Action(pay_offer=asara.PayOffer(asari=4)), "pay 4"),
    ],
)
def test_messages_that_no_rule_made(action: asara.Action, text: str) -> None:
    assert asara.format_action(action) == text


def test_words_of_a_newer_protocol_read_as_numbers() -> None:
    action = asara.Action.FromString(
        asara.Action(search_pile=asara.SearchPile(kind=99)).SerializeToString()  # type: ignore[arg-type]
    )
    assert asara.format_action(action) == "search 99"
