"""What a seat may know.

This module alone decides which parts of a state anybody sees. Every part of a view is an immutable
tuple or int, so that a sender can keep the bytes of parts that do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from .actions import Action
from .engine import decision
from .rules import Rules
from .state import Decision, Dispatched, State, buyer_counts, known_lit_window, lit_colour
from .vocabulary import (
    MARKET_TYPES,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    Space,
    Tower,
)

__all__ = [
    "PrivateView",
    "PublicView",
    "RunningView",
    "SeatView",
    "View",
    "private_view",
    "public_view",
    "view",
]


class SeatView(NamedTuple):
    """The public part of a seat."""

    prestige: int
    hand_size: int
    """Number of buyers."""
    lit_windows: int
    """Number of lit windows held and not built."""
    towers: tuple[Tower, ...]


class PublicView(NamedTuple):
    """All that everybody at the table knows. Areas are numbered as in Area, and 0 is unused."""

    year: int
    turn_seat: int
    patronage_seat: int
    buyer_pile_size: int
    lit_stack_size: int
    gift_deck_size: int
    displays: tuple[tuple[int, ...], ...]
    """By market: the counts of its ten MARKET_TYPES on display."""
    pile_sizes: tuple[int, ...]
    """By market."""
    area_colours: tuple[int, ...]
    """Buyer colour to follow in each area, or 0."""
    dispatched: tuple[tuple[Dispatched, ...], ...]
    """By area: this year's dispatches, by space and time."""
    chests: tuple[tuple[Space, tuple[GiftCard, ...]], ...]
    """Chest spaces that hold cards; the oldest card first."""
    seats: tuple[SeatView, ...]


class PrivateView(NamedTuple):
    """All that one seat alone knows."""

    seat: int
    asari: int
    hand: tuple[int, ...]
    """Number of buyers by colour."""
    sections: tuple[int, ...]
    """Counts of unbuilt sections, in the order of SECTION_TYPES."""
    lit_windows: tuple[int, ...]
    """Number of lit windows held and not built, by colour."""
    face_down: tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
    """The seat's own buyers that lie face down this year."""
    known_lit_windows: tuple[tuple[int, Colour], ...]
    """Lit windows in the stack whose place the seat knows: windows above it, colour (RULES R9)."""
    searched_sections: tuple[Section, ...]
    """The pile being searched, by colour, plain before gold."""
    searched_buyers: tuple[BuyerColour, ...]
    """The buyer pile by colour, while a gift card lets the seat choose."""
    searched_lit_windows: tuple[Colour, ...]
    """Lit windows drawn (as drawn, without those kept or returned) or searched (by colour), while
    the seat chooses."""


class View(NamedTuple):
    """All that a seat may know."""

    rules: Rules
    public: PublicView
    private: PrivateView
    decision: Decision | None
    """The open decision, if it is this seat's or begins a turn."""
    legal: tuple[Action, ...]
    """The seat's legal actions; () while another seat decides."""


_COLOURS: Final = tuple(Colour)
_BUYERS: Final = tuple(BuyerColour)
_new: Final = tuple.__new__
"""Makes a named tuple in a third of the time that calling its class takes."""

_Counts = tuple[int, ...]
_Searched = tuple[tuple[Section, ...], tuple[BuyerColour, ...], tuple[Colour, ...]]
_Chests = tuple[tuple[Space, tuple[GiftCard, ...]], ...]
_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]


def public_view(state: State) -> PublicView:
    """Return what everybody knows now, including the present turn as far as it has come."""
    return _public(
        state,
        _displays(state),
        _pile_sizes(state),
        tuple(state.area_colours),
        tuple(state.dispatched),
        _chests(state),
        tuple([_seat(state, seat) for seat in range(len(state.towers))]),
    )


def view(state: State, seat: int) -> View:
    """Return all that a seat may know now."""
    deciding = state.seat == seat
    asked = None
    if deciding or (state.seat >= 0 and state.kind is DecisionKind.SPACE):
        asked = decision(state)
    legal = tuple(state.legal) if deciding else ()
    return _new(View, (state.rules, public_view(state), private_view(state, seat), asked, legal))


