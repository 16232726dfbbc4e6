"""A seat's view as bytes: every part made once by the generated messages, then joined.

A part is the serialized container with that one part in it, so parts are joined as they are. What
changes from turn to turn (a display, an area, a seat) is joined from smaller parts, and kept too.
"""

from collections.abc import Iterable
from functools import lru_cache

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


def view_bytes(view: View, include_public: bool = True) -> bytes:
    """The message View; without `include_public` its private part alone."""
    private = _private_view(private_bytes(view.private))
    return _public_view(public_bytes(view.public)) + private if include_public else private


def public_bytes(public: PublicView) -> bytes:
    """The message PublicView."""
    displays, piles = public.displays, public.pile_sizes
    return b"".join(
        (
            _table(
                public.year,
                public.turn_seat,
                public.patronage_seat,
                public.buyer_pile_size,
                public.lit_stack_size,
                public.gift_deck_size,
            ),
            _market(1, displays[0], piles[0]),
            _market(2, displays[1], piles[1]),
            _market(3, displays[2], piles[2]),
            _market(4, displays[3], piles[3]),
            _areas(public.area_colours, public.dispatched),
            *map(_chest, public.chests),
            *map(_seat, range(len(public.seats)), public.seats),
        )
    )


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


#: What lies in an area, by identity: a match's views share all areas but the one of the last turn.
_areas_seen: dict[int, tuple[tuple[Dispatched, ...], int, bytes]] = {}


def _areas(colours: tuple[int, ...], dispatched: tuple[tuple[Dispatched, ...], ...]) -> bytes:
    parts = []
    for area, lying in enumerate(dispatched):
        if lying:
            seen = _areas_seen.get(id(lying))
            if seen is None or seen[0] is not lying or seen[1] != colours[area]:
                seen = _see_area(area, colours[area], lying)
            parts.append(seen[2])
    return b"".join(parts)


def _see_area(
    area: int, colour: int, lying: tuple[Dispatched, ...]
) -> tuple[tuple[Dispatched, ...], int, bytes]:
    if len(_areas_seen) >= 32768:
        _areas_seen.clear()
    seen = lying, colour, _area(area, colour, lying)
    _areas_seen[id(lying)] = seen
    return seen


_public_areas = nested(PublicMessage, "areas")


@lru_cache(maxsize=16384)
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


def private_bytes(private: PrivateView) -> bytes:
    """The message PrivateView."""
    parts = [
        _private_seat(private.seat),
        _private_asari(private.asari),
        _hand(private.hand),
        _stock(private.sections, private.lit_windows),
    ]
    if private.face_down:
        parts += map(_face_down, private.face_down)
    if private.known_lit_windows:
        parts.append(_known_lit_windows(private.known_lit_windows))
    if private.searched_sections:
        parts.append(_searched_sections(private.searched_sections))
    if private.searched_buyers:
        parts.append(_searched_buyers(private.searched_buyers))
    if private.searched_lit_windows:
        parts.append(_searched_lit_windows(private.searched_lit_windows))
    return b"".join(parts)


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
def _known_lit_windows(known: tuple[tuple[int, Colour], ...]) -> bytes:
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
