"""What the system reports about the socket of a bot's connection.

gRPC reads the sockets in threads of its own and does not report when. The event loop receives a
request somewhat later; what can be known about the time before is asked of the system itself.
"""

from typing import Protocol


class BotSocket(Protocol):
    """The referee's end of a bot's connection."""

    def unread_bytes(self) -> int | None:
        """Return the number of bytes that have arrived and were not read; None if unknown."""

    def last_arrival_us(self) -> int | None:
        """Return when bytes arrived last, by the system's monotonic clock; None if unknown.

        A request that was received before this call had arrived by then.
        """
