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

_Counts = tuple[int, ...]
_Searched = tuple[tuple[Section, ...], tuple[BuyerColour, ...], tuple[Colour, ...]]
_Chests = tuple[tuple[Space, tuple[GiftCard, ...]], ...]
_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
_Laid = list[tuple[int, Space, tuple[BuyerColour, ...]]]
_Known = tuple[tuple[int, Colour], ...]


def public_view(state: State) -> PublicView:
    """Return the public information, including the current turn so far."""
    return _public(
        state,
        _displays(state),
        _pile_sizes(state),
        tuple(state.area_colours),
        tuple(state.dispatched),
        _chests(state),
        tuple(
            [_seat(state, seat, lit_windows_of(state, seat)) for seat in range(len(state.towers))]
        ),
    )


def view(state: State, seat: int) -> View:
    """Return everything that a seat may know now."""
    legal = tuple(state.legal) if state.seat == seat else ()
    seen = public_view(state), private_view(state, seat)
    return _new(View, (state.rules, *seen, _asked(state, seat), legal))


def _asked(state: State, seat: int) -> Decision | None:
    if state.seat == seat or (state.seat >= 0 and state.kind is _SPACE):
        return decision(state)
    return None


def private_view(state: State, seat: int) -> PrivateView:
    """Return what only this seat knows now."""
    sections, lit_windows = tuple(state.unbuilt_of(seat)), tuple(state.lit_held_by(seat))
    sought = searched(state) if state.seat == seat else _NOTHING_SEARCHED
    return _private(state, seat, sections, lit_windows, sought)


