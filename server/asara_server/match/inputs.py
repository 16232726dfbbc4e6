"""The inputs of a match as records, which determine everything else about the match.

`Match` records each call that changes anything. Applying the same records to a new match makes it
record the same inputs again (see `journal.resimulate`). Times are microseconds since the match
began.
"""

from typing import Final, NamedTuple

from asara_codec.results import RejectionReason, Termination
from asara_game.actions import Action


class Presence(NamedTuple):
    """What a match needs to know about a bot's stream."""

    live_updates: bool = False
    omit_public_view: bool = False
    last_sequence: int | None = None
    """Number of the last event that the bot received before a disconnection; None if unknown."""


class Absence(NamedTuple):
    """Why a bot had no stream when its match began."""

    termination: Termination
    detail: str


class StartRecord(NamedTuple):
    """The start of the match: always the first record, and recorded once only."""

    present: tuple[tuple[int, Presence], ...]
    """By seat, the bots that were present."""
    absent: tuple[tuple[int, Absence], ...]
    """By seat, the bots that were absent; these seats forfeited immediately."""
    time_us: int = 0


class ReplyRecord(NamedTuple):
    """An accepted reply. Forced actions and the steward's actions need no record, because they
    follow from the rules and from the forfeits.
    """

    time_us: int
    seat: int
    actions: tuple[Action, ...]
    """Actions that were played. Any further actions in the reply had no effect."""
    bot_us: int
    """Time from the decision to the reply, in microseconds, grace included."""
    referee_us: int = 0
    """Time that the referee itself spent on the reply, in microseconds."""


class RejectionRecord(NamedTuple):
    """A reply that was not accepted. The limits determine whether it makes the seat forfeit."""

    time_us: int
    seat: int
    decision_id: int
    """Number of the decision that the reply answered, according to the bot."""
    actions: tuple[bytes, ...]
    """Actions in the reply, each serialized."""
    reason: RejectionReason
    detail: str
    """The text sent to the bot."""


class ForfeitRecord(NamedTuple):
    """A forfeit for a reason outside the match, one of `EXTERNAL_TERMINATIONS`."""

    time_us: int
    seat: int
    termination: Termination
    detail: str


class ExpiryRecord(NamedTuple):
    """Seats ran out of time to decide or to reconnect."""

    time_us: int
    seats: tuple[int, ...]
    """Seats that forfeited, in the order in which their time ran out."""


class LeaveRecord(NamedTuple):
    """A bot lost its stream."""

    time_us: int
    seat: int


class EnterRecord(NamedTuple):
    """A bot has a new stream."""

    time_us: int
    seat: int
    presence: Presence


class PauseRecord(NamedTuple):
    """The end of a pause in which a seat seemed to decide, but had only one legal action."""

    time_us: int
    seat: int


class LateReplyRecord(NamedTuple):
    """The first reply to a decision after the seat's time for that decision had run out."""

    time_us: int
    """When the event loop received the request."""
    seat: int
    decision_id: int
    actions: tuple[bytes, ...]
    """Actions in the reply, each serialized."""
    socket_us: int | None = None
    """Time at which the last bytes on the bot's connection arrived at the socket; None if the
    system does not report it."""
    unread_bytes: int | None = None
    """Number of bytes that had arrived at the socket but had not been read when the referee noticed
    that the seat's time had run out; None if the system does not report it."""


class HaltRecord(NamedTuple):
    """The referee is stopping: the open decision may still be answered; no other one is sent."""

    time_us: int


class ReopenRecord(NamedTuple):
    """The referee was restarted: all streams are lost, and the open decision is sent again."""

    time_us: int


Record = (
    StartRecord
    | ReplyRecord
    | RejectionRecord
    | ForfeitRecord
    | ExpiryRecord
    | LeaveRecord
    | EnterRecord
    | PauseRecord
    | LateReplyRecord
    | HaltRecord
    | ReopenRecord
)

EXTERNAL_TERMINATIONS: Final = frozenset(
    {
        Termination.CRASH,
        Termination.NEVER_STARTED,
        Termination.PROTOCOL_VIOLATION,
        Termination.SUSPENDED,
        Termination.MISSED,
    }
)
"""Terminations that a match cannot derive from its inputs, so that they are inputs themselves."""
