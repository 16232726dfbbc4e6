"""The referee's additions to the game: rejections, forfeits, and results by seat.

The rules engine knows nothing about bots that disconnect or send invalid replies. Enum numbers are
the same as in the protocol.
"""

from enum import IntEnum
from typing import NamedTuple


class Termination(IntEnum):
    """How a seat's part in a match ended."""

    UNSPECIFIED = 0
    """The match is running."""
    COMPLETED = 1
    REJECTED_REPLIES = 2
    TIME_OUT = 3
    CRASH = 4
    NEVER_STARTED = 5
    PROTOCOL_VIOLATION = 6
    SUSPENDED = 7
    """The entry was already suspended when the match began."""
    MISSED = 8
    """The match stopped waiting for the bot, which runs on another machine."""

    @property
    def forfeit(self) -> bool:
        """True if the seat forfeited and therefore ranks last."""
        return self > Termination.COMPLETED


class RejectionReason(IntEnum):
    """Why the referee did not accept a reply."""

    UNSPECIFIED = 0
    EMPTY = 1
    ILLEGAL_ACTION = 2
    UNKNOWN_ACTION = 3
    TOO_MANY_ACTIONS = 4
    UNKNOWN_DECISION = 5


class SeatForfeited(NamedTuple):
    """The only event that the referee adds to the engine's events; it is public too."""

    seat: int
    termination: Termination
    asari: int = 0
    prestige: int = 0


class SeatEnd(NamedTuple):
    """How a match ended for one seat."""

    rank: int
    """1 for the best. Tied seats share a rank, and the next ranks are skipped."""
    prestige: int
    termination: Termination
    detail: str
    """Why the seat forfeited; "" if it did not."""


class SeatResult(NamedTuple):
    """The end of a match for one seat with what the seat has left; public after the end."""

    seat: int
    entry: str
    end: SeatEnd
    asari: int
    sections: tuple[int, ...]
    """40 counts of unbuilt sections: index (kind - 1) * 10 + (colour - 1) * 2 + gold."""
    lit_windows: tuple[int, ...]
    """5 counts of unbuilt lit windows: index colour - 1."""
