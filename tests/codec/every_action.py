"""Actions of every kind, with every word of the text form."""

import itertools

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
from asara_game.vocabulary import (
    MIDDLE_KINDS,
    Area,
    BuyerColour,
    Colour,
    Section,
    SectionKind,
    Space,
)

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
SENT = [
    action
    for action in ACTIONS
    if not isinstance(action, ExtendTower) or action.section.kind in MIDDLE_KINDS
]
"""Those that the rules know: a tower is not extended by a base or turret."""
