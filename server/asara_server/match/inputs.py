"""The inputs of a match as records, which determine everything else about it.

`Match` records each call that changes anything; the same records applied to another match make it
record the same (see `eventlog.resimulate`). Times are microseconds since the match began.
"""

from typing import Final, NamedTuple

from asara_codec.results import RejectionReason, Termination
from asara_game.actions import Action


class Presence(NamedTuple):
    """A bot's stream, as far as it concerns a match."""

    live_updates: bool = False
    omit_public_view: bool = False
    last_sequence: int | None = None
    """Number of the last event that the bot received before a break; None if it does not say."""


class Absence(NamedTuple):
    """Why a bot had no stream when its match began."""

    termination: Termination
    detail: str


class StartRecord(NamedTuple):
    """The start of the match: the first record, and the only one of its type."""

    present: tuple[tuple[int, Presence], ...]
    """By seat, the bots that took part."""
    absent: tuple[tuple[int, Absence], ...]
    """By seat, the other bots; these seats forfeited immediately."""
    time_us: int = 0


class ReplyRecord(NamedTuple):
    """An accepted reply. Forced actions follow from the rules, the steward's from the forfeits."""

    time_us: int
    seat: int
    actions: tuple[Action, ...]
    """Actions that were played. Any others that the reply carried had no effect."""
    bot_us: int
    """Time from the question to the reply, in microseconds, grace included."""
    referee_us: int = 0
    """The referee's own work on the reply, in microseconds."""


class RejectionRecord(NamedTuple):
    """A reply that was not accepted. Whether the seat forfeits by it follows from the limits."""

    time_us: int
    seat: int
    decision_id: int
    """Decision that the reply named."""
    actions: tuple[bytes, ...]
    """Actions that it carried, each serialized."""
    reason: RejectionReason
    detail: str
    """The text that the bot was sent."""


class ForfeitRecord(NamedTuple):
    """A seat forfeited for a reason outside the match, one of `EXTERNAL_TERMINATIONS`."""

    time_us: int
    seat: int
    termination: Termination
    detail: str


class ExpiryRecord(NamedTuple):
    """Seats ran out of time, for a decision or for reconnecting."""

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
    """A pause has ended in which a seat seemed to decide; it had one legal action."""

    time_us: int
    seat: int


class LateReplyRecord(NamedTuple):
    """The first reply to a decision after its seat had run out of time for it."""

    time_us: int
    """When the event loop received the request."""
    seat: int
    decision_id: int
    actions: tuple[bytes, ...]
    """Actions that it carried, each serialized."""
    socket_us: int | None = None
    """Latest time at which bytes on the bot's connection arrived at the socket; None if the system
    does not report it."""


class UnreadRecord(NamedTuple):
    """The socket of a bot whose time had run out, examined at that moment."""

    time_us: int
    seat: int
    bytes: int
    """Bytes that had arrived and that nothing had read."""


class HaltRecord(NamedTuple):
    """The referee is stopping: the open decision may be answered, and no other is asked."""

    time_us: int


class ReopenRecord(NamedTuple):
    """The referee was restarted: all streams are lost, and the decision is asked again."""

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
    | UnreadRecord
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
"""Terminations that a match cannot derive from its inputs and is given as one."""
