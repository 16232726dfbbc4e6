"""The interface of an authenticator, which admits bots at an address of its own."""

from typing import Protocol


class Authenticator(Protocol):
    """Checks the tokens presented at one address, and follows who is connected there.

    A bot that is registered with an authenticator can connect at that address only.
    """

    def authenticate(self, token: str) -> str | None:
        """Return the key under which the bot is registered; None if the token is not valid."""

    def connections_changed(self) -> None:
        """React to a bot of this authenticator that has connected or disconnected."""
