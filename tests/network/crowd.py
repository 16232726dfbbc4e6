"""Strangers who knock at a port from many addresses of this machine, without rest.

Run as a program: `crowd.py PORT ADDRESSES`. Each address has one connection at a time; they take
turns in what they send. Whenever all have connected once more, the program prints how often they
have in all; it ends with its input.
"""

import contextlib
import random
import resource
import select
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.events import wait_until

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes close() reset the connection."""


def client_hello() -> bytes:
    """The first bytes of an honest TLS handshake, which a server answers with its certificate."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    return sent.read()


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
SENT = (
    b"",
    PREFACE,
    client_hello(),
    client_hello()[:90],
    b"\x16",
    random.Random(1).randbytes(400),
    b"\x16\x03\x01\x01\x00\x01" + random.Random(2).randbytes(300),
)


def _connect(port: int, source: str) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    connection.bind((source, 0))
    with contextlib.suppress(BlockingIOError):
        connection.connect(("127.0.0.1", port))
    return connection


def _main(port: int, addresses: int) -> None:
    sources = [f"127.{1 + n // 62_500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(addresses)]
    held: dict[str, socket.socket] = {}
    knocks = 0
    while True:
        for number, source in enumerate(sources):
            with contextlib.suppress(OSError):
                if source in held:
                    held.pop(source).close()
                held[source] = _connect(port, source)
                knocks += 1
                held[source].send(SENT[number % len(SENT)])
            if number % 500 == 499:
                print(knocks, flush=True)
                if select.select([sys.stdin], [], [], 0)[0]:
                    return


class Crowd:
    """The program, as the test sees it."""

    def __init__(self, counts: Path) -> None:
        self._counts = counts

    def wait_for_knocks(self, number: int) -> None:
        """Return when they have connected so often."""
        wait_until(
            f"{number} knocks", lambda: int(["0", *self._counts.read_text().split()][-1]) >= number
        )


@contextmanager
def crowd(port: int, addresses: int) -> Iterator[Crowd]:
    words = [sys.executable, "-m", "tests.network.crowd", str(port), str(addresses)]
    with tempfile.NamedTemporaryFile("r") as counts:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=counts.fileno())
        try:
            yield Crowd(Path(counts.name))
        finally:
            process.communicate()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    _main(int(sys.argv[1]), int(sys.argv[2]))
