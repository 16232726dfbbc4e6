"""Matches written out: every event, decision and answer, and every seat's view at some decisions.

The text depends only on the rules engine and on `asara_env.render`, so its changes are theirs.
"""

import random
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from asara_env.render import (
    card_text,
    decision_text,
    private_text,
    public_text,
    tower_text,
    word,
)
from asara_game.actions import format_section, format_space
from asara_game.deal import Deal
from asara_game.engine import apply, new_match, outcome
from asara_game.events import Event
from asara_game.state import State
from asara_game.view import public_view, view
from asara_game.vocabulary import DecisionKind, GiftCard, Section, Space, Tower
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
        asked = view(state, state.seat).decision
        assert asked is not None
        yield f"{number}. {decision_text(asked)}"
        yield f"   of {listed(state)}"
        wanted = [action for action in state.legal if str(action) != "decline"]
        action = dice.choice(wanted if dice.random() < 0.9 else list(state.legal))
        yield f"   -> {action}"
        yield from map(event_line, apply(state, action))
    yield from view_lines(state)
    end = outcome(state)
    if end is not None:
        yield f"over: prestige {list(end.prestige)}, winners {list(end.winners)}"


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
        return card_text(value)
    if isinstance(value, IntEnum):
        return word(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"[{', '.join(map(text, value))}]"
    return str(value)


def view_lines(state: State) -> Iterator[str]:
    """The public view, and the private view of each seat."""
    yield "   ~ table"
    yield from indented(public_text(public_view(state)))
    for seat in range(state.rules.seats):
        seen = view(state, seat)
        yield f"   ~ seat {seat}{' decides' if seen.legal else ''}"
        yield from indented(private_text(seen))


def indented(text: str) -> Iterator[str]:
    return (f"   ~   {line}" for line in text.splitlines())
