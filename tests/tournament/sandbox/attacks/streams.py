"""Attacks on the bot's own stream, which need its token."""

import contextlib
from collections.abc import Iterator

from asara.v1.play_pb2 import Hello, LastEvent, PlayRequest, PlayResponse, Reply

from .catalogue import attack
from .wire import (
    INITIAL_WINDOW_SIZE,
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
        connection.responses[self.number] = bytearray()
        first = Hello(protocol_version=1, token=target.token, **hello)  # type: ignore[arg-type]
        self.send(PlayRequest(hello=first).SerializeToString())

    @property
    def ended(self) -> bool:
        return self.number in self.connection.ended

    def send(self, *requests: bytes) -> None:
        """Send requests in one write."""
        self.connection.write(self.number, b"".join(map(message, requests)))

    def responses(self, wait_s: float) -> Iterator[PlayResponse]:
        """Yield what has arrived, after a wait."""
        self.connection.pump(wait_s)
        for data in self.connection.messages(self.number):
            yield PlayResponse.FromString(data)


def _again(target: Target, **hello: object) -> Iterator[Stream]:
    """Dial in again whenever the stream or its connection ends."""
    for _ in target.rounds(0.002):
        with contextlib.suppress(OSError), Connection(target) as connection:
            yield Stream(target, connection, **hello)


def _replies(stream: Stream) -> Iterator[Reply]:
    """Yield a legal reply to each decision that arrives."""
    for response in stream.responses(0.01):
        if response.HasField("decision"):
            decision = response.decision
            yield Reply(
                match_id=decision.match_id,
                decision_id=decision.decision_id,
                actions=decision.legal_actions[:1],
            )


def _request(reply: Reply) -> bytes:
    return PlayRequest(reply=reply).SerializeToString()


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
def after_forfeit(target: Target) -> None:
    """Forfeit by illegal replies, then go on sending large requests."""
    for stream in _again(target):
        with contextlib.suppress(OSError):
            for _ in target.rounds():
                for reply in _replies(stream):
                    del reply.actions[:]
                    stream.send(*[_request(reply)] * 8)
                junk = Reply(match_id="m" * 65_000, decision_id=1 << 62)
                stream.send(*[_request(junk)] * 20)
                if stream.ended:
                    break


@attack(plays=True)
def hello_loop(target: Target) -> None:
    """Send Hello after Hello."""
    again = PlayRequest(hello=Hello(protocol_version=1, token=target.token)).SerializeToString()
    for stream in _again(target):
        with contextlib.suppress(OSError):
            stream.send(*[again] * 50)
            stream.connection.wait_for_end(stream.number, 0.5)


@attack(plays=True)
def reconnects(target: Target) -> None:
    """Dial in with a long list of events and many matches, again and again."""
    last = [LastEvent(match_id=f"r1-basic-{number:04}", sequence=1) for number in range(2_000)]
    hello = {"last_events": last, "max_matches": (1 << 31) - 1, "live_updates": True}
    for _ in target.rounds(0.002):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for _ in target.rounds():
                stream = Stream(target, connection, **hello)
                for reply in _replies(stream):
                    stream.send(_request(reply))


@attack(plays=True)
def unread_stream(target: Target) -> None:
    """Dial in with a window of no bytes and never read, on one connection after another."""
    held = []
    for _ in target.rounds(0.05):
        with contextlib.suppress(OSError):
            connection = Connection(target, [(INITIAL_WINDOW_SIZE, 0)])
            held.append((connection, Stream(target, connection, live_updates=True)))
            for _ in range(20):
                held[-1][1].send(_request(Reply(match_id="x")))
        del held[:-200]
