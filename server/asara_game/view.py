"""What a seat may know.

States are taken apart for somebody's eyes in this module alone. Every part of a view is an
immutable tuple or int, so that whoever sends views can remember the bytes of their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from .actions import Action
from .engine import decision
from .events import (
    BuyersDispatched,
    DisplayFilled,
    Event,
    GiftLaid,
    GiftTaken,
    LitWindowsDrawn,
    LitWindowsKept,
    SectionTaken,
    TowerExtended,
    TowerFounded,
    WindowLit,
    YearStarted,
)
from .rules import Rules
from .state import Decision, Dispatched, State
from .vocabulary import (
    SECTION_TYPES,
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
    "public_view",
    "view",
]


class SeatView(NamedTuple):
    """What everybody knows of a seat."""

    prestige: int
    hand_size: int
    #: Lit windows held and not yet built.
    lit_windows: int
    towers: tuple[Tower, ...]


class PublicView(NamedTuple):
    """What everybody at the table knows."""

    year: int
    turn_seat: int
    patronage_seat: int
    buyer_pile_size: int
    lit_stack_size: int
    gift_deck_size: int
    #: By section kind: ten counts, (colour-1)*2 + gold.
    displays: tuple[tuple[int, ...], ...]
    #: By section kind.
    pile_sizes: tuple[int, ...]
    #: By area number (0 is unused): 0 or the buyer colour to follow.
    area_colours: tuple[int, ...]
    #: By area number: what lies there, by space and time.
    dispatched: tuple[tuple[Dispatched, ...], ...]
    #: Chest spaces that hold cards; the oldest card first.
    chests: tuple[tuple[Space, tuple[GiftCard, ...]], ...]
    #: By seat.
    seats: tuple[SeatView, ...]


class PrivateView(NamedTuple):
    """What one seat alone knows."""

    seat: int
    asari: int
    #: Five counts by buyer colour.
    hand: tuple[int, ...]
    #: Unbuilt sections: forty counts, (kind-1)*10 + (colour-1)*2 + gold.
    sections: tuple[int, ...]
    #: Lit windows held: five counts by colour.
    lit_windows: tuple[int, ...]
    #: Own buyers that lie face down this year.
    face_down: tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
    #: Lit windows in the stack whose place the seat knows: windows above it, colour (RULES R9).
    known_lit_windows: tuple[tuple[int, Colour], ...]
    #: The pile being searched, by colour, plain before gold.
    searched_sections: tuple[Section, ...]
    #: The buyer pile, while a gift card lets the seat choose.
    searched_buyers: tuple[BuyerColour, ...]
    #: Lit windows drawn (as drawn) or searched (by colour), while the seat chooses.
    searched_lit_windows: tuple[Colour, ...]


class View(NamedTuple):
    """All that a seat may know."""

    rules: Rules
    public: PublicView
    private: PrivateView
    #: What is asked: of this seat, or of anybody between turns. None within another seat's turn.
    decision: Decision | None
    #: What this seat may answer; () while another decides.
    legal: tuple[Action, ...]


_COLOURS: Final = tuple(Colour)
_BUYERS: Final = tuple(BuyerColour)
#: For each section of a view (kind, colour, gold) its place in a stock (colour, kind, gold).
STOCK_INDEX: Final = tuple(
    (section.colour - 1) * 8 + (section.kind - 1) * 2 + section.gold for section in SECTION_TYPES
)
_by_kind: Final = itemgetter(*STOCK_INDEX)
#: Makes a named tuple in a third of the time that calling its class takes.
_new: Final = tuple.__new__
_seat_view: Final = partial(_new, SeatView)

_Sections = tuple[Section, ...]
_Searched = tuple[_Sections, tuple[BuyerColour, ...], tuple[Colour, ...]]
_Chests = tuple[tuple[Space, tuple[GiftCard, ...]], ...]
_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]


def public_view(state: State) -> PublicView:
    """What everybody knows now. Within a turn it shows what has been done of it so far."""
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
    """All that `seat` may know now."""
    deciding = state.seat == seat
    asked = None
    if deciding or (state.seat >= 0 and state.kind is DecisionKind.SPACE):
        asked = decision(state)
    private = _private(
        state,
        seat,
        _stock(state, seat),
        _lit(state, seat),
        _searched(state) if deciding else _NOTHING_SEARCHED,
    )
    legal = tuple(state.legal) if deciding else ()
    return _new(View, (state.rules, public_view(state), private, asked, legal))


class RunningView:
    """The view of the seat that decides, as a match goes on: what `view` makes, for less.

    It has to hear of everything that happens. From one decision to the next little changes, and
    what did not change is not only equal in the next view, but mostly the same object.
    """

    __slots__ = ("_acting", "_privates", "_public", "_seats", "_stale", "_stale_privates", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        #: Who acts next.
        self._acting = state.seat
        self._public = public_view(state)
        self._seats = list(self._public.seats)
        self._privates: list[PrivateView | None] = [None] * len(self._seats)
        #: What has changed since the last public view, and since the private ones.
        self._stale = self._stale_privates = 0

    def changed(self, events: Sequence[Event]) -> None:
        """The seat that was to decide did so, and these events followed."""
        state = self._state
        if events or state.kind is not _LAYING:  # choosing a space changes nothing by itself
            stale = _ACTED << self._acting
            for event in events:
                everywhere, own = _STALE.get(type(event), _ACTED_ONLY)
                stale |= everywhere | own << event.seat
            self._stale |= stale
            self._stale_privates |= stale
        self._acting = state.seat

    def deciding(self) -> View:
        """The view of the seat that decides."""
        state = self._state
        if self._stale:
            self._look(state, self._stale)
            self._stale = 0
        seat = state.seat
        private = self._privates[seat]
        if private is None or self._stale_privates >> seat & (_ACTED | _STOCK):
            private = self._look_into(state, seat, private)
        if state.kind in _SEARCHING:
            private = _new(PrivateView, (*private[:-3], *_searched(state)))
        return _new(View, (state.rules, self._public, private, decision(state), tuple(state.legal)))

    def _look(self, state: State, stale: int) -> None:
        """Bring the public view up to date."""
        public = self._public
        displays, pile_sizes = public.displays, public.pile_sizes
        colours, dispatched, chests = public.area_colours, public.dispatched, public.chests
        if stale & _MARKETS:
            displays, pile_sizes = _displays(state), _pile_sizes(state)
        if stale & _BOARD:
            colours, dispatched = tuple(state.area_colours), tuple(state.dispatched)
        if stale & _GIFTS:
            chests = _chests(state)
        seats = self._seats
        for seat in range(len(seats)):
            if stale >> seat & _ACTED:
                seats[seat] = _seat(state, seat)
        self._public = _public(
            state, displays, pile_sizes, colours, dispatched, chests, tuple(seats)
        )

    def _look_into(self, state: State, seat: int, before: PrivateView | None) -> PrivateView:
        """Bring the private view of a seat up to date."""
        if before is None or self._stale_privates >> seat & _STOCK:
            stock, lit = _stock(state, seat), _lit(state, seat)
        else:
            stock, lit = before.sections, before.lit_windows
        self._stale_privates &= ~((_ACTED | _STOCK) << seat)
        private = self._privates[seat] = _private(state, seat, stock, lit, _NOTHING_SEARCHED)
        return private


#: What an event makes stale: bits of the table, and two bits of each seat.
_ACTED: Final = 1
_STOCK: Final = 1 << 8
_ALL_ACTED: Final = 0xFF
_MARKETS: Final = 1 << 16
_BOARD: Final = 1 << 17
_GIFTS: Final = 1 << 18
_ACTED_ONLY: Final = (0, _ACTED)
_STALE: Final[dict[type, tuple[int, int]]] = {
    YearStarted: (_ALL_ACTED | _BOARD, 0),
    DisplayFilled: (_MARKETS, 0),
    GiftLaid: (_GIFTS, 0),
    GiftTaken: (_GIFTS, _ACTED),
    BuyersDispatched: (_BOARD, _ACTED),
    SectionTaken: (_MARKETS, _ACTED | _STOCK),
    TowerFounded: (0, _ACTED | _STOCK),
    TowerExtended: (0, _ACTED | _STOCK),
    WindowLit: (0, _ACTED | _STOCK),
    LitWindowsDrawn: (_ALL_ACTED, _STOCK),  # the places of those that stay in the stack move
    LitWindowsKept: (_ALL_ACTED, _STOCK),
}


def _public(
    state: State,
    displays: tuple[tuple[int, ...], ...],
    pile_sizes: tuple[int, ...],
    colours: tuple[int, ...],
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


def _displays(state: State) -> tuple[tuple[int, ...], ...]:
    display = tuple(state.display_counts)
    return (display[:10], display[10:20], display[20:30], display[30:])


def _pile_sizes(state: State) -> tuple[int, ...]:
    bases, trunks, windows, turrets = state.piles
    return (len(bases), len(trunks), len(windows), len(turrets))


def _chests(state: State) -> _Chests:
    held = zip(state.rules.chests, state.chests, strict=True)
    return tuple([(info.space, cards) for info, cards in held if cards])


def _seat(state: State, seat: int) -> SeatView:
    lit_windows = sum(state.lit_held[seat * 5 : seat * 5 + 5])
    return _seat_view(
        (state.prestige[seat], state.hand_sizes[seat], lit_windows, state.towers[seat])
    )


def _stock(state: State, seat: int) -> tuple[int, ...]:
    stock: tuple[int, ...] = _by_kind(state.unbuilt[seat * 40 : seat * 40 + 40])
    return stock


def _lit(state: State, seat: int) -> tuple[int, ...]:
    return tuple(state.lit_held[seat * 5 : seat * 5 + 5])


def _private(
    state: State,
    seat: int,
    stock: tuple[int, ...],
    lit: tuple[int, ...],
    searched: _Searched,
) -> PrivateView:
    hand = state.hands[seat]
    return _new(
        PrivateView,
        (
            seat,
            state.money[seat],
            (hand & 63, hand >> 6 & 63, hand >> 12 & 63, hand >> 18 & 63, hand >> 24),
            stock,
            lit,
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
    }
)
_LAYING: Final = DecisionKind.BUYERS


def _searched(state: State) -> _Searched:
    """What the seat that decides looks through: sections, buyers, lit windows."""
    kind = state.kind
    if kind not in _SEARCHING:
        return _NOTHING_SEARCHED
    if kind == DecisionKind.PILE_SECTION:
        base = state.searched_market * 10
        pile = sorted(state.piles[state.searched_market])
        return tuple(SECTION_TYPES[base + section] for section in pile), (), ()
    if kind == DecisionKind.GIFT_BUYER:
        return (), tuple(_BUYERS[colour - 1] for colour in sorted(state.buyer_pile)), ()
    if kind == DecisionKind.LIT_KEEP:
        return (), (), tuple(_COLOURS[colour - 1] for colour in state.lit_drawn)
    windows = sorted(window & 7 for window in state.lit_stack)
    return (), (), tuple(_COLOURS[colour - 1] for colour in windows)


def _known_lit_windows(stack: Sequence[int], seat: int) -> tuple[tuple[int, Colour], ...]:
    known = seat + 1
    top = len(stack) - 1
    found = [
        (top - index, _COLOURS[(window & 7) - 1])
        for index, window in enumerate(stack)
        if window >> 3 == known
    ]
    found.reverse()
    return tuple(found)
