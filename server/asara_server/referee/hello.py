"""The first request of a stream."""

from typing import Final, NamedTuple

from asara.v1.play_pb2 import Hello
from asara_server.match.inputs import Presence
from asara_server.referee.stream_errors import ErrorKind, StreamError

PROTOCOL_VERSION: Final = 1


class CheckedHello(NamedTuple):
    """A Hello with the right protocol version; its token has not been checked yet."""

    token: str
    bot_name: str
    language: str
    max_matches: int
    live_updates: bool
    omit_public_view: bool
    last_events: dict[str, int]
    """By match, the number of the last event that the bot received before it was disconnected."""

    def presence(self, last_sequence: int | None = None) -> Presence:
        """Return the part of the Hello that concerns a match."""
        return Presence(self.live_updates, self.omit_public_view, last_sequence)


def check_hello(hello: Hello) -> CheckedHello:
    """Raise StreamError if the bot speaks another version of the protocol."""
    if hello.protocol_version != PROTOCOL_VERSION:
        raise StreamError(
            ErrorKind.PROTOCOL_VERSION,
            f"Hello names protocol version {hello.protocol_version}; "
            f"this referee speaks version {PROTOCOL_VERSION}",
        )
    return CheckedHello(
        token=hello.token,
        bot_name=hello.bot_name,
        language=hello.language,
        max_matches=max(hello.max_matches, 1),
        live_updates=hello.live_updates,
        omit_public_view=hello.omit_public_view,
        last_events={last.match_id: last.sequence for last in hello.last_events},
    )
