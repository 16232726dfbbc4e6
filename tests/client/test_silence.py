"""A way to the referee that is lost without a word, as it happens between machines."""

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


class Way:
    """Carries bytes between whoever dials it and a port of this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ends: list[socket.socket] = []
        #: One for each connection; bytes of those that are set are lost.
        self.lost: list[threading.Event] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def close(self) -> None:
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # wakes who waits for it
            end.close()

    def _start(self, work: object, *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [near, far]
                lost = threading.Event()
                self.lost.append(lost)
                self._start(self._carry, near, far, lost)
                self._start(self._carry, far, near, lost)

    def _carry(self, start: socket.socket, end: socket.socket, lost: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := start.recv(65_536):
                if not lost.is_set():
                    end.sendall(data)


def test_a_way_that_is_lost_without_a_word_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = ScriptedReferee("127.0.0.1:0")
    way = Way(int(referee.address.rpartition(":")[2]))

    def lose(stream: Stream) -> Iterator[PlayResponse]:
        yield scripted.welcome()
        way.lost[0].set()
        stream.expect_nothing_more()

    referee.scripts += [lose, scripted.one_match]
    quick = [
        (name, 200 if value == client._KEEPALIVE_MS else value)
        for name, value in client._CHANNEL_OPTIONS
    ]
    monkeypatch.setattr(client, "_CHANNEL_OPTIONS", tuple(quick))
    too_late = threading.Timer(20, way.close)  # else a bot that notices nothing waits for ever
    too_late.start()
    try:
        asara.play(
            lambda decision, _: decision.legal_actions[0],
            asara.Settings(address=way.address, token="secret", patience_s=1),
        )
    finally:
        too_late.cancel()
        way.close()
        referee.stop()
    assert len(way.lost) == 2
