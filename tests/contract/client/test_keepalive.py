"""A connection to the referee that is lost silently, or whose other side is stopped for a while."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import asara
from asara import stream
from asara.v1.play_pb2 import PlayResponse
from tests.contract.client import scripted
from tests.contract.client.scripted import ScriptedReferee, Stream
from tests.events import EVENT_S


class Proxy:
    """Forwards connections to a local port, and drops or holds their bytes on demand."""

    def __init__(self, port: int, path: Path | None = None) -> None:
        """Listen on a TCP port, or on a Unix socket at `path`."""
        self._port = port
        self._sockets: list[socket.socket] = []
        self.drop: list[threading.Event] = []
        """One event per connection; once it is set, the connection drops all bytes."""
        self.running = threading.Event()
        """While it is not set, all connections hold their bytes, as when the referee is stopped."""
        self.running.set()
        if path is None:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        else:
            self._listener = socket.create_server(str(path), family=socket.AF_UNIX)
            self.address = f"unix:{path}"
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
                self.running.wait()
                if not drop.is_set():
                    target.sendall(data)


def ping_often(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [
        (name, 500 if value == stream._KEEPALIVE_MS else value)
        for name, value in stream._KEEPALIVE_OPTIONS
    ]
    monkeypatch.setattr(stream, "_KEEPALIVE_OPTIONS", tuple(quick))


def test_a_silently_lost_connection_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = ScriptedReferee("127.0.0.1:0")
    proxy = Proxy(int(referee.address.rpartition(":")[2]))

    def lose_connection(stream: Stream) -> Iterator[PlayResponse]:
        monkeypatch.undo()  # a busy machine may be too slow for such pings on a good connection
        yield scripted.welcome()
        proxy.drop[-1].set()
        stream.expect_nothing_more()

    referee.scripts += [lose_connection, scripted.one_match]
    ping_often(monkeypatch)
    timeout = threading.Timer(EVENT_S, proxy.close)  # otherwise a failing test would hang
    timeout.start()
    try:
        asara.play(
            lambda decision, _: decision.legal_actions[0],
            asara.Settings(address=proxy.address, token="secret", patience_s=20),
        )
    finally:
        timeout.cancel()
        proxy.close()
        referee.stop()
    # More than two if this machine was too busy to answer the first pings in time.
    assert len(proxy.drop) >= 2


def test_a_referee_on_a_unix_socket_may_be_stopped_for_any_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    referee = ScriptedReferee("127.0.0.1:0")
    proxy = Proxy(int(referee.address.rpartition(":")[2]), tmp_path / "socket")

    def stop_for_a_while(stream: Stream) -> Iterator[PlayResponse]:
        proxy.running.clear()
        threading.Timer(1.5, proxy.running.set).start()
        yield from scripted.one_match(stream)

    referee.scripts += [stop_for_a_while]
    ping_often(monkeypatch)
    try:
        asara.play(
            lambda decision, _: decision.legal_actions[0],
            asara.Settings(address=proxy.address, token="secret", patience_s=1),
        )
    finally:
        proxy.close()
        referee.stop()
    assert proxy.running.is_set()
    assert len(proxy.drop) == 1, "the bot has kept its connection"
