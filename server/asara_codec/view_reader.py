"""Reads a seat's view from messages, for bots that search."""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Any, TypeVar

from asara.v1.play_pb2 import Decision as DecisionMessage
from asara.v1.play_pb2 import MatchStarted
from asara.v1.view_pb2 import PrivateView as PrivateMessage
from asara.v1.view_pb2 import PublicView as PublicMessage
from asara.v1.view_pb2 import SeatView as SeatMessage
from asara_codec.decode import (
    action_from_proto,
    counts_from_proto,
    sections_from_proto,
    tower_from_proto,
)
from asara_codec.reflection import CodecError, enum_member, from_message
from asara_game.rules import Rules
from asara_game.state import Decision, Dispatched
from asara_game.view import PrivateView, PublicView, SeatView, View
from asara_game.vocabulary import (
    MARKETS,
    Area,
    BuyerColour,
    Colour,
    DecisionKind,
    GiftCard,
    Section,
    SectionKind,
    Space,
)

_E = TypeVar("_E", bound=IntEnum)


def view_from_proto(rules: Rules, message: DecisionMessage | MatchStarted) -> View:
    """Return the view in a message, under the rules of its match. Raises CodecError.

    MatchStarted contains no decision, so the decision is None here if the seat itself has to
    decide: it arrives in the next message. If another seat has to decide, that seat's turn is just
    beginning.
    """
    if not message.view.HasField("public_view"):
        raise CodecError("the view has no public part; send Hello without omit_public_view")
    public = public_from_proto(message.view.public_view)
    private = private_from_proto(message.view.private_view)
    if isinstance(message, DecisionMessage):
        decision = _decision(private.seat, message)
        legal = tuple(map(action_from_proto, message.legal_actions))
        return View(rules, public, private, decision, legal)
    if public.turn_seat == private.seat:
        return View(rules, public, private, None, ())
    return View(rules, public, private, Decision(public.turn_seat, DecisionKind.SPACE), ())


def _decision(seat: int, message: DecisionMessage) -> Decision:
    return Decision(
        seat=seat,
        kind=enum_member(DecisionKind, message.kind, "decision.kind"),
        space=_space(message.space) if message.HasField("space") else None,
        sections_to_build=message.sections_to_build,
        build_steps=tuple(map(action_from_proto, message.build_steps)),
        gifts=_cards(message.gifts),
        lit_windows_to_keep=message.lit_windows_to_keep,
    )


def public_from_proto(message: PublicMessage) -> PublicView:
    """Return the public view in a message. Raises CodecError."""
    displays: dict[int, tuple[int, ...]] = dict.fromkeys(MARKETS, (0,) * 10)
    piles = dict.fromkeys(MARKETS, 0)
    for market in message.markets:
        kind = enum_member(SectionKind, market.kind, "markets.kind")
        start = (kind - 1) * 10
        displays[kind] = sections_from_proto(market.display, "markets.display")[start : start + 10]
        piles[kind] = market.pile_size
    colours: list[int] = [0] * (len(Area) + 1)
    dispatched: list[tuple[Dispatched, ...]] = [()] * (len(Area) + 1)
    for part in message.areas:
        area = enum_member(Area, part.area, "areas.area")
        colours[area] = _buyer(part.colour)
        dispatched[area] = tuple(
            Dispatched(_space_of(area, lying.number), lying.seat, _buyer(lying.colour))
            for lying in part.dispatched
        )
    return PublicView(
        year=message.year,
        turn_seat=message.turn_seat,
        patronage_seat=message.patronage_seat,
        buyer_pile_size=message.buyer_pile_size,
        lit_stack_size=message.lit_window_stack_size,
        gift_deck_size=message.gift_deck_size,
        displays=tuple(displays[kind] for kind in MARKETS),
        pile_sizes=tuple(piles[kind] for kind in MARKETS),
        area_colours=tuple(colours),
        dispatched=tuple(dispatched),
        chests=tuple((_space(chest.space), _cards(chest.cards)) for chest in message.chests),
        seats=tuple(map(_seat, message.seats)),
    )


def private_from_proto(message: PrivateMessage) -> PrivateView:
    """Return the private view in a message. Raises CodecError."""
    return PrivateView(
        seat=message.seat,
        asari=message.asari,
        hand=counts_from_proto(message.hand, BuyerColour, "hand"),
        sections=sections_from_proto(message.sections, "sections"),
        lit_windows=counts_from_proto(message.lit_windows, Colour, "lit_windows"),
        face_down=tuple(
            (_space(lying.space), _members(BuyerColour, lying.buyers, "face_down.buyers"))
            for lying in message.face_down
        ),
        known_lit_windows=tuple(
            (known.above, enum_member(Colour, known.colour, "known_lit_windows"))
            for known in message.known_lit_windows
        ),
        searched_sections=tuple(
            from_message(Section, part, "searched_sections") for part in message.searched_sections
        ),
        searched_buyers=_members(BuyerColour, message.searched_buyers, "searched_buyers"),
        searched_lit_windows=_members(Colour, message.searched_lit_windows, "searched_lit_windows"),
    )


def _seat(message: SeatMessage) -> SeatView:
    towers = tuple(map(tower_from_proto, message.towers))
    return SeatView(message.prestige, message.hand_size, message.lit_windows, towers)


def _members(kind: type[_E], values: Iterable[int], path: str) -> tuple[_E, ...]:
    return tuple(enum_member(kind, value, path) for value in values)


def _buyer(value: int) -> BuyerColour | int:
    return enum_member(BuyerColour, value, "colour") if value else 0


def _space(message: Any) -> Space:
    return _space_of(message.area, message.number)


@lru_cache(maxsize=1024)
def _space_of(area: int, number: int) -> Space:
    return Space(enum_member(Area, area, "space.area"), number)


def _cards(messages: Any) -> tuple[GiftCard, ...]:
    return tuple(from_message(GiftCard, card, "card") for card in messages)
