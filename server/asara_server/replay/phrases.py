"""Describes events and counts of pieces in words."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from asara_codec.results import SeatForfeited
from asara_game.events import (
    BuildStarted,
    BuyersDispatched,
    BuyersRecruited,
    DisplayFilled,
    Event,
    FinalEvaluated,
    FundsTaken,
    GeniePaid,
    GiftLaid,
    GiftTaken,
    IncomeReceived,
    LitWindowsDrawn,
    LitWindowsKept,
    MoveDeclined,
    MoveLost,
    PatronageTaken,
    PileSearched,
    SectionTaken,
    TowerExtended,
    TowerFounded,
    WindowLit,
    WishMade,
    YearEvaluated,
    YearStarted,
)
from asara_game.vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    GiftCard,
    GiftKind,
    Section,
    SectionKind,
    Space,
    Tower,
)
from asara_server.text import plain_words


def phrase(event: Event | SeatForfeited) -> str:
    """Return an event without its seat, such as `buys a red trunk (-5 Asari)`."""
    return _PHRASES[type(event)](event) + _gains(event.asari, event.prestige)


def _gains(asari: int, prestige: int) -> str:
    parts = [
        f"{amount:+d} {unit}"
        for amount, unit in ((asari, "Asari"), (prestige, "prestige"))
        if amount
    ]
    return f" ({', '.join(parts)})" if parts else ""


def card_words(card: GiftCard) -> str:
    """Return the effect of a gift card."""
    match card.kind:
        case GiftKind.CHOOSE_BUYER:
            return "choose a buyer"
        case GiftKind.ASARI:
            return f"{card.asari} Asari"
        case GiftKind.BUY_SECTION:
            return f"buy a {SectionKind(card.section_kind).name.lower()}"
        case GiftKind.PRESTIGE:
            return f"{card.prestige} prestige"
        case GiftKind.BUY_LIT_WINDOW:
            return f"buy a lit window for {card.asari} Asari"


def buyer_words(counts: Iterable[int]) -> str:
    """Describe five counts by buyer colour, such as `2 blue, 1 green`; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in BuyerColour), counts)