def private_view(state: State, seat: int) -> PrivateView:
    """Return what a seat alone knows now."""
    sections, lit_windows = tuple(state.unbuilt_of(seat)), tuple(state.lit_held_by(seat))
    searched = _searched(state) if state.seat == seat else _NOTHING_SEARCHED
    return _private(state, seat, sections, lit_windows, searched)


class RunningView:
    """Views of the seat that decides, one decision after the other.

    Each is equal to `view(state, state.seat)`, but parts that have not changed since the last one
    are the same objects, so that a sender can skip them. Without that, audits would take a fifth
    longer.
    """

    __slots__ = (
        "_chests",
        "_display_counts",
        "_lit_held",
        "_privates",
        "_public",
        "_state",
        "_unbuilt",
    )

    def __init__(self, state: State) -> None:
        self._state = state
        self._public = public_view(state)
        self._privates: list[PrivateView | None] = [None] * len(self._public.seats)
        # Copies of lists of the state as they were when parts of these views were made of them.
        self._chests = state.chests[:]
        self._display_counts = state.display_counts[:]
        self._lit_held = state.lit_held[:]
        self._unbuilt: list[list[int]] = [[] for _ in self._privates]

    def public(self) -> PublicView:
        """Return what everybody knows now, including the present turn as far as it has come."""
        return self._look(self._state)

    def deciding(self, public: PublicView | None = None) -> View:
        """Return the view of the seat that decides; `public` is its public part, if known."""
        state = self._state
        if public is None:
            public = self._look(state)
        private = self._look_into(state, state.seat)
        if state.kind in _SEARCHING:
            private = _new(PrivateView, (*private[:-3], *_searched(state)))
        return _new(View, (state.rules, public, private, decision(state), tuple(state.legal)))

    def _look(self, state: State) -> PublicView:
        """Bring the public view up to date."""
        last = self._public
        _, _, _, _, _, _, displays, last_sizes, last_colours, last_dispatched, chests, seats = last
        if state.display_counts != self._display_counts:
            self._display_counts = state.display_counts[:]
            displays = _displays(state)
        if state.chests != self._chests:
            self._chests = state.chests[:]
            chests = _chests(state)
        sizes = _pile_sizes(state)
        colours = tuple(state.area_colours)
        dispatched = tuple(state.dispatched)
        public = _public(
            state,
            displays,
            last_sizes if sizes == last_sizes else sizes,
            last_colours if colours == last_colours else colours,
            last_dispatched if dispatched == last_dispatched else dispatched,
            chests,
            self._look_at_seats(state, seats),
        )
        if public == last:
            return last
        self._public = public
        return public

    def _look_at_seats(self, state: State, seats: tuple[SeatView, ...]) -> tuple[SeatView, ...]:
        """Bring the public parts of the seats up to date."""
        if state.lit_held != self._lit_held:
            self._lit_held = state.lit_held[:]
            return tuple([_seat(state, seat) for seat in range(len(seats))])
        for seat, (prestige, hand_size, _, towers) in enumerate(seats):
            if (
                state.hand_sizes[seat] != hand_size
                or state.prestige[seat] != prestige
                or state.towers[seat] is not towers
            ):
                seats = (*seats[:seat], _seat(state, seat), *seats[seat + 1 :])
        return seats

    def _look_into(self, state: State, seat: int) -> PrivateView:
        """Bring the private view of a seat up to date; nothing is searched."""
        last = self._privates[seat]
        unbuilt = state.unbuilt_of(seat)
        lit_windows = tuple(state.lit_held_by(seat))
        if last is not None and unbuilt == self._unbuilt[seat]:
            sections = last.sections
            if lit_windows == last.lit_windows:
                lit_windows = last.lit_windows
        else:
            self._unbuilt[seat] = unbuilt
            sections = tuple(unbuilt)
        private = _private(state, seat, sections, lit_windows, _NOTHING_SEARCHED)
        if private == last:
            return last
        self._privates[seat] = private
        return private


