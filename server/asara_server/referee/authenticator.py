"""What an address provides for its bots: a token check, and facts about each connection."""

from typing import Protocol


class Authenticator(Protocol):
    """Checks the tokens presented at one address, and keeps track of who is connected there.

    A bot registered with an authenticator can connect at that address only.
    """

    def authenticate(self, token: str) -> str | None:
        """Return the key under which the bot is registered; None if the token is invalid."""

    def connections_changed(self) -> None:
        """Handle the connection or disconnection of one of this authenticator's bots."""


class BotSocket:
    """The referee's end of a bot's connection, and what the system reports about it.

    gRPC reads the sockets in its own threads and does not report when. The event loop receives each
    request slightly later. An address whose connections are not known uses this class itself.
    """

    def admit(self) -> None:
        """Note that the bot of a stream on this connection has presented a valid token."""

    def release(self) -> None:
        """Note that an admitted stream has ended."""

    def unread_bytes(self) -> int | None:
        """Return the number of bytes that have arrived but were not read; None if unknown."""
        return None

    def last_arrival_us(self) -> int | None:
        """Return when the last bytes arrived, by the system's monotonic clock; None if unknown.

        All requests received before this call had arrived by then.
        """
        return None
