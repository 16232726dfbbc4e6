"""Results and forfeits of a match: the referee's additions to the vocabulary of the game.

The engine knows nothing of bots that disconnect or send nonsense. The values of the enums are those
of the protocol.
"""

from enum import IntEnum
from typing import NamedTuple


class Termination(IntEnum):
    """The reason why a seat's part in a match ended."""

    UNSPECIFIED = 0
    """The match is still running."""
    COMPLETED = 1
    REJECTED_REPLIES = 2
    TIME_OUT = 3
    CRASH = 4
    NEVER_STARTED = 5
    PROTOCOL_VIOLATION = 6

    @property
    def forfeit(self) -> bool:
        """True if the seat forfeited; it then ranks last."""
        return self > Termination.COMPLETED


class RejectionReason(IntEnum):
    """The reason why a reply was rejected."""

    UNSPECIFIED = 0
    EMPTY = 1
    ILLEGAL_ACTION = 2
    UNKNOWN_ACTION = 3
    TOO_MANY_ACTIONS = 4
    UNKNOWN_DECISION = 5


class SeatForfeited(NamedTuple):
    """The only event that comes from the referee instead of the engine; public like all events."""

    seat: int
    termination: Termination
    asari: int = 0
    prestige: int = 0


class SeatResult(NamedTuple):
    """The result of a match for one seat; public after the end of the match."""

    seat: int
    entry: str
    rank: int
    """1 for the best; ties share a rank, and the following ranks are skipped."""
    prestige: int
    termination: Termination
    detail: str
    """Reason of a forfeit in words; otherwise empty."""
    asari: int
    sections: tuple[int, ...]
    """Counts of 40 types of sections never built: (kind - 1) * 10 + (colour - 1) * 2 + gold."""
    lit_windows: tuple[int, ...]
    """Counts of lit windows never built, by colour - 1."""
