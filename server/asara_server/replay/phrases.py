"""Events and counts of pieces in words."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from asara_codec.results import SeatForfeited
from asara_game.actions import format_section, format_space
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
    BuyerColour,
    Colour,
    GiftCard,
    GiftKind,
    Section,
    SectionKind,
    Tower,
)
from asara_server.text import plain_words


def phrase(event: Event | SeatForfeited) -> str:
    """Return an event without its seat: `buys red trunk (-5 Asari)`."""
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
    """Return `2 blue, 1 green` from five counts by buyer colour; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in BuyerColour), counts)


def colour_words(counts: Iterable[int]) -> str:
    """Return `1 red, 2 white` from five counts by colour; `none` if all are 0."""
    return _counted((colour.name.lower() for colour in Colour), counts)


def section_words(counts: Iterable[int]) -> str:
    """Return `1 red trunk gold, 2 white base` from 40 counts by section; `none` if all are 0."""
    return _counted(map(format_section, SECTION_TYPES), counts)


def _counted(names: Iterable[str], counts: Iterable[int]) -> str:
    pairs = zip(names, counts, strict=True)
    return ", ".join(f"{count} {name}" for name, count in pairs if count) or "none"


def listed_sections(sections: Iterable[Section]) -> str:
    """Return the same from a list of sections."""
    found = Counter(sections)
    return section_words(found[section] for section in SECTION_TYPES)


def listed_buyers(buyers: Iterable[BuyerColour]) -> str:
    """Return `2 blue, 1 green` from a list of buyers."""
    found = Counter(buyers)
    return buyer_words(found[colour] for colour in BuyerColour)


def _dispatched(event: BuyersDispatched) -> str:
    if event.colour:
        return f"{format_space(event.space)} with {BuyerColour(event.colour).name.lower()}"
    return f"{format_space(event.space)} with {_plural(event.count, 'buyer')} face down"


def _gift(event: GiftTaken) -> str:
    effect = "takes the gift" if event.effective else "cannot use the gift"
    return f"{effect} '{card_words(event.card)}'"


def _tower(event: TowerFounded) -> str:
    tower: Tower = event.tower
    gold = tower.base_gold + tower.turret_gold
    bearing = f" with {gold} gold" if gold else ""
    return f"founds tower {event.number}, {tower.colour.name.lower()}{bearing}"


def _year_evaluated(event: YearEvaluated) -> str:
    sources = (
        (event.towers, "towers"),
        (event.gold, "gold"),
        (event.lit_windows, "lit windows"),
        (event.patronage, "patronage"),
    )
    return _sources("year's evaluation", sources)


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
    return _sources("final evaluation", sources)


def _sources(title: str, sources: Iterable[tuple[int, str]]) -> str:
    parts = [f"{name} {points}" for points, name in sources if points]
    return f"{title}: {', '.join(parts) or 'nothing'}"


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


_PHRASES: Final[dict[type, Callable[[Any], str]]] = {
    YearStarted: lambda e: f"year {e.year} begins with {_plural(e.hand_size, 'buyer')} each",
    IncomeReceived: lambda _: "receives income",
    DisplayFilled: lambda e: (
        f"the {e.sections[0].kind.name.lower()} market displays {listed_sections(e.sections)}"
    ),
    GiftLaid: lambda e: f"gift '{card_words(e.card)}' on {format_space(e.space)}",
    BuyersDispatched: _dispatched,
    GiftTaken: _gift,
    SectionTaken: lambda e: (
        f"buys {format_section(e.section)}{' out of the pile' if e.from_pile else ''}"
    ),
    MoveDeclined: lambda _: "declines",
    MoveLost: lambda _: "cannot pay any more and loses the move",
    FundsTaken: lambda _: "takes money",
    PileSearched: lambda e: f"searches the {e.kind.name.lower()} pile",
    PatronageTaken: lambda _: "takes the patronage",
    BuyersRecruited: lambda e: f"recruits {_plural(e.count, 'buyer')}",
    LitWindowsDrawn: lambda e: f"draws {_plural(e.count, 'lit window')}",
    LitWindowsKept: lambda e: f"keeps {_plural(e.count, 'lit window')}",
    GeniePaid: lambda _: "pays the genie",
    WishMade: lambda e: f"wishes for {format_space(e.space)}",
    BuildStarted: lambda e: f"builds {_plural(e.count, 'section')}",
    TowerFounded: _tower,
    TowerExtended: lambda e: f"tower {e.tower} gets {format_section(e.section)}",
    WindowLit: lambda e: f"lights a {'gold ' if e.gold else ''}window of tower {e.tower}",
    YearEvaluated: _year_evaluated,
    FinalEvaluated: _final_evaluated,
    SeatForfeited: lambda e: f"forfeits ({plain_words(e.termination.name)})",
}
