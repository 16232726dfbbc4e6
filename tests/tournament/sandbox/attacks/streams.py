"""Attacks on the bot's own stream, which need its token."""

import contextlib
from collections.abc import Iterator

from asara.v1.play_pb2 import Hello, PlayRequest

from .catalogue import attack
from .wire import (
    PLAY,
    Connection,
    Target,
    message,
)

_REQUEST_BYTES = 65_536


class Stream:
    """A stream of the bot after its Hello."""

    def __init__(self, target: Target, connection: Connection, **hello: object) -> None:
        self.connection = connection
        self.number = connection.open(PLAY)
        first = Hello(protocol_version=1, token=target.token, **hello)  # type: ignore[arg-type]
        self.send(PlayRequest(hello=first).SerializeToString())

    @property
    def ended(self) -> bool:
        return self.number in self.connection.ended

    def send(self, *requests: bytes) -> None:
        """Send requests in one write."""
        self.connection.write(self.number, b"".join(map(message, requests)))


def _again(target: Target, **hello: object) -> Iterator[Stream]:
    """Dial in again whenever the stream or its connection ends."""
    for _ in target.rounds(0.002):
        with contextlib.suppress(OSError), Connection(target) as connection:
            yield Stream(target, connection, **hello)


@attack(plays=True)
def varints(target: Target) -> None:
    """Send requests whose length is a number of 64 KiB, many at once."""
    requests = [first + b"\xff" * (_REQUEST_BYTES - len(first)) for first in _VARINTS]
    for stream in _again(target):
        with contextlib.suppress(OSError):
            for _ in target.rounds():
                stream.send(*requests * 4)
                if stream.ended:
                    break


_VARINTS = (b"\x12", b"\x12\xfa\xff\x03\x0a\x00\x10", b"\x0a", b"\x12\xfa\xff\x03\x0a\x00\x1a")


@attack(plays=True)
def hello_loop(target: Target) -> None:
    """Send Hello after Hello."""
    again = PlayRequest(hello=Hello(protocol_version=1, token=target.token)).SerializeToString()
    for stream in _again(target):
        with contextlib.suppress(OSError):
            stream.send(*[again] * 50)
            stream.connection.wait_for_end(stream.number, 0.5)
