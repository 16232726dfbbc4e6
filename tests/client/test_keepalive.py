"""A connection to the referee that is lost silently, as may happen between machines."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

import asara
from asara import client
from asara.v1.play_pb2 import PlayResponse
from tests.client import scripted
from tests.client.scripted import ScriptedReferee, Stream


class Proxy:
    """Forwards TCP connections to a local port, and drops their bytes on demand."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._sockets: list[socket.socket] = []
        self.drop: list[threading.Event] = []
        """One event per connection; once it is set, the connection drops all bytes."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes the threads that block on it
            each.close()

    def _start(self, work: object, *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += [client, server]
                drop = threading.Event()
                self.drop.append(drop)
                self._start(self._forward, client, server, drop)
                self._start(self._forward, server, client, drop)

    def _forward(self, source: socket.socket, target: socket.socket, drop: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if not drop.is_set():
                    target.sendall(data)


def test_a_silently_lost_connection_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = ScriptedReferee("127.0.0.1:0")
    proxy = Proxy(int(referee.address.rpartition(":")[2]))

    def lose_connection(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        proxy.drop[0].set()
        stream.expect_nothing_more()

    referee.scripts += [lose_connection, scripted.one_match]
    quick = [
        (name, 200 if value == client._KEEPALIVE_MS else value)
        for name, value in client._CHANNEL_OPTIONS
    ]
    monkeypatch.setattr(client, "_CHANNEL_OPTIONS", tuple(quick))
    timeout = threading.Timer(20, proxy.close)  # otherwise a failing test would hang
    timeout.start()
    try:
        asara.play(
            lambda decision, _: decision.legal_actions[0],
            asara.Settings(address=proxy.address, token="secret", patience_s=1),
        )
    finally:
        timeout.cancel()
        proxy.close()
        referee.stop()
    assert len(proxy.drop) == 2
