"""Random matches, and the properties of every decision of every match."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import pytest

from asara_game.actions import Action, BuildCount, ChooseSpace, Wish
from asara_game.build import buildable
from asara_game.deal import Deal
from asara_game.engine import apply, decision, new_match
from asara_game.events import Event
from asara_game.moves import options
from asara_game.rules import RULE_COMBINATIONS, Rules, format_rule_sets
from asara_game.state import NOT_COUNTED, State, buyer_counts, lit_colour
from asara_game.view import view
from asara_game.vocabulary import (
    MARKET_TYPES,
    SECTION_TYPES,
    BuyerColour,
    Colour,
    DecisionKind,
    Section,
    SectionKind,
    Space,
)
from tests.game import naive
from tests.sizes import others_long

CASES: Final = [
    pytest.param(format_rule_sets(rule_sets), seats, id=f"{format_rule_sets(rule_sets)}-{seats}")
    for rule_sets in RULE_COMBINATIONS
    for seats in (2, 3, 4)
]
"""Every valid match: rule sets and number of seats."""

WIDE_CASES: Final = others_long(CASES, 4)
"""The same, of which the default size has each combination of rule sets but one."""

Policy = Callable[[Sequence[Action], random.Random], Action]


def anything(legal: Sequence[Action], dice: random.Random) -> Action:
    """Any legal action."""
    return dice.choice(legal)


def builder(legal: Sequence[Action], dice: random.Random) -> Action:
    """Never declines, and builds much: tall, lit towers."""
    wanted = [a for a in legal if str(a) != "decline"]
    if isinstance(wanted[0], ChooseSpace | Wish) and dice.random() < 0.4:
        wanted = [a for a in wanted if "circle" in str(a)] or wanted
    if isinstance(wanted[0], BuildCount):
        return wanted[-1]
    return dice.choice(wanted)


def visitor(legal: Sequence[Action], dice: random.Random) -> Action:
    """Prefers spaces with something to search, draw, wish for or take."""
    words = ("spies", "tent", "lit-windows", "genie", "market 1", "bank 6")
    wanted = [a for a in legal if any(word in str(a) for word in words)]
    return dice.choice(wanted or [a for a in legal if str(a) != "decline"])


POLICIES: Final[tuple[Policy, ...]] = (anything, builder, visitor)


class Moment(NamedTuple):
    """A decision, and how it was reached."""

    state: State
    action: Action | None
    """The answer to the decision before; None at the start."""
    events: list[Event]


def playout(rules: Rules, seed: int, policy: Policy | None = None) -> Iterator[Moment]:
    """Play a random match to its end; the state of a moment is valid until the next one."""
    dice = random.Random(seed)
    policy = policy or dice.choice(POLICIES)
    state, events = new_match(rules, Deal(dice.randbytes(32)))
    yield Moment(state, None, events)
    while state.seat >= 0:
        action = policy(state.legal, dice)
        events = apply(state, action)
        yield Moment(state, action, events)


_GIFT_KINDS: Final = (
    DecisionKind.GIFT_BUYER,
    DecisionKind.GIFT_SECTION,
    DecisionKind.GIFT_LIT_WINDOW,
)
_UNCHANGING: Final = {"rules", "shuffler"}
FIELDS: Final = [
    name for name, value in vars(State).items() if not name.startswith("__") and not callable(value)
]
"""Names of a state's fields; the compiled class has no __slots__."""


def snapshot(state: State) -> dict[str, Any]:
    """Copies of everything that can change in a state, by field."""
    found = {}
    for name in FIELDS:
        if name not in _UNCHANGING:
            value = getattr(state, name)
            if isinstance(value, list):
                value = tuple(tuple(v) if isinstance(v, list) else v for v in value)
            found[name] = value
    return found


# Components are conserved.


def check_components(state: State, gifts_taken: Counter[Any]) -> None:
    """No buyer, section, lit window or gift card is lost or created."""
    _check_buyers(state)
    _check_sections(state)
    if state.rules.professional:
        _check_lit_windows(state)
    if state.rules.gifts:
        _check_gifts(state, gifts_taken)


def _check_buyers(state: State) -> None:
    found = Counter(state.buyer_pile)
    for seat, hand in enumerate(state.hands):
        held = dict(zip(BuyerColour, buyer_counts(hand), strict=True))
        assert sum(held.values()) == state.hand_sizes[seat]
        assert hand >> 30 == 0
        found.update(held)
    marks = [mark for area in state.dispatched for mark in area]
    found.update(int(mark.colour) for mark in marks if mark.colour)
    hidden = Counter((mark.seat, mark.space) for mark in marks if not mark.colour)
    assert hidden == Counter((seat, space) for seat, space, _ in state.face_down)
    for _, _, colours in state.face_down:
        found.update(map(int, colours))
    assert found == Counter(dict(enumerate(state.rules.edition.buyers, 1)))


