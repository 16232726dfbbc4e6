"""How a match ends for its seats: why, in which rank, with how many points.

The engine knows nothing of bots that go away or answer nonsense. What the referee adds to the
game's own words is here; the numbers of the enums are those of the protocol.
"""

from enum import IntEnum
from typing import NamedTuple


class Termination(IntEnum):
    """How a seat's part in a match ended."""

    UNSPECIFIED = 0
    """The match still runs."""
    COMPLETED = 1
    REJECTED_REPLIES = 2
    TIME_OUT = 3
    CRASH = 4
    NEVER_STARTED = 5
    PROTOCOL_VIOLATION = 6

    @property
    def forfeit(self) -> bool:
        """Whether the seat lost its place at the table; it then ranks last."""
        return self > Termination.COMPLETED


class RejectionReason(IntEnum):
    """Why a reply was not accepted."""

    UNSPECIFIED = 0
    EMPTY = 1
    ILLEGAL_ACTION = 2
    UNKNOWN_ACTION = 3
    TOO_MANY_ACTIONS = 4
    UNKNOWN_DECISION = 5


class SeatForfeited(NamedTuple):
    """The one event that comes from the referee, not from the engine; as public as the others."""

    seat: int
    termination: Termination
    asari: int = 0
    prestige: int = 0


class SeatResult(NamedTuple):
    """How a match ended for one seat; shown to everybody, but only after the end."""

    seat: int
    entry: str
    rank: int
    """1 for the best; seats that tie share a rank, and the next ranks are left out."""
    prestige: int
    termination: Termination
    detail: str
    """Why, in words, where the seat forfeited; else empty."""
    asari: int
    sections: tuple[int, ...]
    """40 counts of sections never built: index (kind - 1) * 10 + (colour - 1) * 2 + gold."""
    lit_windows: tuple[int, ...]
    """5 counts of lit windows never built: index colour - 1."""