def _public(
    state: State,
    displays: tuple[_Counts, ...],
    pile_sizes: _Counts,
    colours: _Counts,
    dispatched: tuple[tuple[Dispatched, ...], ...],
    chests: _Chests,
    seats: tuple[SeatView, ...],
) -> PublicView:
    return _new(
        PublicView,
        (
            state.year,
            state.turn_seat,
            state.patronage_seat,
            len(state.buyer_pile),
            len(state.lit_stack),
            len(state.gift_deck),
            displays,
            pile_sizes,
            colours,
            dispatched,
            chests,
            seats,
        ),
    )


def _displays(state: State) -> tuple[_Counts, ...]:
    counts = tuple(state.display_counts)
    return (counts[:10], counts[10:20], counts[20:30], counts[30:])


def _pile_sizes(state: State) -> _Counts:
    bases, trunks, windows, turrets = state.piles
    return (len(bases), len(trunks), len(windows), len(turrets))


def _chests(state: State) -> _Chests:
    held = zip(state.rules.chests, state.chests, strict=True)
    return tuple([(info.space, cards) for info, cards in held if cards])


def _seat(state: State, seat: int) -> SeatView:
    lit_windows = sum(state.lit_held_by(seat))
    return _new(
        SeatView, (state.prestige[seat], state.hand_sizes[seat], lit_windows, state.towers[seat])
    )


def _private(
    state: State,
    seat: int,
    sections: _Counts,
    lit_windows: _Counts,
    searched: _Searched,
) -> PrivateView:
    return _new(
        PrivateView,
        (
            seat,
            state.money[seat],
            buyer_counts(state.hands[seat]),
            sections,
            lit_windows,
            _face_down(state.face_down, seat) if state.face_down else (),
            _known_lit_windows(state.lit_stack, seat) if state.lit_stack else (),
            *searched,
        ),
    )


def _face_down(laid: Iterable[tuple[int, Space, tuple[BuyerColour, ...]]], seat: int) -> _FaceDown:
    return tuple([(space, buyers) for owner, space, buyers in laid if owner == seat])


_NOTHING_SEARCHED: Final[_Searched] = ((), (), ())
_SEARCHING: Final = frozenset(
    {
        DecisionKind.PILE_SECTION,
        DecisionKind.GIFT_BUYER,
        DecisionKind.LIT_KEEP,
        DecisionKind.GIFT_LIT_WINDOW,
        DecisionKind.LIT_RETURN,
    }
)

_DRAWN: Final = frozenset({DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN})


def _searched(state: State) -> _Searched:
    """The sections, buyers and lit windows that the deciding seat looks through."""
    kind = state.kind
    if kind not in _SEARCHING:
        return _NOTHING_SEARCHED
    if kind == DecisionKind.PILE_SECTION:
        market = state.searched_market
        types = MARKET_TYPES[market]
        return tuple(types[number] for number in sorted(state.piles[market])), (), ()
    if kind == DecisionKind.GIFT_BUYER:
        return (), tuple(_BUYERS[colour - 1] for colour in sorted(state.buyer_pile)), ()
    if kind in _DRAWN:
        return (), (), tuple(_COLOURS[colour - 1] for colour in state.lit_drawn)
    windows = sorted(map(lit_colour, state.lit_stack))
    return (), (), tuple(_COLOURS[colour - 1] for colour in windows)


def _known_lit_windows(stack: Sequence[int], seat: int) -> tuple[tuple[int, Colour], ...]:
    """Windows above, and colour, of each lit window whose place the seat knows; the upper first."""
    known = known_lit_window(seat, 0)
    top = len(stack) - 1
    found = [
        (top - index, _COLOURS[lit_colour(window) - 1])
        for index, window in enumerate(stack)
        if window & ~7 == known
    ]
    found.reverse()
    return tuple(found)
