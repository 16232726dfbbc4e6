"""What a seat may know.

Only this module decides which parts of a state a seat or spectator can see. Every part of a view is
an immutable tuple or int, so a sender can reuse the bytes of unchanged parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from .actions import Action
from .engine import decision
from .rules import Rules
from .state import (
    Decision,
    Dispatched,
    State,
    buyer_counts,
    known_lit_window,
    lit_colour,
    lit_index,
)
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


class SeatView(NamedTuple):
    """The public information about a seat."""

    prestige: int
    hand_size: int
    """Number of buyers."""
    lit_windows: int
    """Number of lit windows held and not built."""
    towers: tuple[Tower, ...]


class PublicView(NamedTuple):
    """Everything that is public at the table. Areas are numbered as in Area; index 0 is unused."""

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
    """By area: the buyer colour that must be followed, or 0."""
    dispatched: tuple[tuple[Dispatched, ...], ...]
    """By area: this year's dispatches, by space and time."""
    chests: tuple[tuple[Space, tuple[GiftCard, ...]], ...]
    """Chest spaces that hold cards; the oldest card first."""
    seats: tuple[SeatView, ...]


class PrivateView(NamedTuple):
    """Everything that only one seat knows."""

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
    """Stack windows whose place the seat knows: number of windows above, colour (ruling R9)."""
    searched_sections: tuple[Section, ...]
    """Sections of the pile being searched, by colour, plain before gold."""
    searched_buyers: tuple[BuyerColour, ...]
    """Buyers in the pile, by colour, while a gift card lets the seat choose one."""
    searched_lit_windows: tuple[Colour, ...]
    """Lit windows that the seat is choosing from. Drawn windows are in the order drawn, without
    those already kept or returned; searched windows are by colour."""


class View(NamedTuple):
    """Everything that a seat may know."""

    rules: Rules
    public: PublicView
    private: PrivateView
    decision: Decision | None
    """The open decision, if it belongs to this seat or begins a turn."""
    legal: tuple[Action, ...]
    """The seat's legal actions; () while another seat decides."""


_SPACE: Final = DecisionKind.SPACE
_BUYERS: Final = DecisionKind.BUYERS
_COLOURS: Final = tuple(Colour)
_BUYER_COLOURS: Final = tuple(BuyerColour)
_new: Final = tuple.__new__
"""Makes a named tuple three times as fast as calling its class."""

_Searched = tuple[tuple[Section, ...], tuple[BuyerColour, ...], tuple[Colour, ...]]
_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
_Known = tuple[tuple[int, Colour], ...]


def view(
    state: State,
    seat: int,
    public: PublicView | None = None,
    private: PrivateView | None = None,
) -> View:
    """Return everything that a seat may know now. Pass the parts that have not changed."""
    if public is None:
        public = public_view(state)
    if private is None:
        private = private_view(state, seat)
    if state.seat == seat:
        return _new(View, (state.rules, public, private, decision(state), tuple(state.legal)))
    asked = decision(state) if state.seat >= 0 and state.kind is _SPACE else None
    return _new(View, (state.rules, public, private, asked, ()))


def public_view(state: State) -> PublicView:
    """Return the public information, including the current turn so far."""
    counts = tuple(state.display_counts)
    bases, trunks, windows, turrets = state.piles
    chests = state.rules.chests
    held = enumerate(state.chests)  # compiled, a fraction of the time that a strict `zip` takes
    return _new(
        PublicView,
        (
            state.year,
            state.turn_seat,
            state.patronage_seat,
            len(state.buyer_pile),
            len(state.lit_stack),
            len(state.gift_deck),
            (counts[:10], counts[10:20], counts[20:30], counts[30:]),
            (len(bases), len(trunks), len(windows), len(turrets)),
            tuple(state.area_colours),
            tuple(state.dispatched),
            tuple([(chests[index].space, cards) for index, cards in held if cards]),
            tuple([_seat_view(state, seat) for seat in range(len(state.towers))]),
        ),
    )


def _seat_view(state: State, seat: int) -> SeatView:
    lit_windows = lit_windows_of(state, seat) if state.rules.professional else 0
    return _new(
        SeatView, (state.prestige[seat], state.hand_sizes[seat], lit_windows, state.towers[seat])
    )


def lit_windows_of(state: State, seat: int) -> int:
    """Return the number of lit windows that a seat holds and has not built."""
    held, at = state.lit_held, lit_index(seat, 1)
    return held[at] + held[at + 1] + held[at + 2] + held[at + 3] + held[at + 4]


def private_view(state: State, seat: int) -> PrivateView:
    """Return what only this seat knows now."""
    stack, kind = state.lit_stack, state.kind
    sections, buyers, windows = _NOTHING_SEARCHED
    if state.seat == seat and kind is not _SPACE and kind is not _BUYERS:
        sections, buyers, windows = searched(state)
    return _new(
        PrivateView,
        (
            seat,
            state.money[seat],
            buyer_counts(state.hands[seat]),
            tuple(state.unbuilt_of(seat)),
            tuple(state.lit_held_by(seat)),
            face_down_of(state.face_down, seat) if state.face_down else (),
            known_lit_windows(stack, seat) if stack and max(stack) > 7 else (),
            sections,
            buyers,
            windows,
        ),
    )


def face_down_of(
    laid: Iterable[tuple[int, Space, tuple[BuyerColour, ...]]], seat: int
) -> _FaceDown:
    """Return the spaces and colours of a seat's own face-down buyers."""
    return tuple([(space, buyers) for owner, space, buyers in laid if owner == seat])


_NOTHING_SEARCHED: Final[_Searched] = ((), (), ())
SEARCHING: Final = frozenset(
    {
        DecisionKind.PILE_SECTION,
        DecisionKind.GIFT_BUYER,
        DecisionKind.LIT_KEEP,
        DecisionKind.GIFT_LIT_WINDOW,
        DecisionKind.LIT_RETURN,
    }
)

_DRAWN: Final = frozenset({DecisionKind.LIT_KEEP, DecisionKind.LIT_RETURN})


def searched(state: State) -> _Searched:
    """Return the sections, buyers and lit windows that the deciding seat is looking through."""
    kind = state.kind
    if kind not in SEARCHING:
        return _NOTHING_SEARCHED
    if kind == DecisionKind.PILE_SECTION:
        market = state.searched_market
        types = MARKET_TYPES[market]
        return tuple(types[number] for number in sorted(state.piles[market])), (), ()
    if kind == DecisionKind.GIFT_BUYER:
        return (), tuple(_BUYER_COLOURS[colour - 1] for colour in sorted(state.buyer_pile)), ()
    if kind in _DRAWN:
        return (), (), tuple(_COLOURS[colour - 1] for colour in state.lit_drawn)
    windows = sorted(map(lit_colour, state.lit_stack))
    return (), (), tuple(_COLOURS[colour - 1] for colour in windows)


def known_lit_windows(stack: Sequence[int], seat: int) -> _Known:
    """Return (windows above, colour) for each lit window whose place is known; topmost first."""
    known = known_lit_window(seat, 0)
    top = len(stack) - 1
    found = [
        (top - index, _COLOURS[lit_colour(window) - 1])
        for index, window in enumerate(stack)
        if window & ~7 == known
    ]
    found.reverse()
    return tuple(found)
