"""The legal actions, worked out a second time: slowly, from the clauses, without tables.

It reads a seat's view and the edition, as a careful player would, and never the engine's own lists.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

from asara_game.edition import Edition
from asara_game.view import View
from asara_game.vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftKind,
    RuleSet,
    Section,
    SectionKind,
    Space,
)

_ALIKE = (*(Area(kind) for kind in SectionKind), Area.CALIPHS_PATRONAGE)
_WORDS = {
    Area.BUILDING_CIRCLE: "circle",
    Area.HOUSE_OF_SPIES: "spies",
    Area.CALIPHS_PATRONAGE: "patronage",
    Area.HOUSE_OF_LIGHTED_WINDOWS: "lit-windows",
    Area.HOUSE_OF_THE_BOTTLE_GENIE: "genie",
}


def word(name: object) -> str:
    return str(name).split(".")[-1].lower().replace("_", "-")


def space_text(space: Space) -> str:
    return f"{_WORDS.get(space.area, word(space.area.name))} {space.number}"


def section_text(section: Section) -> str:
    return f"{word(section.colour.name)} {word(section.kind.name)}{' gold' * section.gold}"


def board(seen: View) -> Iterator[Space]:
    """All spaces, area by area."""
    edition, rule_sets = seen.rules.edition, seen.rules.rule_sets
    for kind in SectionKind:
        yield from (Space(Area(kind), n + 1) for n in range(edition.market_spaces))
    yield from (Space(Area.BUILDING_CIRCLE, n) for n in edition.plots)
    yield from (Space(Area.BANK, n) for n in edition.bank)
    yield Space(Area.COLOURED_BUILDING, 1)
    yield from (Space(Area.HOUSE_OF_SPIES, n) for n in edition.spies)
    yield from (Space(Area.CALIPHS_PATRONAGE, n + 1) for n in range(edition.patronage_spaces))
    if RuleSet.PROFESSIONAL in rule_sets:
        yield from (Space(Area.TENT, n) for n in edition.tent)
        for n in range(edition.lit_spaces):
            yield Space(Area.HOUSE_OF_LIGHTED_WINDOWS, n + 1)
    if RuleSet.GENIE in rule_sets:
        yield from (Space(Area.HOUSE_OF_THE_BOTTLE_GENIE, n) for n in edition.genie)


def legal(seen: View) -> list[str] | None:
    """The texts of all legal actions; None for the steps of a build, which have their own test."""
    assert seen.decision is not None
    found = _BY_KIND[seen.decision.kind](seen)
    return None if found is None else list(found)


def _spaces(seen: View) -> Iterator[str]:
    gifts = dict(seen.public.chests)
    offered: set[object] = set()
    for space in board(seen):
        likeness: object = space
        if space.area in (*_ALIKE, Area.HOUSE_OF_LIGHTED_WINDOWS) and space not in gifts:
            likeness = space.area
        open_to = _is_empty(seen, space) and _has_buyers(seen, space) and _can_move(seen, space)
        if open_to and likeness not in offered:
            offered.add(likeness)
            yield f"dispatch {space_text(space)}"


def _is_empty(seen: View, space: Space) -> bool:
    taken = any(mark.space == space for mark in seen.public.dispatched[space.area])
    return space.area == Area.COLOURED_BUILDING or not taken


def _has_buyers(seen: View, space: Space) -> bool:
    return any(True for _ in _lays_at(seen, space))


def _lays_at(seen: View, space: Space) -> Iterator[str]:
    counts = zip(BuyerColour, seen.private.hand, strict=True)
    hand = [colour for colour, count in counts for _ in range(count)]
    required = seen.public.area_colours[space.area]
    tail = " face-down" if space.area == Area.COLOURED_BUILDING else ""
    for colour in sorted(set(hand)):
        if required in (0, colour):
            yield f"lay {word(colour.name)}{tail}"
    if required:
        for a, b in sorted(set(combinations(hand, 2))):
            yield f"lay {word(a.name)} {word(b.name)} face-down"


def _can_move(seen: View, space: Space, *, wished: bool = False) -> bool:
    asari = seen.private.asari
    if not wished:  # first the cards, then the move
        cards = dict(seen.public.chests).get(space, ())
        asari += sum(card.asari for card in cards if card.kind == GiftKind.ASARI)
    edition = seen.rules.edition
    match space.area:
        case Area.BUILDING_CIRCLE:
            return asari >= space.number and bool(_counts_at(seen, space, wished=wished))
        case Area.HOUSE_OF_SPIES:
            return asari >= space.number and any(seen.public.pile_sizes)
        case Area.TENT:
            return asari >= space.number and seen.public.buyer_pile_size > 0
        case Area.HOUSE_OF_THE_BOTTLE_GENIE:
            return asari >= space.number
        case Area.HOUSE_OF_LIGHTED_WINDOWS:
            dear = min(offer.asari for offer in edition.lit_offers)
            return asari >= dear and seen.public.lit_stack_size > 0
    return True


def _counts_at(seen: View, plot: Space, *, wished: bool) -> list[int]:
    can = _numbers(seen)
    allowed = [plot.number]
    if not wished:
        for lower in sorted((n for n in seen.rules.edition.plots if n < plot.number), reverse=True):
            if _is_empty(seen, Space(Area.BUILDING_CIRCLE, lower)):
                break
            allowed.append(lower)
    return sorted(n for n in allowed if n in can)


def _numbers(seen: View) -> set[int]:
    """Numbers of sections that the seat can build, colour by colour."""
    own = seen.private
    towers = seen.public.seats[own.seat].towers
    held = {s: n for s, n in zip(SECTION_TYPES, own.sections, strict=True) if n}
    total = {0}
    for colour in Colour:
        by_kind = {
            kind: sum(n for s, n in held.items() if (s.kind, s.colour) == (kind, colour))
            for kind in SectionKind
        }
        middles = by_kind[SectionKind.TRUNK] + by_kind[SectionKind.WINDOW]
        mine = [t for t in towers if t.colour == colour]
        dark = sum(t.plain_windows + t.gold_windows - t.lit_plain - t.lit_gold for t in mine)
        lights = min(own.lit_windows[colour - 1], dark)
        can = set()
        for new in range(min(by_kind[SectionKind.BASE], by_kind[SectionKind.TURRET]) + 1):
            for middle in range(middles + 1 if new or mine else 1):
                can |= {2 * new + middle + light for light in range(lights + 1)}
        total = {a + b for a in total for b in can}
    return total


def _payable(sections: Iterable[Section], asari: int, edition: Edition) -> Iterator[str]:
    for section in sorted(set(sections)):
        if edition.prices[section.colour - 1] <= asari:
            yield f"take {section_text(section)}"


def _displayed(seen: View, kind: SectionKind) -> list[Section]:
    types = [section for section in SECTION_TYPES if section.kind == kind]
    shown = zip(types, seen.public.displays[kind - 1], strict=True)
    return [section for section, count in shown if count]


def _sections(seen: View) -> Iterator[str]:
    kind = SectionKind(_space(seen).area)
    yield from _payable(_displayed(seen, kind), seen.private.asari, seen.rules.edition)
    yield "decline"


def _space(seen: View) -> Space:
    assert seen.decision is not None
    assert seen.decision.space is not None
    return seen.decision.space


def _pile_sections(seen: View) -> Iterator[str]:
    yield from _payable(seen.private.searched_sections, seen.private.asari, seen.rules.edition)
    yield "decline"


def _piles(seen: View) -> Iterator[str]:
    for kind, size in zip(SectionKind, seen.public.pile_sizes, strict=True):
        if size:
            yield f"search {word(kind.name)}"


def _offers(seen: View) -> Iterator[str]:
    for offer in seen.rules.edition.lit_offers:
        if offer.asari <= seen.private.asari:
            yield f"pay {offer.asari}"


def _keeps(seen: View) -> Iterator[str]:
    assert seen.decision is not None
    drawn = sorted(seen.private.searched_lit_windows)
    for chosen in sorted(set(combinations(drawn, seen.decision.lit_windows_to_keep))):
        yield f"keep {' '.join(word(colour.name) for colour in chosen)}"


def _returns(seen: View) -> Iterator[str]:
    """Each colour once, in the order drawn."""
    offered: list[Colour] = []
    for colour in seen.private.searched_lit_windows:
        if colour not in offered:
            offered.append(colour)
            yield f"return {word(colour.name)}"


def _wishes(seen: View) -> Iterator[str]:
    offered = set()
    for space in board(seen):
        if space.area in (Area.CALIPHS_PATRONAGE, Area.HOUSE_OF_THE_BOTTLE_GENIE):
            continue
        alike = space.area in _ALIKE or space.area == Area.HOUSE_OF_LIGHTED_WINDOWS
        likeness: object = space.area if alike else space
        if _can_move(seen, space, wished=True) and likeness not in offered:
            offered.add(likeness)
            yield f"wish {space_text(space)}"
    yield "decline"


def _gift_sections(seen: View) -> Iterator[str]:
    assert seen.decision is not None
    card = seen.decision.gifts[0]
    assert card.kind == GiftKind.BUY_SECTION
    shown = _displayed(seen, SectionKind(card.section_kind))
    yield from _payable(shown, seen.private.asari, seen.rules.edition)


def _gift_windows(seen: View) -> Iterator[str]:
    for colour in sorted(set(seen.private.searched_lit_windows)):
        yield f"keep {word(colour.name)}"


def _gift_buyers(seen: View) -> Iterator[str]:
    for colour in sorted(set(seen.private.searched_buyers)):
        yield f"choose {word(colour.name)}"


_BY_KIND = {
    DecisionKind.SPACE: _spaces,
    DecisionKind.BUYERS: lambda seen: _lays_at(seen, _space(seen)),
    DecisionKind.SECTION: _sections,
    DecisionKind.BUILD_COUNT: lambda seen: (
        f"build {n}" for n in _counts_at(seen, _space(seen), wished=False)
    ),
    DecisionKind.BUILD: lambda _: None,
    DecisionKind.PILE: _piles,
    DecisionKind.PILE_SECTION: _pile_sections,
    DecisionKind.LIT_OFFER: _offers,
    DecisionKind.LIT_KEEP: _keeps,
    DecisionKind.LIT_RETURN: _returns,
    DecisionKind.WISH: _wishes,
    DecisionKind.GIFT_BUYER: _gift_buyers,
    DecisionKind.GIFT_SECTION: _gift_sections,
    DecisionKind.GIFT_LIT_WINDOW: _gift_windows,
}
