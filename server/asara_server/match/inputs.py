"""What happens to a match, as records: a match follows from them, one by one.

`Match` makes a record of everything that it is told and that changes anything; told the same again,
it makes the same records (see `replay.drive`). Times are microseconds since the match began.
"""

from typing import NamedTuple

from asara_codec.results import RejectionReason, Termination
from asara_game.actions import Action


class Presence(NamedTuple):
    """A bot's stream, as far as a match is concerned."""

    live_updates: bool = False
    omit_public_view: bool = False
    last_sequence: int | None = None
    """The last event that it received before a break; None where it does not say."""


class Absence(NamedTuple):
    """Why a bot was not there when its match began."""

    termination: Termination
    detail: str


class StartRecord(NamedTuple):
    """The match began; the first record, and the only one of its kind."""

    present: tuple[tuple[int, Presence], ...]
    """Seats whose bots were there."""
    absent: tuple[tuple[int, Absence], ...]
    """The other seats, which forfeited at once."""
    time_us: int = 0


class ReplyRecord(NamedTuple):
    """An accepted reply; forced actions follow from the rules, the steward's from the forfeits."""

    time_us: int
    seat: int
    actions: tuple[Action, ...]
    """Those that were played; what the reply carried behind them made no difference."""
    bot_us: int
    """How long the referee waited for the bot; the grace is not taken off."""
    referee_us: int = 0
    """The referee's own work on this reply."""


class RejectionRecord(NamedTuple):
    """A reply that was not accepted; the one too many is a forfeit."""

    time_us: int
    seat: int
    decision_id: int
    """The decision it named."""
    actions: tuple[bytes, ...]
    """What it carried, each serialized."""
    reason: RejectionReason
    detail: str
    """Why, in words, as the bot was told."""


class ForfeitRecord(NamedTuple):
    """A seat forfeited for a reason that lies outside the match."""

    time_us: int
    seat: int
    termination: Termination
    detail: str


class ExpiryRecord(NamedTuple):
    """Seats ran out of time, for their decision or for coming back."""

    time_us: int
    seats: tuple[int, ...]
    """Those that forfeited, in the order in which their time ran out."""


class LeaveRecord(NamedTuple):
    """A bot lost its stream."""

    time_us: int
    seat: int


class EnterRecord(NamedTuple):
    """A bot has a new stream."""

    time_us: int
    seat: int
    presence: Presence


class HaltRecord(NamedTuple):
    """The referee was told to stop, and asks nothing more."""

    time_us: int


class ReopenRecord(NamedTuple):
    """The referee was started again: all streams are lost, and it asks again."""

    time_us: int


Record = (
    StartRecord
    | ReplyRecord
    | RejectionRecord
    | ForfeitRecord
    | ExpiryRecord
    | LeaveRecord
    | EnterRecord
    | HaltRecord
    | ReopenRecord
)

OUTSIDE = frozenset({Termination.CRASH, Termination.NEVER_STARTED, Termination.PROTOCOL_VIOLATION})
"""Reasons for a forfeit that a match is told; it finds the others itself."""
