"""A seat's view as bytes: every part made once by the generated messages, then joined.

A part is the serialized container with that one part in it, so parts are joined as they are. What
changes from turn to turn (a display, an area, a seat) is joined from smaller parts, and kept too.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from asara.v1.view_pb2 import (
    AreaView,
    Chest,
    FaceDown,
    KnownLitWindow,
    Market,
)
from asara.v1.view_pb2 import Dispatched as DispatchedMessage
from asara.v1.view_pb2 import PrivateView as PrivateMessage
from asara.v1.view_pb2 import PublicView as PublicMessage
from asara.v1.view_pb2 import SeatView as SeatMessage
from asara.v1.view_pb2 import View as ViewMessage
from asara_codec.encode import enum_value, numbers_by_count, serialize, tower_message
from asara_codec.reflection import to_message
from asara_codec.wire_format import Integer, Nested
from asara_game.rules import AREAS
from asara_game.state import Dispatched
from asara_game.view import PrivateView, PublicView, SeatView, View
from asara_game.vocabulary import (
    MARKETS,
    SECTION_TYPES,
    BuyerColour,
    Colour,
    GiftCard,
    Section,
    Space,
    Tower,
)

_public_view: Final = Nested(ViewMessage, "public_view")
_private_view: Final = Nested(ViewMessage, "private_view")

_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
_KnownLit = tuple[tuple[int, Colour], ...]
_Counts = tuple[int, ...]
_SEATS = 4
#: A table on which nothing lies, and a seat that has nothing; no view has these very objects.
_NOTHING: Final = PublicView(0, 0, 0, 0, 0, 0, ((),) * 4, (-1,) * 4, (), ((),) * AREAS, (), ())
_NO_SEATS: tuple[SeatView | None, ...] = (None,) * _SEATS


class _Holding:
    """What a seat held when its last view was written, as bytes."""

    __slots__ = ("face_down", "known", "laid_bytes", "lit", "stock", "stock_bytes", "towers_bytes")

    def __init__(self) -> None:
        self.stock: _Counts | None = None
        self.lit: _Counts = ()
        self.stock_bytes = b""
        self.face_down: _FaceDown = ()
        self.known: _KnownLit = ()
        self.laid_bytes = b""
        self.towers_bytes = b""


class ViewWriter:
    """Writes the views of one match.

    From one decision to the next little changes, so the groups of parts that make up a view are
    kept as bytes, and joined anew only where they are not the very objects of the last view.
    """

    __slots__ = (
        "_areas",
        "_areas_bytes",
        "_chests_bytes",
        "_holdings",
        "_last",
        "_last_bytes",
        "_last_private",
        "_last_private_bytes",
        "_markets",
        "_markets_bytes",
        "_seats",
        "_seats_bytes",
    )

    def __init__(self) -> None:
        self._last = _NOTHING
        self._last_bytes = self._markets_bytes = self._areas_bytes = b""
        self._chests_bytes = self._seats_bytes = b""
        self._last_private: PrivateView | None = None
        self._last_private_bytes = b""
        self._markets = [b""] * 4
        self._areas = [b""] * AREAS
        self._seats = [b""] * _SEATS
        self._holdings = [_Holding() for _ in range(_SEATS)]

    def view(self, view: View, include_public: bool = True) -> bytes:
        """The message View; without `include_public` its private part alone."""
        private = view.private
        if private is not self._last_private:
            self._last_private = private
            self._last_private_bytes = _private_view.of(self._private(private))
        if not include_public:
            return self._last_private_bytes
        public = view.public
        if public is not self._last:
            return _public_view.of(self.public(public)) + self._last_private_bytes
        return _public_view.of(self._last_bytes) + self._last_private_bytes

    def public(self, public: PublicView) -> bytes:
        """The message PublicView."""
        last = self._last
        self._last = public
        year, turn, patronage, buyers, lit, gifts, displays, piles, _, lying, chests, seats = public
        if displays is not last.displays or piles is not last.pile_sizes:
            self._write_markets(displays, piles, last)
        if lying is not last.dispatched:  # a colour to follow comes and goes with what lies there
            self._write_areas(public, last.dispatched)
        if chests is not last.chests:
            self._chests_bytes = b"".join(map(_chest, chests))
        if seats is not last.seats:
            self._write_seats(seats, last.seats or _NO_SEATS)
        self._last_bytes = b"".join(
            (
                _round(year, turn, patronage),
                _buyer_pile_size.of(buyers),
                _lit_window_stack_size.of(lit),
                _gift_deck_size.of(gifts),
                self._markets_bytes,
                self._areas_bytes,
                self._chests_bytes,
                self._seats_bytes,
            )
        )
        return self._last_bytes

    def _write_markets(
        self, displays: tuple[_Counts, ...], piles: _Counts, last: PublicView
    ) -> None:
        rows = self._markets
        for market, display in enumerate(displays):
            pile = piles[market]
            if pile != last.pile_sizes[market] or display != last.displays[market]:
                sections = _counted(_DISPLAYED[market], display)
                rows[market] = _market.of(_KINDS[market] + sections + _pile_size.of(pile))
        self._markets_bytes = b"".join(rows)

    def _write_areas(self, public: PublicView, before: tuple[tuple[Dispatched, ...], ...]) -> None:
        rows = self._areas
        for area, lying in enumerate(public.dispatched):
            if lying is not before[area]:
                rows[area] = _area(area, public.area_colours[area], lying) if lying else b""
        self._areas_bytes = b"".join(rows)

    def _write_seats(self, seats: tuple[SeatView, ...], before: Sequence[SeatView | None]) -> None:
        rows = self._seats
        for number, seat in enumerate(seats):
            if seat is not before[number]:
                rows[number] = self._seat(number, seat, before[number])
        self._seats_bytes = b"".join(rows)

    def _seat(self, number: int, seat: SeatView, before: SeatView | None) -> bytes:
        prestige, hand_size, lit_windows, towers = seat
        held = self._holdings[number]
        if before is None or towers is not before.towers:
            held.towers_bytes = b"".join(map(_tower, range(1, len(towers) + 1), towers))
        return _seats.of(
            _seat_number.of(number)
            + _prestige.of(prestige)
            + _hand_size.of(hand_size)
            + _lit_windows_held.of(lit_windows)
            + held.towers_bytes
        )

    def _private(self, private: PrivateView) -> bytes:
        seat, asari, hand, stock, lit, face_down, known, sections, buyers, windows = private
        held = self._holdings[seat]
        if stock is not held.stock or lit is not held.lit:
            held.stock, held.lit = stock, lit
            held.stock_bytes = _counted(_STOCKED, stock) + _lit(lit)
        if face_down != held.face_down or known != held.known:
            held.face_down, held.known = face_down, known
            held.laid_bytes = b"".join(map(_face_down, face_down)) + _known_lit_windows(known)
        written = (
            _private_seat.of(seat)
            + _private_asari.of(asari)
            + _hand(hand)
            + held.stock_bytes
            + held.laid_bytes
        )
        if sections:
            written += _searched_sections(sections)
        if buyers:
            written += _searched_buyers(buyers)
        if windows:
            written += _searched_lit_windows(windows)
        return written


def public_bytes(public: PublicView) -> bytes:
    """The message PublicView."""
    return ViewWriter().public(public)


@lru_cache(maxsize=1024)
def _round(year: int, turn: int, patronage: int) -> bytes:
    return serialize(PublicMessage(year=year, turn_seat=turn, patronage_seat=patronage))


_buyer_pile_size: Final = Integer(PublicMessage, "buyer_pile_size")
_lit_window_stack_size: Final = Integer(PublicMessage, "lit_window_stack_size")
_gift_deck_size: Final = Integer(PublicMessage, "gift_deck_size")


_market: Final = Nested(PublicMessage, "markets")
_pile_size: Final = Integer(Market, "pile_size")
_KINDS: Final = tuple(serialize(Market(kind=enum_value(kind))) for kind in MARKETS)
#: By market.
_DISPLAYED: Final = tuple(
    tuple(serialize(Market(display=[to_message(s)])) for s in SECTION_TYPES if s.kind == kind)
    for kind in MARKETS
)


def _counted(parts: Iterable[bytes], counts: Iterable[int]) -> bytes:
    pairs = zip(parts, counts, strict=True)
    return b"".join([part * count for part, count in pairs if count])


_public_areas: Final = Nested(PublicMessage, "areas")


def _area(area: int, colour: int, dispatched: tuple[Dispatched, ...]) -> bytes:
    return _public_areas.of(_area_head(area, colour) + b"".join(map(_lying, dispatched)))


@lru_cache(maxsize=1024)
def _area_head(area: int, colour: int) -> bytes:
    return serialize(AreaView(area=enum_value(area), colour=enum_value(colour)))


@lru_cache(maxsize=4096)
def _lying(lying: Dispatched) -> bytes:
    message = DispatchedMessage(
        number=lying.space.number, seat=lying.seat, colour=enum_value(lying.colour)
    )
    return serialize(AreaView(dispatched=[message]))


@lru_cache(maxsize=4096)
def _chest(chest: tuple[Space, tuple[GiftCard, ...]]) -> bytes:
    space, cards = chest
    message = Chest(space=to_message(space), cards=map(to_message, cards))
    return serialize(PublicMessage(chests=[message]))


_seats: Final = Nested(PublicMessage, "seats")
_seat_number: Final = Integer(SeatMessage, "seat")
_prestige: Final = Integer(SeatMessage, "prestige")
_hand_size: Final = Integer(SeatMessage, "hand_size")
_lit_windows_held: Final = Integer(SeatMessage, "lit_windows")


@lru_cache(maxsize=16384)
def _tower(number: int, tower: Tower) -> bytes:
    return serialize(SeatMessage(towers=[tower_message(number, tower)]))


_private_seat: Final = Integer(PrivateMessage, "seat")
_private_asari: Final = Integer(PrivateMessage, "asari")


@lru_cache(maxsize=16384)
def _hand(counts: tuple[int, ...]) -> bytes:
    return serialize(PrivateMessage(hand=numbers_by_count(counts)))


_STOCKED: Final = tuple(serialize(PrivateMessage(sections=[to_message(s)])) for s in SECTION_TYPES)


@lru_cache(maxsize=4096)
def _lit(counts: tuple[int, ...]) -> bytes:
    return serialize(PrivateMessage(lit_windows=numbers_by_count(counts)))


@lru_cache(maxsize=4096)
def _face_down(lying: tuple[Space, tuple[BuyerColour, ...]]) -> bytes:
    space, buyers = lying
    message = FaceDown(space=to_message(space), buyers=map(enum_value, buyers))
    return serialize(PrivateMessage(face_down=[message]))


@lru_cache(maxsize=4096)
def _known_lit_windows(known: _KnownLit) -> bytes:
    messages = [KnownLitWindow(above=above, colour=enum_value(colour)) for above, colour in known]
    return serialize(PrivateMessage(known_lit_windows=messages))


_SEARCHED = {s: serialize(PrivateMessage(searched_sections=[to_message(s)])) for s in SECTION_TYPES}


def _searched_sections(sections: tuple[Section, ...]) -> bytes:
    return b"".join([_SEARCHED[section] for section in sections])


@lru_cache(maxsize=4096)
def _searched_buyers(buyers: tuple[BuyerColour, ...]) -> bytes:
    return serialize(PrivateMessage(searched_buyers=map(enum_value, buyers)))


@lru_cache(maxsize=4096)
def _searched_lit_windows(colours: tuple[Colour, ...]) -> bytes:
    return serialize(PrivateMessage(searched_lit_windows=map(enum_value, colours)))
