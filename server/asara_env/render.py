"""What a seat may know, as complete text; equal views have equal texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from asara_game import (
    Decision,
    PrivateView,
    PublicView,
    State,
    View,
    format_section,
    format_space,
    public_view,
)
from asara_game.vocabulary import (
    MARKET_TYPES,
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    SectionKind,
    Tower,
)

__all__ = [
    "card_text",
    "decision_text",
    "private_text",
    "public_text",
    "render_table",
    "tower_text",
    "view_text",
    "word",
]


def render_table(state: State) -> str:
    """Return the public part of a state as text, with the deciding seat."""
    return f"{_turn(state)}\n{public_text(public_view(state))}"


def view_text(view: View) -> str:
    """Return everything that a view holds except the rules, one item per line."""
    return "\n".join((public_text(view.public), private_text(view)))


def _turn(state: State) -> str:
    if state.seat < 0:
        return "the match is over"
    resting = state.kind in (DecisionKind.SPACE, DecisionKind.BUYERS)
    kind = "dispatch" if resting else word(state.kind)
    return f"seat {state.seat} decides: {kind}"


def public_text(public: PublicView) -> str:
    """Return the public information as text."""
    return "\n".join(_public_lines(public))


def private_text(view: View) -> str:
    """Return what only the view's seat knows, with the open decision."""
    return "\n".join(_private_lines(view))


def _public_lines(public: PublicView) -> Iterator[str]:
    yield f"year {public.year}, turn of seat {public.turn_seat}"
    for seat, facts in enumerate(public.seats):
        patronage = ", patronage" if seat == public.patronage_seat else ""
        yield (
            f"seat {seat}: prestige {facts.prestige}, buyers {facts.hand_size}, "
            f"lit windows {facts.lit_windows}{patronage}"
        )
        for number, tower in enumerate(facts.towers, 1):
            yield f"  tower {number}: {tower_text(tower)}"
    for types, counts, pile in zip(MARKET_TYPES, public.displays, public.pile_sizes, strict=True):
        kind = word(types[0].kind)
        yield f"{kind} display: {_counted(types, counts)}; pile {pile}"
    yield (
        f"buyers {public.buyer_pile_size}, lit windows {public.lit_stack_size}, "
        f"gift cards {public.gift_deck_size}"
    )
    for area, (colour, marks) in enumerate(
        zip(public.area_colours, public.dispatched, strict=True)
    ):
        if marks:
            shown = f" ({word(BuyerColour(colour))})" if colour else ""
            sent = [
                f"{mark.space.number} seat {mark.seat}{'' if mark.colour else ' face-down'}"
                for mark in marks
            ]
            yield f"{word(Area(area))}{shown}: {', '.join(sent)}"
    for space, cards in public.chests:
        yield f"chest on {format_space(space)}: {_cards(cards)}"


def _private_lines(view: View) -> Iterator[str]:
    own: PrivateView = view.private
    yield f"own seat {own.seat}: Asari {own.asari}, hand {_counted(BuyerColour, own.hand)}"
    yield f"sections: {_counted(SECTION_TYPES, own.sections)}"
    yield f"own lit windows: {_counted(Colour, own.lit_windows)}"
    for space, buyers in own.face_down:
        yield f"own buyers on {format_space(space)}: {_words(buyers)}"
    for above, colour in own.known_lit_windows:
        yield f"lit window under {above} others: {word(colour)}"
    if own.searched_sections:
        yield f"searched: {', '.join(map(format_section, own.searched_sections))}"
    if own.searched_buyers:
        yield f"searched: {_words(own.searched_buyers)}"
    if own.searched_lit_windows:
        yield f"lit windows: {_words(own.searched_lit_windows)}"
    if view.decision is not None:
        yield decision_text(view.decision)
    if view.legal:
        yield f"legal: {', '.join(map(str, view.legal))}"


def decision_text(asked: Decision) -> str:
    """Describe an open decision and its progress so far."""
    parts = [f"decision {asked.kind.name} of seat {asked.seat}"]
    if asked.space is not None:
        parts.append(f"on {format_space(asked.space)}")
    if asked.sections_to_build:
        parts.append(f"{asked.sections_to_build} sections to build")
    if asked.build_steps:
        parts.append(f"after {', '.join(map(str, asked.build_steps))}")
    if asked.gifts:
        parts.append(f"gift cards {_cards(asked.gifts)}")
    if asked.lit_windows_to_keep:
        parts.append(f"{asked.lit_windows_to_keep} lit windows to keep")
    return "; ".join(parts)


def word(member: IntEnum) -> str:
    """Return the name of an enum member in its text form, such as `lit-window`."""
    return member.name.lower().replace("_", "-")


def _words(members: Iterable[IntEnum]) -> str:
    return " ".join(map(word, members))


def _counted(members: Iterable[Section | IntEnum], counts: Sequence[int]) -> str:
    shown = [
        f"{count} {format_section(member) if isinstance(member, Section) else word(member)}"
        for member, count in zip(members, counts, strict=True)
        if count
    ]
    return ", ".join(shown) or "none"


def tower_text(tower: Tower) -> str:
    """Describe a tower by the counts that are not 0."""
    counts = [
        f"{int(count)} {name.replace('_', '-')}"
        for name, count in zip(tower._fields[1:], tower[1:], strict=True)
        if count
    ]
    return ", ".join((word(tower.colour), *counts))


def _cards(cards: Iterable[GiftCard]) -> str:
    return ", ".join(map(card_text, cards))


def card_text(card: GiftCard) -> str:
    """Describe a gift card by what it brings."""
    words = [word(card.kind)]
    if card.section_kind:
        words.append(word(SectionKind(card.section_kind)))
    words += [str(number) for number in (card.asari, card.prestige) if number]
    return " ".join(words)
