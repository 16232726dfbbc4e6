"""Observations: what a seat may know, as one array of numbers with a fixed layout.

An observation is made from a view alone. It has the same entries for all rule sets and numbers of
seats; entries that do not apply to a match are 0. Seats are counted from the observing seat:
`self`, then `next1`, `next2` and `next3` in turn order. The edition's numbers are left out, because
they are the same in all matches of an edition. `PARTS` is the layout, and `observation_names()`
lists the name of every entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from struct import Struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from asara_game import (
    Action,
    Dispatched,
    ExtendTower,
    FoundTower,
    LightWindow,
    PrivateView,
    PublicView,
    Rules,
    SeatView,
    State,
    View,
)
from asara_game.state import buyer_counts
from asara_game.view import (
    SEARCHING,
    face_down_of,
    known_lit_windows,
    lit_windows_of,
    searched,
)
from asara_game.vocabulary import (
    COLOURS,
    SECTION_TYPES,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    GiftKind,
    Section,
    SectionKind,
    Space,
    Tower,
    section_index,
)

from .action_numbers import (
    AREA_SIZES,
    CHEST_COUNT,
    FIRST_SPACES,
    LIT_WINDOW_COUNT,
    SPACE_COUNT,
    TOWERS_PER_COLOUR,
    numbering,
)

__all__ = [
    "OBSERVATION_SIZE",
    "PARTS",
    "Observer",
    "Part",
    "StateObserver",
    "as_dictionary",
    "observation_limits",
    "observation_names",
    "observe",
]

Tensor = npt.NDArray[np.float32]

_SEATS: Final = ("self", "next1", "next2", "next3")
_KINDS: Final = tuple(kind.name.lower() for kind in SectionKind)
_COLOUR_NAMES: Final = tuple(colour.name.lower() for colour in COLOURS)
_BUYERS: Final = tuple(buyer.name.lower() for buyer in BuyerColour)
_DECISIONS: Final = tuple(kind.name.lower() for kind in DecisionKind)
_AREAS: Final = tuple(area.name.lower() for area in Area)
_TYPES: Final = tuple(
    f"{_COLOUR_NAMES[colour - 1]}-{_KINDS[kind - 1]}{'-gold' if gold else ''}"
    for kind, colour, gold in SECTION_TYPES
)
_SPACES: Final = tuple(
    f"{area.name.lower()}{position}" for area in Area for position in range(1, AREA_SIZES[area] + 1)
)
_CARDS: Final = (
    "choose-buyer",
    "asari",
    "buy-base",
    "buy-trunk",
    "buy-window",
    "buy-turret",
    "prestige",
    "buy-lit-window",
)
"""Entries for a set of gift cards: sums of Asari and prestige, and counts of other cards."""
_TOWER: Final = (
    "stands",
    "number",
    "base-gold",
    "turret-gold",
    "plain-trunks",
    "gold-trunks",
    "plain-windows",
    "gold-windows",
    "lit-plain",
    "lit-gold",
)
_RANKS: Final = tuple(f"tower{rank}" for rank in range(1, TOWERS_PER_COLOUR + 1))
_PLACES: Final = tuple(f"place{place}" for place in range(1, LIT_WINDOW_COUNT + 1))
_STEPS: Final = ("found", "trunk", "window", "light", "gold")
_CHESTS: Final = tuple(f"chest{chest}" for chest in range(1, CHEST_COUNT + 1))
_LARGEST: Final = 9_999
"""Limit for entries without a limit in the rules: prestige and Asari."""


@dataclass(frozen=True)
class Part:
    """One part of the layout: an array with a name for every index along every axis."""

    name: str
    axes: tuple[tuple[str, ...], ...]
    """Names along each axis; () for a single number."""
    limit: int
    """Maximum value with the shipped edition; the minimum is 0."""
    meaning: str
    first: int
    """Index of the part's first entry in the observation."""
    by_seat: bool = False
    """True if the first axis counts seats. Each seat's share is then in the seat's block."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    @property
    def size(self) -> int:
        return prod(self.shape)

    def indices(self) -> npt.NDArray[np.intp]:
        """Return the index of every entry in the observation, in the part's shape."""
        if not self.by_seat:
            return np.arange(self.first, self.first + self.size).reshape(self.shape)
        share = self.first + np.arange(prod(self.shape[1:]))
        rows = np.arange(len(_SEATS))[:, None] * SEAT_BLOCK + share
        return rows.reshape(self.shape)

    def of(self, observation: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return this part of an observation, or of a batch [..., entries], as shared memory."""
        batch = observation.shape[:-1]
        if not self.by_seat:
            flat = observation[..., self.first : self.first + self.size]
            return flat.reshape((*batch, *self.shape))
        end = _SEATS_FIRST + len(_SEATS) * SEAT_BLOCK
        blocks = observation[..., _SEATS_FIRST:end].reshape(*batch, len(_SEATS), SEAT_BLOCK)
        first = self.first - _SEATS_FIRST
        share = blocks[..., first : first + prod(self.shape[1:])]
        return share.reshape((*batch, *self.shape))

    def names(self) -> Iterator[str]:
        """Yield a name for every entry, such as `towers/self/red/tower1/number`."""
        for words in product(*self.axes):
            yield "/".join((self.name, *words))


_Row = tuple[str, tuple[tuple[str, ...], ...], int, str]
_MOST_WINDOWS: Final = LIT_WINDOW_COUNT

_SHARED_PARTS: Final[tuple[_Row, ...]] = (
    ("rules", (("pro", "gifts", "genie"),), 1, "1 if the rule set is played"),
    ("seats", (("2", "3", "4"),), 1, "1 at the number of seats"),
    ("year", (), 60, "the year, from 1"),
    ("buyer_pile", (), 60, "buyers in the pile"),
    ("lit_stack", (), _MOST_WINDOWS, "lit windows in the stack"),
    ("gift_deck", (), 60, "cards in the deck"),
    ("piles", (_KINDS,), 25, "sections in each face-down pile"),
    ("displays", (_TYPES,), 9, "sections of each type on display"),
    ("area_colours", (_AREAS, _BUYERS), 1, "1 at the colour that applies to the area"),
    ("face_down_at", (_SPACES,), 60, "dispatches to the space this year that lie face down"),
    ("chests", (_CHESTS, _CARDS), 60, "gift cards on the chest, in the edition's order"),
)
_SEAT_PARTS: Final[tuple[_Row, ...]] = (
    (
        "players",
        (_SEATS, ("plays", "turn", "patronage", "prestige", "hand", "lit-windows", "towers")),
        _LARGEST,
        "1 if there is such a seat, if it has the turn, holds the patronage; and its counts",
    ),
    ("spaces", (_SEATS, _SPACES), 60, "dispatches of the seat to the space this year"),
    (
        "towers",
        (_SEATS, _COLOUR_NAMES, _RANKS, _TOWER),
        25,
        "the towers by colour, in the order founded; `number` is that of actions as text",
    ),
)
_PRIVATE_PARTS: Final[tuple[_Row, ...]] = (
    ("own_seat", (("0", "1", "2", "3"),), 1, "1 at the seat that looks"),
    ("asari", (), _LARGEST, "the own purse"),
    ("hand", (_BUYERS,), 60, "own buyers"),
    ("sections", (_TYPES,), 4, "own unbuilt sections"),
    ("lit_windows", (_COLOUR_NAMES,), _MOST_WINDOWS, "own lit windows that are not built"),
    ("face_down", (_BUYERS,), 60, "own buyers that lie face down this year"),
    (
        "known_lit_windows",
        (_PLACES, _COLOUR_NAMES),
        1,
        "lit windows in the stack whose place the seat knows; place1 is the top",
    ),
    ("searched_sections", (_TYPES,), 25, "the pile that the seat looks through"),
    ("searched_buyers", (_BUYERS,), 60, "the buyer pile that the seat looks through"),
    ("searched_lit_windows", (_COLOUR_NAMES,), _MOST_WINDOWS, "lit windows drawn or searched"),
)
_DECISION_PARTS: Final[tuple[_Row, ...]] = (
    ("decides", (), 1, "1 if the seat that looks decides"),
    ("decision", (_DECISIONS,), 1, "1 at the kind of the open decision, if the seat sees it"),
    ("space", (_SPACES,), 1, "1 at the space dispatched to or wished for"),
    ("sections_to_build", (), 15, "sections that the build still needs"),
    ("lit_windows_to_keep", (), 2, "lit windows that the seat keeps of those drawn"),
    ("gift_now", (_CARDS,), 60, "the gift card that takes effect now"),
    ("gifts_left", (_CARDS,), 60, "all cards that have yet to take effect, with that one"),
    ("build_steps", (), 15, "steps of the build so far"),
    ("step_colour", (_COLOUR_NAMES,), 1, "1 at the colour of the last step"),
    ("step_kind", (_STEPS,), 1, "1 at the kind of the last step, and 1 if it is gold"),
    ("step_tower", (), 20, "number of the tower that the last step extended or lit"),
    (
        "new_windows",
        (_COLOUR_NAMES, _RANKS, ("plain", "gold")),
        5,
        "windows of this build, which cannot be lit in it",
    ),
)


def _layout() -> Iterator[Part]:
    """Yield the parts: shared ones, then a block for each seat, then what only the seat knows."""
    first = 0
    for group in (_SHARED_PARTS, _SEAT_PARTS, _PRIVATE_PARTS, _DECISION_PARTS):
        for row in group:
            yield Part(*row, first, group is _SEAT_PARTS)
            shape = tuple(map(len, row[1]))
            first += prod(shape[1:] if group is _SEAT_PARTS else shape)
        if group is _SEAT_PARTS:
            first += (len(_SEATS) - 1) * SEAT_BLOCK


SEAT_BLOCK: Final = sum(prod(map(len, axes[1:])) for _, axes, _, _ in _SEAT_PARTS)
"""Number of entries of one seat."""
PARTS: Final = tuple(_layout())
"""The layout of an observation."""
OBSERVATION_SIZE: Final = sum(part.size for part in PARTS)
_AT: Final = {part.name: part.first for part in PARTS}
_SEATS_FIRST: Final = _AT["players"]
_PRIVATE_FIRST: Final = _AT["own_seat"]
_DECISION_FIRST: Final = _AT["decides"]


def _names() -> tuple[str, ...]:
    names = [""] * OBSERVATION_SIZE
    for part in PARTS:
        for index, name in zip(part.indices().flat, part.names(), strict=True):
            names[index] = name
    return tuple(names)


_NAMES: Final = _names()


def observation_names() -> tuple[str, ...]:
    """Return the name of every entry of an observation, in order."""
    return _NAMES


def observation_limits() -> Tensor:
    """Return the maximum of every entry with the shipped edition; the minimum is 0.

    Prestige and Asari have no limit in the rules, so their maximum is given as 9999.
    """
    limits = np.empty(OBSERVATION_SIZE, np.float32)
    for part in PARTS:
        part.of(limits)[...] = part.limit
    return limits


def as_dictionary(observation: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the parts of an observation, or of a batch [..., entries], by name.

    Each part has its shape in PARTS, after the batch axes. The parts share the observation's
    memory.
    """
    if observation.shape[-1:] != (OBSERVATION_SIZE,):
        raise ValueError(
            f"an observation has {OBSERVATION_SIZE} entries in its last axis, "
            f"not shape {observation.shape}"
        )
    return {part.name: part.of(observation) for part in PARTS}


def observe(view: View) -> Tensor:
    """Return the observation for a view."""
    return Observer().observe(view)


# Places within the four groups: of entries, and in bytes for writes through a struct, which take
# a third of the time of a slice of an array.
_FLOAT: Final = 4
_YEAR: Final = _AT["year"] * _FLOAT
_DISPLAYS: Final = _AT["displays"]
_COLOURS_AT: Final = _AT["area_colours"] - 6
_FACE_DOWN_AT: Final = _AT["face_down_at"]
_CHESTS_AT: Final = _AT["chests"]
_TURN, _PATRONAGE, _PRESTIGE, _HAND_SIZE, _LIT_HELD, _TOWER_COUNT = 1, 2, 3, 4, 5, 6
"""Entries of `players`, within a seat's group."""
_SPACES_AT: Final = _AT["spaces"] - _SEATS_FIRST
_TOWERS_AT: Final = (_AT["towers"] - _SEATS_FIRST) * _FLOAT
_TOWER_SIZE: Final = len(_TOWER) * _FLOAT
_COLOUR_SIZE: Final = TOWERS_PER_COLOUR * _TOWER_SIZE
_ASARI: Final = (_AT["asari"] - _PRIVATE_FIRST) * _FLOAT
_SECTIONS: Final = _AT["sections"] - _PRIVATE_FIRST
_LIT_WINDOWS: Final = _AT["lit_windows"] - _PRIVATE_FIRST
_FACE_DOWN: Final = _AT["face_down"] - _PRIVATE_FIRST
_KNOWN: Final = _AT["known_lit_windows"] - _PRIVATE_FIRST
_SEARCHED: Final = _AT["searched_sections"] - _PRIVATE_FIRST
_PRIVATE_SIZE: Final = _DECISION_FIRST - _PRIVATE_FIRST
_SPACE: Final = _AT["space"] - _DECISION_FIRST
_TO_BUILD: Final = _AT["sections_to_build"] - _DECISION_FIRST
_TO_KEEP: Final = _AT["lit_windows_to_keep"] - _DECISION_FIRST
_GIFT_NOW: Final = _AT["gift_now"] - _DECISION_FIRST
_GIFTS_LEFT: Final = _AT["gifts_left"] - _DECISION_FIRST
_BUILD_STEPS: Final = _AT["build_steps"] - _DECISION_FIRST
_STEP_COLOUR: Final = _AT["step_colour"] - _DECISION_FIRST
_STEP_KIND: Final = _AT["step_kind"] - _DECISION_FIRST
_STEP_TOWER: Final = _AT["step_tower"] - _DECISION_FIRST
_NEW_WINDOWS: Final = _AT["new_windows"] - _DECISION_FIRST
_DECISION_SIZE: Final = OBSERVATION_SIZE - _DECISION_FIRST

_SHARED: Final = 1 << len(_SEATS)
"""Bit of the group that all seats share; it follows the seats' own bits."""
_OWN: Final = _SHARED << 1
"""Bit of the group that only the observing seat knows."""
_ALL: Final = (_OWN << 1) - 1

_SEATS_BYTE: Final = _SEATS_FIRST * _FLOAT
_BLOCK_BYTES: Final = SEAT_BLOCK * _FLOAT
_PRIVATE_BYTE: Final = _PRIVATE_FIRST * _FLOAT
_DECISION_BYTE: Final = _DECISION_FIRST * _FLOAT
OBSERVATION_BYTES: Final = OBSERVATION_SIZE * _FLOAT

_write_6: Final = Struct("6f").pack_into
_write_7: Final = Struct("7f").pack_into
_write_8: Final = Struct("8f").pack_into
_write_10: Final = Struct("10f").pack_into
_NO_COLOURS: Final[tuple[int, ...]] = (0,) * len(AREA_SIZES)
_NO_MARKS: Final[tuple[tuple[Dispatched, ...], ...]] = ((),) * len(AREA_SIZES)
_NO_COUNTS: Final[tuple[int, ...]] = (0,) * len(SECTION_TYPES)
_COLOURED: Final = int(Area.COLOURED_BUILDING)
_SPACE_KIND: Final = DecisionKind.SPACE
_CHOOSE_BUYER: Final = int(GiftKind.CHOOSE_BUYER)
_ASARI_CARD: Final = int(GiftKind.ASARI)
_BUY_SECTION: Final = int(GiftKind.BUY_SECTION)
_PRESTIGE_CARD: Final = int(GiftKind.PRESTIGE)
_SECTION_NUMBERS: Final = {section: section_index(section) for section in SECTION_TYPES}
_NO_DECISION: Final = bytearray(_DECISION_SIZE * _FLOAT)
_MOST_DECISIONS: Final = 10_000
_decisions: dict[tuple[int, ...], bytearray] = {}
"""Cached entries of decisions that involve neither gift cards nor build steps."""


class _Group:
    """Entries that are written together: a buffer seen both as bytes and as floats."""

    __slots__ = ("data", "entries")

    def __init__(self, size: int) -> None:
        self.data = bytearray(size * _FLOAT)
        self.entries = memoryview(self.data).cast("f")

    def clear(self, first: int, end: int) -> None:
        """Set entries to 0."""
        self.data[first * _FLOAT : end * _FLOAT] = bytearray((end - first) * _FLOAT)


class _Image:
    """The last observation as bytes, and the groups of entries that make it up."""

    def __init__(self) -> None:
        self._spaces: dict[Space, int] = {}
        self._chests: dict[Space, int] = {}
        self._shared = _Group(0)
        self._seats: list[_Group] = []
        self._private: list[_Group] = []
        self._image = bytearray()
        self._image_seat = -1
        self._decision = _NO_DECISION
        self._stale = 0
        """The groups missing from the image: bit n for seat n, then _SHARED and _OWN."""

    def _clear(self, rules: Rules) -> None:
        """Clear everything, then write the entries that stay the same throughout a match."""
        numbers = numbering(rules.edition)
        self._spaces = numbers.spaces
        self._chests = numbers.chests
        self._shared = _Group(_SEATS_FIRST)
        self._seats = [_Group(SEAT_BLOCK) for _ in range(rules.seats)]
        self._private = [_Group(_PRIVATE_SIZE) for _ in range(rules.seats)]
        self._image = bytearray(OBSERVATION_BYTES)
        self._image_seat = -1
        self._decision = _NO_DECISION
        entries = self._shared.entries
        for index, played in enumerate((rules.professional, rules.gifts, rules.genie)):
            entries[index] = played
        entries[3 + rules.seats - 2] = 1
        for group in self._seats:
            group.entries[0] = 1
        for seat, group in enumerate(self._private):
            group.entries[seat] = 1

    def _put_together(self, seat: int, asked: bytearray) -> bytearray:
        """Return the observation of a seat as bytes, which are valid until the next call."""
        image = self._image
        if seat != self._image_seat:
            self._image_seat = seat
            self._stale = _ALL
        stale = self._stale
        if stale:
            if stale & _SHARED:
                image[:_SEATS_BYTE] = self._shared.data
            first = _SEATS_BYTE
            number = seat
            seats = self._seats
            for _ in range(len(seats)):
                if stale >> number & 1:
                    image[first : first + _BLOCK_BYTES] = seats[number].data
                first += _BLOCK_BYTES
                number += 1
                if number == len(seats):
                    number = 0
            if stale & _OWN:
                image[_PRIVATE_BYTE:_DECISION_BYTE] = self._private[seat].data
            self._stale = 0
        if asked is not self._decision:
            image[_DECISION_BYTE:] = asked
            self._decision = asked
        return image

    def _write_area_colours(self, colours: list[int], last: list[int]) -> None:
        entries = self._shared.entries
        for area in range(len(colours)):
            colour, before = colours[area], last[area]
            if colour != before:
                if before:
                    entries[_COLOURS_AT + area * 5 + before] = 0.0
                if colour:
                    entries[_COLOURS_AT + area * 5 + colour] = 1.0

    def _write_dispatched(
        self,
        dispatched: list[tuple[Dispatched, ...]],
        last: list[tuple[Dispatched, ...]],
    ) -> int:
        """Write the dispatches by space; return the groups that are now stale."""
        shared = self._shared.entries
        seats = self._seats
        stale = 0
        if not any(dispatched):  # the year begins
            self._shared.clear(_FACE_DOWN_AT, _FACE_DOWN_AT + SPACE_COUNT)
            for group in seats:
                group.clear(_SPACES_AT, _SPACES_AT + SPACE_COUNT)
            return _ALL
        for area in range(len(dispatched)):
            marks, before = dispatched[area], last[area]
            if marks is before:
                continue
            if before and not _more_of(marks, before):
                before = ()
                first = FIRST_SPACES[area]
                end = first + AREA_SIZES[area]
                self._shared.clear(_FACE_DOWN_AT + first, _FACE_DOWN_AT + end)
                for group in seats:
                    group.clear(_SPACES_AT + first, _SPACES_AT + end)
                stale = _ALL
            for mark in marks:
                if mark in before:
                    continue
                space, owner, colour = mark
                index = self._spaces[space]
                seats[owner].entries[_SPACES_AT + index] += 1
                stale |= 1 << owner
                if not colour:
                    shared[_FACE_DOWN_AT + index] += 1
                    stale |= _SHARED
        return stale

    def _write_chest(self, chest: int, cards: tuple[GiftCard, ...]) -> None:
        first = _CHESTS_AT + chest * len(_CARDS)
        self._shared.clear(first, first + len(_CARDS))
        _write_cards(self._shared.entries, first, cards)

    def _asked(
        self,
        decides: bool,
        kind: int,
        space: Space | None,
        sections: int,
        keep: int,
        steps: tuple[Action, ...],
        gifts: tuple[GiftCard, ...],
        towers: tuple[Tower, ...],
    ) -> bytearray:
        """Return the entries of the open decision."""
        number = -1 if space is None else self._spaces[space]
        key = (decides, kind, number, sections, keep, len(steps))
        data = _decisions.get(key)
        if data is None:
            if len(_decisions) >= _MOST_DECISIONS:
                _decisions.clear()
            data = _decisions[key] = _plain_decision(*key)
        if not gifts and not steps:
            return data
        group = _Group(_DECISION_SIZE)
        group.data[:] = data
        _write_cards(group.entries, _GIFT_NOW, gifts[:1])
        _write_cards(group.entries, _GIFTS_LEFT, gifts)
        if steps:
            _write_steps(group.entries, steps, towers)
        return group.data


class StateObserver(_Image):
    """Makes the deciding seat's observations from the state of a running match.

    Each observation equals `observe(view(state, state.seat))` but takes a fraction of the time:
    only changes are written, and no view is made. The observer reads only those parts of the state
    that a view shows. What only the seat knows comes from functions of `asara_game.view`.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        rules = state.rules
        self._clear(rules)
        seats = rules.seats
        # Copies of the state as it was when it was written; at first, those of entries that are 0.
        self._year = self._buyers = self._lit = self._gifts = 0
        self._piles = [0] * 4
        self._turn = self._patronage = -1
        self._displays = [0] * len(SECTION_TYPES)
        self._colours = [0] * len(AREA_SIZES)
        self._marks: list[tuple[Dispatched, ...]] = [()] * len(AREA_SIZES)
        self._cards: list[tuple[GiftCard, ...]] = [()] * len(state.chests)
        self._chest_numbers = [self._chests[info.space] for info in rules.chests]
        self._prestige = [0] * seats
        self._hand_sizes = [0] * seats
        self._lit_held = [0] * len(state.lit_held)
        self._towers: list[tuple[Tower, ...]] = [()] * seats
        # By seat, of what it alone knows.
        self._asari = [0] * seats
        self._hands = [0] * seats
        self._unbuilt = [[0] * len(SECTION_TYPES) for _ in range(seats)]
        self._own_lit = [[0] * len(COLOURS) for _ in range(seats)]
        self._laid: list[list[tuple[int, Space, tuple[BuyerColour, ...]]]] = [
            [] for _ in range(seats)
        ]
        self._stacks: list[list[int]] = [[] for _ in range(seats)]
        self._searches = [False] * seats

    def __reduce__(self) -> tuple[type[StateObserver], tuple[State]]:
        return StateObserver, (self._state,)

    def write(self, out: bytearray | memoryview, at: int, looked: bool = False) -> None:
        """Write the observation into `out`, a byte buffer, from byte `at` on.

        `looked` is True if only the decision has changed since the last observation.
        """
        out[at : at + OBSERVATION_BYTES] = self._observed(looked)

    def observe(self, looked: bool = False) -> Tensor:
        """Return the observation as a new array."""
        return np.frombuffer(self._observed(looked)[:], np.float32)

    def _observed(self, looked: bool) -> bytearray:
        state = self._state
        seat = state.seat
        if not looked:
            self._look(state)
            self._look_into(state, seat)
        kind = state.kind
        searches = kind in SEARCHING
        if searches or self._searches[seat]:
            _write_searched(self._private[seat], *searched(state))
            self._searches[seat] = searches
            self._stale |= _OWN
        if kind is _SPACE_KIND:
            return self._put_together(seat, _BEGINS_TURN)
        asked = self._asked(
            True,
            kind,
            state.space.space,
            state.sections_to_build,
            state.lit_to_keep,
            state.build_steps,
            state.gift_queue,
            state.towers[seat],
        )
        return self._put_together(seat, asked)

    def _look(self, state: State) -> None:
        """Write the public information that has changed."""
        entries = self._shared.entries
        stale = self._look_at_numbers(state)
        if state.display_counts != self._displays:
            _write_counts(entries, _DISPLAYS, state.display_counts, self._displays)
            self._displays = state.display_counts[:]
            stale |= _SHARED
        if state.area_colours != self._colours:
            self._write_area_colours(state.area_colours, self._colours)
            self._colours = state.area_colours[:]
            stale |= _SHARED
        if state.dispatched != self._marks:
            stale |= self._write_dispatched(state.dispatched, self._marks)
            self._marks = state.dispatched[:]
        if state.chests != self._cards:
            for chest in range(len(state.chests)):
                cards = state.chests[chest]
                if cards is not self._cards[chest]:
                    self._write_chest(self._chest_numbers[chest], cards)
            self._cards = state.chests[:]
            stale |= _SHARED
        self._stale |= stale | self._look_at_seats(state)

    def _look_at_numbers(self, state: State) -> int:
        """Write the table's numbers that have changed; return the groups that are now stale."""
        buyers, lit, gifts = len(state.buyer_pile), len(state.lit_stack), len(state.gift_deck)
        bases, trunks, windows, turrets = state.piles
        piles = [len(bases), len(trunks), len(windows), len(turrets)]
        if (
            buyers == self._buyers
            and lit == self._lit
            and gifts == self._gifts
            and state.year == self._year
            and piles == self._piles
        ):
            return 0
        self._buyers, self._lit, self._gifts = buyers, lit, gifts
        self._year = state.year
        self._piles = piles
        _write_8(self._shared.data, _YEAR, state.year, buyers, lit, gifts, *piles)
        return _SHARED

    def _look_at_seats(self, state: State) -> int:
        """Write the seats' public numbers and towers that have changed; return the stale groups."""
        stale = 0
        lit_same = state.lit_held == self._lit_held
        if not lit_same:
            self._lit_held = state.lit_held[:]
        for seat in range(len(self._seats)):
            entries = self._seats[seat].entries
            size, prestige = state.hand_sizes[seat], state.prestige[seat]
            if size != self._hand_sizes[seat]:
                self._hand_sizes[seat] = size
                entries[_HAND_SIZE] = float(size)
                stale |= 1 << seat
            if prestige != self._prestige[seat]:
                self._prestige[seat] = prestige
                entries[_PRESTIGE] = float(prestige)
                stale |= 1 << seat
            if not lit_same:
                entries[_LIT_HELD] = float(lit_windows_of(state, seat))
                stale |= 1 << seat
            towers = state.towers[seat]
            if towers is not self._towers[seat]:
                _write_towers(self._seats[seat].data, towers, self._towers[seat])
                entries[_TOWER_COUNT] = float(len(towers))
                self._towers[seat] = towers
                stale |= 1 << seat
        if state.turn_seat != self._turn:
            stale |= self._move(_TURN, self._turn, state.turn_seat)
            self._turn = state.turn_seat
        if state.patronage_seat != self._patronage:
            stale |= self._move(_PATRONAGE, self._patronage, state.patronage_seat)
            self._patronage = state.patronage_seat
        return stale

    def _move(self, entry: int, before: int, now: int) -> int:
        """Move a mark from one seat to another; return the groups that are now stale."""
        stale = 1 << now
        self._seats[now].entries[entry] = 1.0
        if before >= 0:
            self._seats[before].entries[entry] = 0.0
            stale |= 1 << before
        return stale

    def _look_into(self, state: State, seat: int) -> None:
        """Write changes in what only the seat knows. Searched piles are not included."""
        group = self._private[seat]
        entries = group.entries
        changed = False
        asari, hand = state.money[seat], state.hands[seat]
        if hand != self._hands[seat] or asari != self._asari[seat]:
            self._hands[seat] = hand
            self._asari[seat] = asari
            _write_6(group.data, _ASARI, asari, *buyer_counts(hand))
            changed = True
        unbuilt = state.unbuilt_of(seat)
        if unbuilt != self._unbuilt[seat]:
            _write_counts(entries, _SECTIONS, unbuilt, self._unbuilt[seat])
            self._unbuilt[seat] = unbuilt
            changed = True
        lit = state.lit_held_by(seat)
        if lit != self._own_lit[seat]:
            _write_counts(entries, _LIT_WINDOWS, lit, self._own_lit[seat])
            self._own_lit[seat] = lit
            changed = True
        if state.face_down != self._laid[seat]:
            self._laid[seat] = state.face_down[:]
            _write_face_down(group, face_down_of(state.face_down, seat))
            changed = True
        if state.lit_stack != self._stacks[seat]:
            self._stacks[seat] = state.lit_stack[:]
            _write_known(group, known_lit_windows(state.lit_stack, seat))
            changed = True
        if changed:
            self._stale |= _OWN


class Observer(_Image):
    """Makes observations of one match after another, writing only what has changed.

    The observer is fast if it gets the views of one match in order and unchanged parts are the same
    objects, as in views from `RunningView`. It is correct for any views: an observation depends
    only on its view, not on earlier ones.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rules: Rules | None = None
        self._public: PublicView | None = None
        self._privates: list[PrivateView | None] = []

    def __reduce__(self) -> tuple[type[Observer], tuple[()]]:
        """Copy as an observer that has seen nothing; the next view supplies everything."""
        return Observer, ()

    def observe(self, view: View) -> Tensor:
        """Return the observation of a view as a new array."""
        return np.frombuffer(self._observed(view)[:], np.float32)

    def write(self, view: View, out: bytearray | memoryview, at: int) -> None:
        """Write the observation of a view into `out`, a byte buffer, from byte `at` on."""
        out[at : at + OBSERVATION_BYTES] = self._observed(view)

    def _observed(self, view: View) -> bytearray:
        """Return the observation of a view as bytes, which are valid until the next call."""
        rules, public, private, decision, legal = view
        if rules is not self._rules:
            self._clear(rules)
            self._rules = rules
            self._public = None
            self._privates = [None] * rules.seats
        seat = private.seat
        if public is not self._public:
            self._write_public(public, self._public)
            self._public = public
        if private is not self._privates[seat]:
            self._write_private(private, self._privates[seat])
            self._privates[seat] = private
            self._stale |= _OWN
        asked = _NO_DECISION
        if decision is not None:
            _, kind, space, sections, steps, gifts, keep = decision
            towers = public.seats[seat].towers
            asked = self._asked(bool(legal), kind, space, sections, keep, steps, gifts, towers)
        return self._put_together(seat, asked)

    def _write_public(self, public: PublicView, last: PublicView | None) -> None:
        year, turn, patronage, buyers, lit, deck, displays, sizes, colours, marks, chests, seats = (
            public
        )
        bases, trunks, windows, turrets = sizes
        shared = self._shared
        _write_8(shared.data, _YEAR, year, buyers, lit, deck, bases, trunks, windows, turrets)
        for market, counts in enumerate(displays):
            before = _NO_COUNTS if last is None else last.displays[market]
            if counts is not before:
                first = _DISPLAYS + market * 10
                _write_counts(shared.entries, first, list(counts), list(before))
        if last is None or colours is not last.area_colours:
            before = _NO_COLOURS if last is None else last.area_colours
            self._write_area_colours(list(colours), list(before))
        if last is None or marks is not last.dispatched:
            self._write_dispatched(
                list(marks), list(_NO_MARKS if last is None else last.dispatched)
            )
        if last is None or chests is not last.chests:
            shared.clear(_CHESTS_AT, _SEATS_FIRST)
            for space, cards in chests:
                self._write_chest(self._chests[space], cards)
        for seat, facts in enumerate(seats):
            known = None if last is None else last.seats[seat]
            self._write_seat(seat, turn == seat, patronage == seat, facts, known)
        self._stale = _ALL

    def _write_seat(
        self, seat: int, turn: bool, patronage: bool, now: SeatView, before: SeatView | None
    ) -> None:
        prestige, hand_size, lit_windows, towers = now
        data = self._seats[seat].data
        _write_7(data, 0, 1, turn, patronage, prestige, hand_size, lit_windows, len(towers))
        old = () if before is None else before.towers
        if towers is not old:
            _write_towers(data, towers, old)

    def _write_private(self, private: PrivateView, last: PrivateView | None) -> None:
        seat, asari, hand, sections, lit, face_down, known, piles, buyers, windows = private
        group = self._private[seat]
        entries = group.entries
        _write_6(group.data, _ASARI, asari, *hand)
        if last is None or sections is not last.sections:
            before = _NO_COUNTS if last is None else last.sections
            _write_counts(entries, _SECTIONS, list(sections), list(before))
        if last is None or lit is not last.lit_windows:
            before = _NO_COUNTS if last is None else last.lit_windows
            _write_counts(entries, _LIT_WINDOWS, list(lit), list(before))
        if last is None or face_down != last.face_down:
            _write_face_down(group, face_down)
        if last is None or known != last.known_lit_windows:
            _write_known(group, known)
        if last is None or (piles, buyers, windows) != last[-3:]:
            _write_searched(group, piles, buyers, windows)


def _more_of(marks: tuple[Dispatched, ...], before: tuple[Dispatched, ...]) -> bool:
    """Return True if the marks include all earlier marks, so only new marks need writing."""
    if len(marks) < len(before) or marks[0][0][0] == _COLOURED:
        return False
    return all(mark in marks for mark in before)


def _write_cards(entries: memoryview[float], first: int, cards: Iterable[GiftCard]) -> None:
    """Add cards to entries that are still 0."""
    for card in cards:
        kind = int(card.kind)
        if kind == _CHOOSE_BUYER:
            entries[first] += 1
        elif kind == _ASARI_CARD:
            entries[first + 1] += card.asari
        elif kind == _BUY_SECTION:
            entries[first + 1 + int(card.section_kind)] += 1
        elif kind == _PRESTIGE_CARD:
            entries[first + 6] += card.prestige
        else:
            entries[first + 7] += 1


def _write_face_down(
    group: _Group, laid: tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
) -> None:
    group.clear(_FACE_DOWN, _KNOWN)
    for _, colours in laid:
        for buyer in colours:
            group.entries[_FACE_DOWN + int(buyer) - 1] += 1


def _write_known(group: _Group, known: tuple[tuple[int, Colour], ...]) -> None:
    group.clear(_KNOWN, _SEARCHED)
    for above, colour in known:
        group.entries[_KNOWN + above * 5 + int(colour) - 1] = 1.0


def _write_counts(
    entries: memoryview[float], first: int, counts: list[int], before: list[int]
) -> None:
    """Write the counts that differ from the previous counts."""
    for index in range(len(counts)):
        count = counts[index]
        if count != before[index]:
            entries[first + index] = float(count)


def _write_towers(data: bytearray, towers: tuple[Tower, ...], old: tuple[Tower, ...]) -> None:
    """Write a seat's towers where they differ from the previous view."""
    ranks = [-1] * 6
    for index in range(len(old)):
        if index >= len(towers) or towers[index][0] != old[index][0]:
            data[_TOWERS_AT:] = bytes(len(data) - _TOWERS_AT)  # another match
            old = ()
            break
    for index in range(len(towers)):
        tower = towers[index]
        colour = int(tower[0])
        ranks[colour] += 1
        if index >= len(old) or tower is not old[index]:
            at = _TOWERS_AT + (colour - 1) * _COLOUR_SIZE + ranks[colour] * _TOWER_SIZE
            _write_10(data, at, 1, index + 1, *tower[1:])


def _write_searched(
    group: _Group,
    sections: tuple[Section, ...],
    buyers: tuple[BuyerColour, ...],
    lit_windows: tuple[Colour, ...],
) -> None:
    group.clear(_SEARCHED, _PRIVATE_SIZE)
    entries = group.entries
    for section in sections:
        entries[_SEARCHED + _SECTION_NUMBERS[section]] += 1
    for buyer in buyers:
        entries[_SEARCHED + 39 + int(buyer)] += 1
    for colour in lit_windows:
        entries[_SEARCHED + 44 + int(colour)] += 1


def _plain_decision(
    decides: bool, kind: int, space: int, sections: int, keep: int, steps: int
) -> bytearray:
    """Return the entries of a decision without gift cards; of build steps, only the number."""
    group = _Group(_DECISION_SIZE)
    entries = group.entries
    entries[0] = decides
    entries[kind] = 1
    if space >= 0:
        entries[_SPACE + space] = 1
    entries[_TO_BUILD] = sections
    entries[_TO_KEEP] = keep
    entries[_BUILD_STEPS] = steps
    return group.data


_BEGINS_TURN: Final = _plain_decision(True, _SPACE_KIND, -1, 0, 0, 0)
"""The entries of the decision that begins a turn."""


def _write_steps(
    entries: memoryview[float], steps: Sequence[Action], towers: Sequence[Tower]
) -> None:
    """Write the progress of a build: the last step, and windows that cannot be lit."""
    last = steps[-1]
    if isinstance(last, FoundTower):
        entries[_STEP_COLOUR + last.colour - 1] = 1
        entries[_STEP_KIND] = 1
    elif isinstance(last, ExtendTower | LightWindow):
        entries[_STEP_COLOUR + towers[last.tower - 1].colour - 1] = 1
        entries[_STEP_TOWER] = last.tower
        if isinstance(last, LightWindow):
            entries[_STEP_KIND + 3] = 1
            entries[_STEP_KIND + 4] = last.gold
        else:
            entries[_STEP_KIND + last.section.kind - 1] = 1
            entries[_STEP_KIND + 4] = last.section.gold
    for step in steps:
        if isinstance(step, ExtendTower) and step.section.kind == SectionKind.WINDOW:
            colour = step.section.colour
            rank = sum([tower.colour == colour for tower in towers[: step.tower - 1]])
            slot = (colour - 1) * TOWERS_PER_COLOUR + rank
            entries[_NEW_WINDOWS + slot * 2 + step.section.gold] += 1