def _check_sections(state: State) -> None:
    found: Counter[Section] = Counter()
    for market, pile in enumerate(state.piles):
        found.update(MARKET_TYPES[market][number] for number in pile)
    for section, count in zip(SECTION_TYPES, state.display_counts, strict=True):
        assert count >= 0
        found[section] += count
    for seat in range(state.rules.seats):
        for section, count in zip(SECTION_TYPES, state.unbuilt_of(seat), strict=True):
            assert count >= 0
            found[section] += count
        for tower in state.towers[seat]:
            colour = tower.colour
            found[Section(SectionKind.BASE, colour, tower.base_gold)] += 1
            found[Section(SectionKind.TRUNK, colour, False)] += tower.plain_trunks
            found[Section(SectionKind.TRUNK, colour, True)] += tower.gold_trunks
            found[Section(SectionKind.WINDOW, colour, False)] += tower.plain_windows
            found[Section(SectionKind.WINDOW, colour, True)] += tower.gold_windows
            found[Section(SectionKind.TURRET, colour, tower.turret_gold)] += 1
    tiles = state.rules.edition.tiles
    for section in SECTION_TYPES:
        assert found[section] == tiles[section.kind - 1][section.colour - 1][section.gold]


def _check_lit_windows(state: State) -> None:
    found = Counter(map(lit_colour, state.lit_stack))
    for index, count in enumerate(state.lit_held):
        assert count >= 0
        found[index % 5 + 1] += count
    for towers in state.towers:
        for tower in towers:
            assert 0 <= tower.lit_plain <= tower.plain_windows
            assert 0 <= tower.lit_gold <= tower.gold_windows
            found[tower.colour] += tower.lit
    if state.kind in (DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN) and state.seat >= 0:
        found.update(state.lit_drawn)
    expected = Counter(dict(enumerate(state.rules.edition.lit_windows, 1)))
    assert +found == +expected


def _check_gifts(state: State, taken: Counter[Any]) -> None:
    rules = state.rules
    found = taken + Counter(rules.gift_cards[index] for index in state.gift_deck)
    for cards in state.chests:
        found.update(cards)
    found.update(state.gift_queue[1:])  # the present one is taken
    assert found == Counter(rules.gift_cards[index] for index in rules.gift_deck)


# Redundant parts of a state agree with their sources.


def check_tables(state: State) -> None:
    """Counts and bits that are kept for speed agree with the table."""
    rules = state.rules
    for market in range(4):
        shown = [number for number, count in enumerate(state.display_of(market)) if count]
        assert state.types_on_display[market] == sum(1 << number for number in shown)
    taken = {mark.space for area in state.dispatched for mark in area}
    for info in rules.spaces:
        free = info.space not in taken or info is rules.spaces_by_area[7][0]
        assert bool(state.free_spaces[info.area] & info.bit) is free
        holds_gift = info.chest >= 0 and bool(state.chests[info.chest])
        assert bool(state.gift_spaces[info.area] & info.bit) is holds_gift
    for seat, towers in enumerate(state.towers):
        unlit = Counter[int]()
        for tower in towers:
            unlit[tower.colour] += tower.plain_windows + tower.gold_windows - tower.lit
        assert state.unlit_windows_of(seat) == [unlit[colour] for colour in Colour]
        if state.buildable_counts[seat] != NOT_COUNTED and state.kind == DecisionKind.SPACE:
            assert state.buildable_counts[seat] == buildable(
                state.unbuilt_of(seat),
                state.lit_held_by(seat),
                state.unlit_windows_of(seat),
                towers,
            )


def check_legal(state: State) -> None:
    """At least two actions, none twice, the same when worked out again, and as in the clauses."""
    legal = list(state.legal)
    assert len(legal) >= 2
    assert len(set(legal)) == len(legal)
    assert list(options(state)) == legal
    expected = naive.legal(view(state, state.seat))
    assert expected is None or list(map(str, legal)) == expected
    if state.kind == DecisionKind.SPACE:
        assert "dispatch coloured-building 1" in map(str, legal)


def check_turn(state: State) -> None:
    """A decision contains the progress of the turn where it matters, and nowhere else."""
    kind = state.kind
    asked = decision(state)
    assert bool(asked.sections_to_build) == (kind == DecisionKind.BUILD)
    assert not asked.build_steps or kind == DecisionKind.BUILD
    assert bool(asked.gifts) == (kind in _GIFT_KINDS)
    assert bool(asked.lit_windows_to_keep) == (kind == DecisionKind.LIT_KEEP)
    assert (asked.space is None) == (kind == DecisionKind.SPACE)


# Actions that are nearly right.


def mutations(action: Action) -> list[Any]:
    """Actions like this one but for one field, most of them wrong, and what is no action."""
    fields = [getattr(action, name) for name in type(action).__match_args__]
    found = [
        type(action)(*fields[:place], other, *fields[place + 1 :])  # type: ignore[call-arg]
        for place, field in enumerate(fields)
        for other in _near(field)
    ]
    return [*found, None, str(action), 0, action.__class__]


def _near(value: Any) -> list[Any]:
    """Other values for a field of an action."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, IntEnum):
        return list(type(value))
    if isinstance(value, int):
        return [-1, 0, value - 1, value + 1, 99]
    if isinstance(value, Space | Section):
        fields = value._asdict().items()
        return [value._replace(**{name: other}) for name, now in fields for other in _near(now)]
    last = [(*value[:-1], other) for other in _near(value[-1])]
    return [(), value[:-1], value * 2, value[::-1], *last]
