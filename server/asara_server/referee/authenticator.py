"""What the address of a bot provides: the check of its token, and facts about its connection."""

from typing import Protocol


class Authenticator(Protocol):
    """Checks the tokens presented at one address, and follows who is connected there.

    A bot that is registered with an authenticator can connect at that address only.
    """

    def authenticate(self, token: str) -> str | None:
        """Return the key under which the bot is registered; None if the token is not valid."""

    def connections_changed(self) -> None:
        """React to a bot of this authenticator that has connected or disconnected."""


class BotSocket(Protocol):
    """The referee's end of a bot's connection, and what the system reports about it.

    gRPC reads the sockets in threads of its own and does not report when. The event loop receives a
    request somewhat later.
    """

    def unread_bytes(self) -> int | None:
        """Return the number of bytes that have arrived and were not read; None if unknown."""

    def last_arrival_us(self) -> int | None:
        """Return when bytes arrived last, by the system's monotonic clock; None if unknown.

        A request that was received before this call had arrived by then.
        """
