"""Encodes parts of the game as messages and as bytes: actions, events, cards, spaces.

The generated message class serializes each part once, and the bytes are cached. Functions named
`..._bytes` return these bytes preceded by their length (see `wire_format.delimited`), ready to
follow the tag of a field.
"""

from functools import lru_cache
from typing import Any, Final

from google.protobuf.message import Message

from asara.v1.event_pb2 import ColourPrestige
from asara.v1.event_pb2 import DisplayFilled as DisplayFilledMessage
from asara.v1.event_pb2 import Event as EventMessage
from asara.v1.event_pb2 import FinalEvaluated as FinalEvaluatedMessage
from asara.v1.event_pb2 import TowerFounded as TowerFoundedMessage
from asara.v1.play_pb2 import Clocks as ClocksMessage
from asara.v1.play_pb2 import SeatResult as SeatResultMessage
from asara.v1.vocabulary_pb2 import Action as ActionMessage
from asara.v1.vocabulary_pb2 import Section as SectionMessage
from asara.v1.vocabulary_pb2 import Tower as TowerMessage
from asara_codec.clocks import Clocks
from asara_codec.reflection import snake, to_message
from asara_codec.results import SeatForfeited, SeatResult
from asara_codec.wire_format import delimited
from asara_game.actions import Action
from asara_game.events import DisplayFilled, Event, FinalEvaluated, TowerFounded
from asara_game.vocabulary import SECTION_TYPES, GiftCard, Space, Tower, section_index

EVENT_FIELDS: Final = ("seat", "asari", "prestige")
"""Fields that all events have in common; the message Event carries them itself."""


def serialize(message: Message) -> bytes:
    """Return the message's bytes. They are the same wherever this version of protobuf runs."""
    return message.SerializeToString(deterministic=True)


def enum_value(member: int) -> Any:
    """Return an enum member's number, with the type that generated constructors expect."""
    return int(member)


def action_message(action: Action) -> ActionMessage:
    member: Any = {snake(type(action).__name__): to_message(action)}
    return ActionMessage(**member)


_action_bytes: Final[dict[Action, bytes]] = {}
"""The bytes of every action that has been legal in any match; there are few different actions."""


def action_bytes(action: Action) -> bytes:
    """Return the action's message, preceded by its length."""
    data = _action_bytes.get(action)
    if data is None:
        data = _action_bytes[action] = delimited(serialize(action_message(action)))
    return data


def event_message(event: Event | SeatForfeited) -> EventMessage:
    inner: Message
    if isinstance(event, DisplayFilled):  # nearly all are new, so not cached
        sections = [_SECTIONS[section_index(section)] for section in event.sections]
        inner = DisplayFilledMessage(sections=sections)
    elif isinstance(event, TowerFounded):
        inner = TowerFoundedMessage(tower=tower_message(event.number, event.tower))
    elif isinstance(event, FinalEvaluated):
        inner = FinalEvaluatedMessage(
            colours=[
                ColourPrestige(colour=enum_value(index + 1), prestige=prestige)
                for index, prestige in enumerate(event.colours)
                if prestige
            ],
            highest_tower=event.highest_tower,
            most_towers=event.most_towers,
            asari=event.money,
        )
    else:
        inner = to_message(event, EVENT_FIELDS)
    member: Any = {snake(type(event).__name__): inner}
    return EventMessage(seat=event.seat, asari=event.asari, prestige=event.prestige, **member)


def event_bytes(event: Event | SeatForfeited) -> bytes:
    """Return the event's message, preceded by its length."""
    known = _event_bytes.get(type(event))  # events of different classes can be equal tuples
    if known is None or len(known) >= _MOST_EVENTS:
        known = _event_bytes[type(event)] = {}
    data = known.get(event)
    if data is None:
        data = known[event] = delimited(serialize(event_message(event)))
    return data


_MOST_EVENTS: Final = 1024
_event_bytes: Final[dict[type, dict[Event | SeatForfeited, bytes]]] = {}


@lru_cache(maxsize=1024)
def space_bytes(space: Space) -> bytes:
    """Return the space's message, preceded by its length."""
    return delimited(serialize(to_message(space)))


@lru_cache(maxsize=1024)
def gift_bytes(card: GiftCard) -> bytes:
    """Return the gift card's message, preceded by its length."""
    return delimited(serialize(to_message(card)))


def tower_message(number: int, tower: Tower) -> TowerMessage:
    """Return a tower as a message, including the tower's number."""
    return TowerMessage(
        number=number,
        colour=enum_value(tower.colour),
        base_gold=tower.base_gold,
        turret_gold=tower.turret_gold,
        plain_trunks=tower.plain_trunks,
        gold_trunks=tower.gold_trunks,
        plain_windows=tower.plain_windows,
        gold_windows=tower.gold_windows,
        lit_plain_windows=tower.lit_plain,
        lit_gold_windows=tower.lit_gold,
    )


def section_messages(counts: tuple[int, ...]) -> list[SectionMessage]:
    """Convert counts by section type to a list of section messages."""
    return [message for index, count in enumerate(counts) for message in [_SECTIONS[index]] * count]


_SECTIONS: Final = tuple(
    SectionMessage(
        kind=enum_value(section.kind), colour=enum_value(section.colour), gold=section.gold
    )
    for section in SECTION_TYPES
)


def numbers_by_count(counts: tuple[int, ...]) -> Any:
    """Convert counts by enum number to the numbers in rising order; index 0 is for number 1."""
    return [number for number, count in enumerate(counts, 1) for _ in range(count)]


def result_message(result: SeatResult) -> SeatResultMessage:
    return SeatResultMessage(
        seat=result.seat,
        entry=result.entry,
        rank=result.end.rank,
        prestige=result.end.prestige,
        termination=enum_value(result.end.termination),
        detail=result.end.detail,
        asari=result.asari,
        sections=section_messages(result.sections),
        lit_windows=numbers_by_count(result.lit_windows),
    )


@lru_cache(maxsize=64)  # every seat is sent all results
def result_bytes(result: SeatResult) -> bytes:
    """Return the result's message, preceded by its length."""
    plain = serialize(result_message(result._replace(sections=(), lit_windows=())))
    sections = [_RESULT_SECTIONS[i] * count for i, count in enumerate(result.sections) if count]
    return delimited(b"%b%b%b" % (plain, b"".join(sections), _result_lit(result.lit_windows)))


# The last fields of the message.
_RESULT_SECTIONS: Final = tuple(serialize(SeatResultMessage(sections=[s])) for s in _SECTIONS)


@lru_cache(maxsize=1024)
def _result_lit(counts: tuple[int, ...]) -> bytes:
    return serialize(SeatResultMessage(lit_windows=numbers_by_count(counts)))


def clocks_message(clocks: Clocks) -> ClocksMessage:
    return ClocksMessage(**clocks._asdict())
