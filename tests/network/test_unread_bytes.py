"""Bytes that have arrived at a Unix socket and were not read."""

import socket
from pathlib import Path

import pytest

from asara_server.network.unread_bytes import can_check, unread_at, unread_from

pytestmark = pytest.mark.skipif(not can_check(), reason="needs /proc")


def test_unread_bytes_are_counted_by_the_path_and_by_the_name_of_the_other_end(
    tmp_path: Path,
) -> None:
    path, name = str(tmp_path / "socket"), str(tmp_path / "client")
    with (
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX) as client,
        socket.socket(socket.AF_UNIX) as other,
    ):
        listener.bind(path)
        listener.listen()
        client.bind(name)
        client.connect(path)
        other.connect(path)
        assert (unread_at(path), unread_from(f"unix:{name}")) == (0, 0)
        accepted = [listener.accept()[0] for _ in range(2)]
        client.sendall(b"x" * 31)
        other.sendall(b"x" * 7)
        assert (unread_at(path), unread_from(f"unix:{name}")) == (38, 31)
        assert unread_at(str(tmp_path / "elsewhere")) == 0
        accepted[0].recv(30)
        assert (unread_at(path), unread_from(f"unix:{name}")) == (8, 1)
        for connection in accepted:
            connection.close()
