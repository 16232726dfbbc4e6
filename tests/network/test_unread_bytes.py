"""Bytes that have arrived at a Unix socket and were not read."""

import fcntl
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from asara_server.network.unread_bytes import (
    UNREAD_BYTES,
    break_connections,
    can_check,
    crowded_paths,
    unread_at,
    unread_from,
)

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


def test_locks_on_files_are_kept(tmp_path: Path) -> None:
    """To close any descriptor of a file gives up this process's locks on it."""
    other_process = (
        "import fcntl, sys\n"
        "with open(sys.argv[1], 'r+b') as file:\n"
        "    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    )
    path = tmp_path / "journal"
    path.write_bytes(b"x" * UNREAD_BYTES)
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        assert crowded_paths() == set()
        assert (unread_at("none"), unread_from("unix:none")) == (0, 0)
        break_connections("none")
        done = subprocess.run(
            [sys.executable, "-c", other_process, path], capture_output=True, text=True, check=False
        )
    assert "BlockingIOError" in done.stderr
