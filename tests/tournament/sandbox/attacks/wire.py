"""A client for HTTP/2 and gRPC that need not keep to either.

It uses no library of either, so an attack decides about every frame and every byte. Flow control
is kept unless an attack sends frames itself, because a server ends the connection otherwise.
"""

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Iterable, Iterator

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10)
)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 4, 5
FRAME_BYTES = 16_384

PLAY = "/asara.v1.PlayService/Play"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"

_WAIT_S = 10.0
"""Seconds without room to send, after which an attack gives a connection up."""


class Target:
    """The referee under attack, and the time that is left for it."""

    def __init__(self, address: str, token: str, seconds: float) -> None:
        self.path = address.removeprefix("unix:")
        self.token = token
        self._deadline = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """Seconds until the attack ends; negative afterwards."""
        return self._deadline - time.monotonic()

    def rounds(self, pause_s: float = 0.0) -> Iterator[int]:
        """Count from 0 while there is time, with a pause after each round."""
        number = 0
        while self.left_s > 0:
            yield number
            number += 1
            if pause_s:
                time.sleep(pause_s)

    def connect(self) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX)
        connected.settimeout(_WAIT_S)
        connected.connect(self.path)
        return connected


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return an HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(pairs: Iterable[tuple[int, int]] = ()) -> bytes:
    """Return a SETTINGS frame."""
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def header_block(path: str, more: Iterable[tuple[str, str]] = ()) -> bytes:
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
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in pairs)


def _text(value: str) -> bytes:
    data = value.encode("latin-1")
    size = len(data)
    if size < 127:
        return bytes([size]) + data
    size -= 127
    prefix = bytearray([127])
    while size >= 128:
        prefix.append(size % 128 + 128)
        size //= 128
    return bytes([*prefix, size]) + data


def message(data: bytes, *, compressed: bool = False) -> bytes:
    """Return a gRPC message: its length and its bytes."""
    return struct.pack(">BI", compressed, len(data)) + data


class Connection:
    """A connection of HTTP/2. Every method raises OSError once the connection is over."""

    def __init__(self, target: Target, pairs: Iterable[tuple[int, int]] = ()) -> None:
        """`pairs` are the client's settings."""
        self._socket = target.connect()
        self._received = bytearray()
        self._target = target
        self._window = 65_535
        self._windows: dict[int, int] = {}
        self._first_window = 65_535
        self._next_stream = 1
        self.ended: set[int] = set()
        """Streams that the server has ended, unless an attack removes them."""
        self.send(PREFACE + settings(pairs))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    def send(self, data: bytes) -> None:
        """Send these bytes."""
        self._socket.sendall(data)

    def open(self, path: str, more: Iterable[tuple[str, str]] = (), *, end: bool = False) -> int:
        """Begin a call; return its stream."""
        stream = self._next_stream
        self._next_stream += 2
        flags = END_HEADERS | (END_STREAM if end else 0)
        self.send(frame(HEADERS, flags, stream, header_block(path, more)))
        self._windows[stream] = self._first_window
        return stream

    def call(self, path: str, data: bytes, *, end: bool = True) -> int:
        """Begin a call with one message; return its stream."""
        stream = self.open(path)
        self.write(stream, message(data), end=end)
        return stream

    def write(self, stream: int, data: bytes, *, end: bool = False) -> None:
        """Send bytes of a stream, as fast as the server takes them."""
        left = memoryview(data)
        since = time.monotonic()
        while True:
            room = min(len(left), FRAME_BYTES, self._window, self._windows.get(stream, 0))
            if stream in self.ended:
                return
            if left and room <= 0:
                if time.monotonic() - since > _WAIT_S or self._target.left_s < 0:
                    raise OSError("the server takes no more")
                self.pump(0.05)
                continue
            since = time.monotonic()
            last = room == len(left)
            self.send(frame(DATA, END_STREAM if last and end else 0, stream, bytes(left[:room])))
            self._window -= room
            self._windows[stream] -= room
            left = left[room:]
            self.pump(0)
            if last:
                return

    def wait_for_end(self, stream: int, seconds: float = _WAIT_S) -> bool:
        """Wait until the server has ended a stream; False if it has not in this time."""
        deadline = time.monotonic() + seconds
        while stream not in self.ended and time.monotonic() < deadline and self._target.left_s > 0:
            self.pump(0.05)
        return stream in self.ended

    def pump(self, seconds: float) -> None:
        """Handle the frames that have arrived; wait for some for this time."""
        if not select.select([self._socket], [], [], seconds)[0]:
            return
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._received += data
        at = 0
        while len(self._received) - at >= 9:
            size = int.from_bytes(self._received[at : at + 3], "big")
            if len(self._received) - at < 9 + size:
                break
            kind, flags = self._received[at + 3], self._received[at + 4]
            stream = int.from_bytes(self._received[at + 5 : at + 9], "big") & 0x7FFFFFFF
            self._handle(kind, flags, stream, bytes(self._received[at + 9 : at + 9 + size]))
            at += 9 + size
        del self._received[:at]

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
        elif kind == DATA:
            if payload:
                more = struct.pack(">I", len(payload))
                self.send(frame(WINDOW_UPDATE, 0, 0, more) + frame(WINDOW_UPDATE, 0, stream, more))
        elif kind == GOAWAY:
            raise ConnectionError("the server says goodbye")
        if kind == RST_STREAM or (kind in {HEADERS, DATA} and flags & END_STREAM):
            self.ended.add(stream)
            self._windows.pop(stream, None)


def target_from_environment(seconds: float) -> Target:
    """Return the target that the variables of bots name."""
    return Target(os.environ["ASARA_ADDRESS"], os.environ["ASARA_TOKEN"], seconds)