class RunningView:
    """Views of a match, one decision after the other, usually for the deciding seat.

    Each view equals `view(state, seat)`. If a part has not changed since the last view, it is the
    same object, so a sender can skip it. To detect changes, copies of the state's own lists and
    numbers are compared before any new part is built.
    """

    __slots__ = (
        "_asari",
        "_buyer_pile_size",
        "_chests",
        "_chooser",
        "_chosen_after",
        "_colours",
        "_dispatched",
        "_display_counts",
        "_face_down_by_seat",
        "_gift_deck_size",
        "_hands",
        "_lit_held",
        "_lit_held_by_seat",
        "_lit_stack_by_seat",
        "_lit_stack_size",
        "_patronage_seat",
        "_pile_sizes",
        "_privates",
        "_public",
        "_state",
        "_turn_seat",
        "_unbuilt",
        "_year",
    )

    def __init__(self, state: State) -> None:
        self._state = state
        self._public = public_view(state)
        # Copies of the state as it was when parts of the public view were made of it.
        self._year = state.year
        self._turn_seat = state.turn_seat
        self._patronage_seat = state.patronage_seat
        self._buyer_pile_size = len(state.buyer_pile)
        self._lit_stack_size = len(state.lit_stack)
        self._gift_deck_size = len(state.gift_deck)
        self._display_counts = state.display_counts[:]
        self._pile_sizes = list(_pile_sizes(state))
        self._colours = state.area_colours[:]
        self._dispatched = state.dispatched[:]
        self._chests = state.chests[:]
        self._lit_held = state.lit_held[:]
        self._chooser = -1  # seat that was asked for a space last, and the number of events then
        self._chosen_after = -1
        # And by seat, as it was when the private view was made of it.
        seats = len(state.towers)
        self._privates: list[PrivateView | None] = [None] * seats
        self._asari = [0] * seats
        self._hands = [0] * seats
        self._unbuilt: list[list[int]] = [[] for _ in range(seats)]
        self._lit_held_by_seat: list[list[int]] = [[] for _ in range(seats)]
        self._face_down_by_seat: list[_Laid] = [[] for _ in range(seats)]
        self._lit_stack_by_seat: list[list[int]] = [[] for _ in range(seats)]

    def public(self) -> PublicView:
        """Return the public information, including the current turn so far."""
        return self._look(self._state)

    def deciding(self, public: PublicView | None = None, events: int = -1) -> View:
        """Return the view of the deciding seat. Pass `public` if you have the public part.

        `events` is the number of events so far, if known. If a seat has chosen a space and now
        chooses buyers, and no event came in between, the seat sees the same as before.
        """
        state = self._state
        seat = state.seat
        if public is None:
            public = self._look(state)
        private = None
        if state.kind is _BUYERS and seat == self._chooser and events == self._chosen_after:
            private = self._privates[seat]
        if private is None:
            private = self._look_into(state, seat)
        self._chooser = seat if state.kind is _SPACE and events >= 0 else -1
        self._chosen_after = events
        if state.kind in SEARCHING:
            private = _new(PrivateView, (*private[:-3], *searched(state)))
        return _new(View, (state.rules, public, private, decision(state), tuple(state.legal)))

    def of(self, seat: int) -> View:
        """Return the view of any seat; the result equals `view(state, seat)`."""
        state = self._state
        if state.seat == seat:
            return self.deciding()
        public, private = self._look(state), self._look_into(state, seat)
        return _new(View, (state.rules, public, private, _asked(state, seat), ()))

    def _look(self, state: State) -> PublicView:
        """Update the public view."""
        last = self._public
        _, _, _, _, _, _, displays, sizes, colours, dispatched, chests, seats = last
        changed = self._look_at_numbers(state)
        if state.display_counts != self._display_counts:
            self._display_counts = state.display_counts[:]
            displays = _displays(state)
            changed = True
        if self._look_at_piles(state):
            sizes = _pile_sizes(state)
            changed = True
        if state.area_colours != self._colours:
            self._colours = state.area_colours[:]
            colours = tuple(state.area_colours)
            changed = True
        if state.dispatched != self._dispatched:
            self._dispatched = state.dispatched[:]
            dispatched = tuple(state.dispatched)
            changed = True
        if state.chests != self._chests:
            self._chests = state.chests[:]
            chests = _chests(state)
            changed = True
        before = seats
        seats = self._look_at_seats(state, seats)
        if not changed and seats is before:
            return last
        public = _public(state, displays, sizes, colours, dispatched, chests, seats)
        self._public = public
        return public

    def _look_at_numbers(self, state: State) -> bool:
        """Update the numbers of the public view; return True if any has changed."""
        buyers, lit, gifts = len(state.buyer_pile), len(state.lit_stack), len(state.gift_deck)
        if (
            state.turn_seat == self._turn_seat
            and buyers == self._buyer_pile_size
            and lit == self._lit_stack_size
            and gifts == self._gift_deck_size
            and state.patronage_seat == self._patronage_seat
            and state.year == self._year
        ):
            return False
        self._turn_seat = state.turn_seat
        self._buyer_pile_size = buyers
        self._lit_stack_size = lit
        self._gift_deck_size = gifts
        self._patronage_seat = state.patronage_seat
        self._year = state.year
        return True

    def _look_at_piles(self, state: State) -> bool:
        """Update the sizes of the piles; return True if any has changed."""
        known = self._pile_sizes
        changed = False
        for market in range(4):
            size = len(state.piles[market])
            if size != known[market]:
                known[market] = size
                changed = True
        return changed

    def _look_at_seats(self, state: State, seats: tuple[SeatView, ...]) -> tuple[SeatView, ...]:
        """Update the public information about the seats."""
        lit_same = state.lit_held == self._lit_held
        if not lit_same:
            self._lit_held = state.lit_held[:]
        now: list[SeatView] | None = None
        for seat in range(len(seats)):
            before = seats[seat]
            prestige, hand_size, lit_windows, towers = before
            if not lit_same:
                lit_windows = lit_windows_of(state, seat)
            if (
                state.hand_sizes[seat] != hand_size
                or state.prestige[seat] != prestige
                or state.towers[seat] is not towers
                or lit_windows != before[2]
            ):
                if now is None:
                    now = list(seats)
                now[seat] = _seat(state, seat, lit_windows)
        return seats if now is None else tuple(now)

    def _look_into(self, state: State, seat: int) -> PrivateView:
        """Update the private view of a seat. Searched piles are not included."""
        last = self._privates[seat]
        asari = state.money[seat]
        hand = state.hands[seat]
        unbuilt = state.unbuilt_of(seat)
        lit_held = state.lit_held_by(seat)
        if last is None:
            sections, lit_windows = tuple(unbuilt), tuple(lit_held)
            face_down = self._laid_by(state, seat, ())
            known = self._known_to(state, seat, ())
        else:
            _, _, _, sections, lit_windows, last_face_down, last_known, _, _, _ = last
            same_sections = unbuilt == self._unbuilt[seat]
            same_lit = lit_held == self._lit_held_by_seat[seat]
            face_down = self._laid_by(state, seat, last_face_down)
            known = self._known_to(state, seat, last_known)
            if (
                same_sections
                and same_lit
                and asari == self._asari[seat]
                and hand == self._hands[seat]
                and face_down is last_face_down
                and known is last_known
            ):
                return last
            if not same_sections:
                sections = tuple(unbuilt)
            if not same_lit:
                lit_windows = tuple(lit_held)
        self._asari[seat] = asari
        self._hands[seat] = hand
        self._unbuilt[seat] = unbuilt
        self._lit_held_by_seat[seat] = lit_held
        private: PrivateView = _new(
            PrivateView,
            (
                seat,
                asari,
                buyer_counts(hand),
                sections,
                lit_windows,
                face_down,
                known,
                (),
                (),
                (),
            ),
        )
        self._privates[seat] = private
        return private

    def _laid_by(self, state: State, seat: int, last: _FaceDown) -> _FaceDown:
        """Return a seat's own face-down buyers; the same object as before if they are unchanged."""
        laid = state.face_down
        if laid == self._face_down_by_seat[seat]:
            return last
        self._face_down_by_seat[seat] = laid[:]
        now = face_down_of(laid, seat)
        return last if now == last else now

    def _known_to(self, state: State, seat: int, last: _Known) -> _Known:
        """Return the lit windows whose place a seat knows; the same object if unchanged."""
        stack = state.lit_stack
        if stack == self._lit_stack_by_seat[seat]:
            return last
        self._lit_stack_by_seat[seat] = stack[:]
        now = known_lit_windows(stack, seat)
        return last if now == last else now


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
    places = state.rules.chests
    held = enumerate(state.chests)  # compiled, a fraction of the time that a strict `zip` takes
    return tuple([(places[index].space, cards) for index, cards in held if cards])


def _seat(state: State, seat: int, lit_windows: int) -> SeatView:
    return _new(
        SeatView, (state.prestige[seat], state.hand_sizes[seat], lit_windows, state.towers[seat])
    )


def lit_windows_of(state: State, seat: int) -> int:
    """Return the number of lit windows that a seat holds and has not built."""
    lit_windows = 0
    for count in state.lit_held_by(seat):
        lit_windows += count
    return lit_windows


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
            face_down_of(state.face_down, seat) if state.face_down else (),
            known_lit_windows(state.lit_stack, seat) if state.lit_stack else (),
            *searched,
        ),
    )


def face_down_of(
    laid: Iterable[tuple[int, Space, tuple[BuyerColour, ...]]], seat: int
) -> _FaceDown:
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
