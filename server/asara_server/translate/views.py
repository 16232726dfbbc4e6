"""A seat's view as bytes: every part made once by the generated messages, then joined.

A part is the serialized container with that one part in it, so parts are joined as they are. What
changes from turn to turn (a display, an area, a seat) is joined from smaller parts, and kept too.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import zip_longest

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
from asara_server.translate.encode import (
    enum_value,
    numbers_by_count,
    serialize,
    tower_message,
)
from asara_server.translate.mirror import to_message
from asara_server.translate.wire import integer, nested

_public_view = nested(ViewMessage, "public_view")
_private_view = nested(ViewMessage, "private_view")

_FaceDown = tuple[tuple[Space, tuple[BuyerColour, ...]], ...]
_KnownLit = tuple[tuple[int, Colour], ...]
_SEATS = 4
_MARKET_NUMBERS = (1, 2, 3, 4)
#: A table on which nothing lies.
_NOTHING = PublicView(0, 0, 0, 0, 0, 0, (), (), (0,) * AREAS, ((),) * AREAS, (), ())


class _Holding:
    """What a seat held when its last view was written, as bytes."""

    __slots__ = ("face_down", "known", "laid_bytes", "lit", "stock", "stock_bytes")

    def __init__(self) -> None:
        self.stock: tuple[int, ...] = ()
        self.lit: tuple[int, ...] = ()
        self.stock_bytes = b""
        self.face_down: _FaceDown = ()
        self.known: _KnownLit = ()
        self.laid_bytes = b""


class ViewWriter:
    """Writes the views of one match.

    From one decision to the next little changes, so the groups of parts that make up a view are
    kept as bytes, and joined anew only where they differ from those of the last view.
    """

    __slots__ = (
        "_area_rows",
        "_areas",
        "_chests",
        "_holdings",
        "_last",
        "_last_bytes",
        "_last_private",
        "_last_private_bytes",
        "_markets",
        "_seat_rows",
        "_seats",
    )

    def __init__(self) -> None:
        self._last = _NOTHING
        self._last_bytes = self._markets = self._areas = self._chests = self._seats = b""
        self._last_private: PrivateView | None = None
        self._last_private_bytes = b""
        self._area_rows = [b""] * AREAS
        self._seat_rows = [b""] * _SEATS
        self._holdings = [_Holding() for _ in range(_SEATS)]

    def view(self, view: View, include_public: bool = True) -> bytes:
        """The message View; without `include_public` its private part alone."""
        private = view.private
        if private is not self._last_private:
            self._last_private = private
            self._last_private_bytes = _private_view(self._private(private))
        if not include_public:
            return self._last_private_bytes
        return _public_view(self.public(view.public)) + self._last_private_bytes

    def public(self, public: PublicView) -> bytes:
        """The message PublicView."""
        last = self._last
        if public is last:
            return self._last_bytes
        *table, displays, piles, colours, dispatched, chests, seats = public
        if displays != last.displays or piles != last.pile_sizes:
            self._markets = b"".join(map(_market, _MARKET_NUMBERS, displays, piles))
        if dispatched != last.dispatched or colours != last.area_colours:
            rows = self._area_rows
            were, were_colours = last.dispatched, last.area_colours
            for area, lying in enumerate(dispatched):
                if lying is not were[area] or colours[area] != were_colours[area]:
                    rows[area] = _area(area, colours[area], lying) if lying else b""
            self._areas = b"".join(rows)
        if chests != last.chests:
            self._chests = b"".join(map(_chest, chests))
        if seats != last.seats:
            rows = self._seat_rows
            for number, (seat, seen) in enumerate(zip_longest(seats, last.seats)):
                if seat != seen:
                    rows[number] = _seat(number, seat)
            self._seats = b"".join(rows)
        self._last = public
        self._last_bytes = b"".join(
            (_table(*table), self._markets, self._areas, self._chests, self._seats)
        )
        return self._last_bytes

    def _private(self, private: PrivateView) -> bytes:
        seat, asari, hand, stock, lit, face_down, known, sections, buyers, windows = private
        held = self._holdings[seat]
        if stock != held.stock or lit != held.lit:
            held.stock, held.lit = stock, lit
            held.stock_bytes = _stock(stock, lit)
        if face_down != held.face_down or known != held.known:
            held.face_down, held.known = face_down, known
            held.laid_bytes = b"".join(map(_face_down, face_down)) + _known_lit_windows(known)
        parts = [
            _private_seat(seat),
            _private_asari(asari),
            _hand(hand),
            held.stock_bytes,
            held.laid_bytes,
        ]
        if sections:
            parts.append(_searched_sections(sections))
        if buyers:
            parts.append(_searched_buyers(buyers))
        if windows:
            parts.append(_searched_lit_windows(windows))
        return b"".join(parts)


def public_bytes(public: PublicView) -> bytes:
    """The message PublicView."""
    return ViewWriter().public(public)


@lru_cache(maxsize=16384)
def _table(year: int, turn: int, patronage: int, buyers: int, lit: int, gifts: int) -> bytes:
    message = PublicMessage(
        year=year,
        turn_seat=turn,
        patronage_seat=patronage,
        buyer_pile_size=buyers,
        lit_window_stack_size=lit,
        gift_deck_size=gifts,
    )
    return serialize(message)


_markets = nested(PublicMessage, "markets")
_pile_size = integer(Market, "pile_size")
_KINDS = tuple(serialize(Market(kind=enum_value(kind))) for kind in MARKETS)
_DISPLAYED = tuple(serialize(Market(display=[to_message(s)])) for s in SECTION_TYPES)


@lru_cache(maxsize=16384)
def _market(kind: int, display: tuple[int, ...], pile_size: int) -> bytes:
    sections = _counted(_DISPLAYED[kind * 10 - 10 : kind * 10], display)
    return _markets(_KINDS[kind - 1] + sections + _pile_size(pile_size))


def _counted(parts: Iterable[bytes], counts: Iterable[int]) -> bytes:
    pairs = zip(parts, counts, strict=True)
    return b"".join([part * count for part, count in pairs if count])


_public_areas = nested(PublicMessage, "areas")


def _area(area: int, colour: int, dispatched: tuple[Dispatched, ...]) -> bytes:
    return _public_areas(_area_head(area, colour) + b"".join(map(_lying, dispatched)))


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


_seats = nested(PublicMessage, "seats")


@lru_cache(maxsize=16384)
def _seat(seat: int, view: SeatView) -> bytes:
    message = SeatMessage(
        seat=seat,
        prestige=view.prestige,
        hand_size=view.hand_size,
        lit_windows=view.lit_windows,
    )
    towers = b"".join(map(_tower, range(1, len(view.towers) + 1), view.towers))
    return _seats(serialize(message) + towers)


@lru_cache(maxsize=16384)
def _tower(number: int, tower: Tower) -> bytes:
    return serialize(SeatMessage(towers=[tower_message(number, tower)]))


_private_seat = integer(PrivateMessage, "seat")
_private_asari = integer(PrivateMessage, "asari")


@lru_cache(maxsize=16384)
def _hand(counts: tuple[int, ...]) -> bytes:
    return serialize(PrivateMessage(hand=numbers_by_count(counts)))


_STOCKED = tuple(serialize(PrivateMessage(sections=[to_message(s)])) for s in SECTION_TYPES)


@lru_cache(maxsize=16384)
def _stock(sections: tuple[int, ...], lit_windows: tuple[int, ...]) -> bytes:
    held = PrivateMessage(lit_windows=numbers_by_count(lit_windows))
    return _counted(_STOCKED, sections) + serialize(held)


@lru_cache(maxsize=4096)
def _face_down(lying: tuple[Space, tuple[BuyerColour, ...]]) -> bytes:
    space, buyers = lying
    message = FaceDown(space=to_message(space), buyers=map(enum_value, buyers))
    return serialize(PrivateMessage(face_down=[message]))


@lru_cache(maxsize=4096)
def _known_lit_windows(known: _KnownLit) -> bytes:
    messages = [KnownLitWindow(above=above, colour=enum_value(colour)) for above, colour in known]
    return serialize(PrivateMessage(known_lit_windows=messages))


@lru_cache(maxsize=4096)
def _searched_sections(sections: tuple[Section, ...]) -> bytes:
    return serialize(PrivateMessage(searched_sections=map(to_message, sections)))


@lru_cache(maxsize=4096)
def _searched_buyers(buyers: tuple[BuyerColour, ...]) -> bytes:
    return serialize(PrivateMessage(searched_buyers=map(enum_value, buyers)))


@lru_cache(maxsize=4096)
def _searched_lit_windows(colours: tuple[Colour, ...]) -> bytes:
    return serialize(PrivateMessage(searched_lit_windows=map(enum_value, colours)))
