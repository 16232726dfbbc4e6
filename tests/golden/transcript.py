"""Matches written out: every event, decision and answer, and every seat's view at some decisions.

The text depends only on the rules engine, so its changes are those of the engine.
"""

import random
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from asara_game.actions import format_section, format_space
from asara_game.deal import Deal
from asara_game.engine import apply, new_match, outcome
from asara_game.events import Event
from asara_game.state import Dispatched, State
from asara_game.view import PrivateView, PublicView, public_view, view
from asara_game.vocabulary import (
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    SectionKind,
    Space,
    Tower,
)
from tests.game.table import rules


class Script(NamedTuple):
    """One match to be written out."""

    name: str
    rule_sets: str
    seats: int
    seed: int
    years: int
    """Number of years that are written."""


SCRIPTS = (
    Script("basic-2", "basic", 2, 102, 4),
    Script("everything-3", "pro+gifts+genie", 3, 58, 4),
    Script("pro-gifts-4", "pro+gifts", 4, 72, 2),
)


def lines(script: Script) -> Iterator[str]:
    """The transcript of a match."""
    dice = random.Random(script.seed)
    secret = dice.randbytes(32)
    yield f"{script.rule_sets}, {script.seats} seats, secret {secret.hex()}"
    state, events = new_match(rules(script.rule_sets, script.seats), Deal(secret))
    yield from map(event_line, events)
    seen: set[object] = set()
    number = 0
    while state.seat >= 0 and state.year <= script.years:
        number += 1
        occasion = state.kind
        if occasion not in seen or state.year not in seen:
            seen |= {occasion, state.year, DecisionKind.BUYERS}  # no seat sees more than before
            yield from view_lines(state)
        yield f"{number}. seat {state.seat} {asked(state)}"
        yield f"   of {listed(state)}"
        wanted = [action for action in state.legal if str(action) != "decline"]
        action = dice.choice(wanted if dice.random() < 0.9 else list(state.legal))
        yield f"   -> {action}"
        yield from map(event_line, apply(state, action))
    yield from view_lines(state)
    end = outcome(state)
    if end is not None:
        yield f"over: prestige {list(end.prestige)}, winners {list(end.winners)}"


def asked(state: State) -> str:
    """The decision, with its progress so far."""
    found = view(state, state.seat).decision
    assert found is not None
    parts = [found.kind.name]
    if found.space:
        parts.append(f"at {text(found.space)}")
    if found.sections_to_build:
        parts.append(f"{found.sections_to_build} to build")
    if found.build_steps:
        parts.append(f"after {', '.join(map(str, found.build_steps))}")
    if found.gifts:
        parts.append(f"gifts {text(found.gifts)}")
    if found.lit_windows_to_keep:
        parts.append(f"{found.lit_windows_to_keep} to keep")
    return " ".join(parts)


def listed(state: State) -> str:
    """The legal actions; a verb that they share is written once."""
    actions = [str(action) for action in state.legal]
    verb = actions[0].split()[0]
    if all(action.startswith(f"{verb} ") for action in actions):
        actions = [action.removeprefix(f"{verb} ") for action in actions]
        return f"{verb}: {' | '.join(actions)}"
    return " | ".join(actions)


def event_line(event: Event) -> str:
    """`   ! 0 FundsTaken space=bank 12 asari=12`."""
    fields = event._asdict()
    seat = fields.pop("seat")
    shown = [
        f"{name}={text(value)}"
        for name, value in fields.items()
        if value or name not in ("asari", "prestige")
    ]
    return f"   ! {seat} {type(event).__name__} {' '.join(shown)}".rstrip()


def text(value: Any) -> str:
    """A value of the game in a few words."""
    if isinstance(value, Space):
        return format_space(value)
    if isinstance(value, Section):
        return format_section(value)
    if isinstance(value, Tower):
        return tower_text(value)
    if isinstance(value, GiftCard):
        detail = text(value.section_kind) if value.section_kind else value.asari or value.prestige
        return f"{text(value.kind)}:{detail}" if detail else text(value.kind)
    if isinstance(value, Dispatched):
        face = text(value.colour) if value.colour else "face-down"
        return f"{value.space.number} by {value.seat} {face}"
    if isinstance(value, IntEnum):
        return value.name.lower().replace("_", "-")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"[{', '.join(map(text, value))}]"
    return str(value)


def tower_text(tower: Tower) -> str:
    """`red 4 (base trunk lit+ turret)`; + marks gold, which a lit window hides."""
    parts = ["base" + "+" * tower.base_gold]
    parts += ["trunk"] * tower.plain_trunks + ["trunk+"] * tower.gold_trunks
    parts += ["window"] * (tower.plain_windows - tower.lit_plain) + ["lit"] * tower.lit_plain
    parts += ["window+"] * (tower.gold_windows - tower.lit_gold) + ["lit+"] * tower.lit_gold
    parts.append("turret" + "+" * tower.turret_gold)
    return f"{text(tower.colour)} {tower.height} ({' '.join(parts)})"


def counted(names: Any, counts: tuple[int, ...]) -> str:
    """`2 blue, 1 green`."""
    pairs = zip(names, counts, strict=True)
    return ", ".join(f"{count} {text(name)}" for name, count in pairs if count) or "-"


def view_lines(state: State) -> Iterator[str]:
    """The public view, and the private view of each seat."""
    yield "   ~ table"
    yield from (f"   ~   {line}" for line in public_lines(public_view(state)))
    for seat in range(state.rules.seats):
        seen = view(state, seat)
        yield f"   ~ seat {seat}{' decides' if seen.legal else ''}"
        yield from (f"   ~   {line}" for line in private_lines(seen.private))


def public_lines(public: PublicView) -> Iterator[str]:
    yield f"year {public.year} turn {public.turn_seat} patronage {public.patronage_seat}"
    yield (
        f"piles: buyers {public.buyer_pile_size}, lit windows {public.lit_stack_size}, "
        f"gifts {public.gift_deck_size}, sections {list(public.pile_sizes)}"
    )
    for kind, display in zip(SectionKind, public.displays, strict=True):
        names = (f"{text(c)}{gold}" for c in Colour for gold in ("", "+"))
        yield f"display of {text(kind)}: {counted(names, display)}"
    for area, marks in enumerate(public.dispatched):
        if marks:
            colour = public.area_colours[area]
            follow = text(BuyerColour(colour)) if colour else "no colour"
            yield f"{text(Area(area))}, {follow}: {text(marks)}"
    for space, cards in public.chests:
        yield f"chest {text(space)}: {text(cards)}"
    for seat, known in enumerate(public.seats):
        towers = "; ".join(map(text, known.towers)) or "no tower"
        yield (
            f"seat {seat}: prestige {known.prestige}, hand {known.hand_size}, "
            f"lit windows {known.lit_windows}, {towers}"
        )


def private_lines(own: PrivateView) -> Iterator[str]:
    yield f"asari {own.asari}; hand {counted(BuyerColour, own.hand)}"
    stock = counted(SECTION_TYPES, own.sections)
    yield f"sections {stock}; lit windows {counted(Colour, own.lit_windows)}"
    for name in own._fields[5:]:
        value = getattr(own, name)
        if value:
            yield f"{name} {text(value)}"