def colour_words(counts: Iterable[int]) -> str:
    """Describe five counts by colour, such as `1 red, 2 white`; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in Colour), counts)


def section_words(counts: Iterable[int]) -> str:
    """Describe 40 counts by section, such as `1 red trunk with gold, 2 white bases`; or `none`."""
    pairs = zip(SECTION_TYPES, counts, strict=True)
    return ", ".join(_sections(count, section) for section, count in pairs if count) or "none"


def _sections(count: int, section: Section) -> str:
    thing = f"{section.colour.name.lower()} {section.kind.name.lower()}"
    return _plural(count, thing) + (" with gold" if section.gold else "")


def _a_section(section: Section) -> str:
    return _sections(1, section).replace("1 ", "a ", 1)


def market_words(sections: Iterable[Section]) -> str:
    """Describe sections of one kind, such as `2 brown, 1 brown with gold`."""
    found = Counter(sections)
    return ", ".join(
        f"{found[section]} {section.colour.name.lower()}{' with gold' if section.gold else ''}"
        for section in SECTION_TYPES
        if found[section]
    )


def place_words(space: Space) -> str:
    """Return the location of a space, such as `the bank (space 12)`."""
    number = "plot" if space.area is Area.BUILDING_CIRCLE else "space"
    name = plain_words(space.area.name).replace("caliphs", "caliph's")
    return f"the {name} ({number} {space.number})"


def _counted(names: Iterable[str], counts: Iterable[int]) -> str:
    pairs = zip(names, counts, strict=True)
    return ", ".join(f"{count} {name}" for name, count in pairs if count) or "none"


def listed_sections(sections: Iterable[Section]) -> str:
    """Describe a list of sections as `section_words` does."""
    found = Counter(sections)
    return section_words(found[section] for section in SECTION_TYPES)


def listed_buyers(buyers: Iterable[BuyerColour]) -> str:
    """Describe a list of buyers, such as `2 blue, 1 green`."""
    found = Counter(buyers)
    return buyer_words(found[colour] for colour in BuyerColour)


def _dispatched(event: BuyersDispatched) -> str:
    if event.colour:
        buyers = f"a {BuyerColour(event.colour).name.lower()} buyer".replace("a o", "an o")
    else:
        buyers = f"{_plural(event.count, 'buyer')} face down"
    return f"dispatches {buyers} to {place_words(event.space)}"


def _gift(event: GiftTaken) -> str:
    effect = "takes the gift" if event.effective else "cannot use the gift"
    return f"{effect}: {card_words(event.card)}"


def _tower(event: TowerFounded) -> str:
    tower: Tower = event.tower
    gold = tower.base_gold + tower.turret_gold
    bearing = f" with {gold} gold" if gold else ""
    return f"founds tower {event.number} ({tower.colour.name.lower()}{bearing})"


def _year_evaluated(event: YearEvaluated) -> str:
    sources = (
        (event.towers, "towers"),
        (event.gold, "gold"),
        (event.lit_windows, "lit windows"),
        (event.patronage, "patronage"),
    )
    return _sources("scores in the yearly evaluation", sources)


def _final_evaluated(event: FinalEvaluated) -> str:
    sources = (
        *(
            (points, colour.name.lower())
            for points, colour in zip(event.colours, Colour, strict=True)
        ),
        (event.highest_tower, "highest tower"),
        (event.most_towers, "most towers"),
        (event.money, "money"),
    )
    return _sources("scores in the final evaluation", sources)


def _sources(title: str, sources: Iterable[tuple[int, str]]) -> str:
    parts = [f"{points} for {name}" for points, name in sources if points]
    return f"{title}: {', '.join(parts) or 'nothing'}"


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


_PHRASES: Final[dict[type, Callable[[Any], str]]] = {
    YearStarted: lambda e: f"year {e.year} begins with {_plural(e.hand_size, 'buyer')} each",
    IncomeReceived: lambda _: "receives income",
    DisplayFilled: lambda e: (
        f"the {e.sections[0].kind.name.lower()} market displays {market_words(e.sections)}"
    ),
    GiftLaid: lambda e: f"a gift is laid on {place_words(e.space)}: {card_words(e.card)}",
    BuyersDispatched: _dispatched,
    GiftTaken: _gift,
    SectionTaken: lambda e: (
        f"buys {_a_section(e.section)}{' from the pile' if e.from_pile else ''}"
    ),
    MoveDeclined: lambda _: "takes nothing",
    MoveLost: lambda _: "cannot pay and loses the move",
    FundsTaken: lambda _: "takes money",
    PileSearched: lambda e: f"searches the {e.kind.name.lower()} pile",
    PatronageTaken: lambda _: "takes the patronage",
    BuyersRecruited: lambda e: f"recruits {_plural(e.count, 'buyer')}",
    LitWindowsDrawn: lambda e: f"draws {_plural(e.count, 'lit window')}",
    LitWindowsKept: lambda e: f"keeps {_plural(e.count, 'lit window')}",
    GeniePaid: lambda _: "pays the genie",
    WishMade: lambda e: f"wishes for {place_words(e.space)}",
    BuildStarted: lambda e: f"builds {_plural(e.count, 'section')}",
    TowerFounded: _tower,
    TowerExtended: lambda e: f"adds {_a_section(e.section)} to tower {e.tower}",
    WindowLit: lambda e: f"lights a window{' with gold' if e.gold else ''} in tower {e.tower}",
    YearEvaluated: _year_evaluated,
    FinalEvaluated: _final_evaluated,
    SeatForfeited: lambda e: f"forfeits ({plain_words(e.termination.name)})",
}
