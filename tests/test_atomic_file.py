import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from asara_server import atomic_file
from asara_server.atomic_file import (
    PRIVATE,
    AppendedFile,
    abandoned_parts,
    create_file,
    replace_file,
)
from tests.events import EVENT_S, wait_until


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    old = os.umask(0o022)
    yield
    os.umask(old)


def permissions(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_replaced_with_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    replace_file(path, b"secret", mode=PRIVATE)
    assert (path.read_bytes(), permissions(path)) == (b"secret", 0o600)
    replace_file(path, b"open")
    assert (path.read_bytes(), permissions(path)) == (b"open", 0o644)
    os.umask(0o077)
    replace_file(path, b"as the user's other files")
    assert permissions(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "referee.key"
    create_file(path, b"first", mode=PRIVATE)
    with pytest.raises(FileExistsError):
        create_file(path, b"second", mode=PRIVATE)
    assert (path.read_bytes(), permissions(path)) == (b"first", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "standings.json"
    replace_file(path, b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_leaves_is_found_by_the_name_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", lambda *_: None)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    replace_file(tmp_path / "m1.asara", b"x")
    (tmp_path / ".thesis.part").touch()
    (tmp_path / "m2.asara").touch()
    (part,) = abandoned_parts(tmp_path, ["*.asara"])
    assert part.read_bytes() == b"x"
    assert abandoned_parts(tmp_path, ["m1.asara"]) == [part]
    assert abandoned_parts(tmp_path, ["run.json"]) == []


def test_a_file_that_is_closed_just_before_a_request_is_taken_back_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Requested(threading.Event):
        def clear(self) -> None:
            closing.start()
            assert file._closed.wait(EVENT_S)
            wait_until("the end is requested", self.is_set)
            super().clear()

    monkeypatch.setattr(atomic_file, "SYNC_S", 0.01)
    file = AppendedFile(tmp_path / "log")
    file._requested = Requested()
    closing = threading.Thread(target=file.close, daemon=True)
    file.sync_soon()
    assert file._syncing is not None
    file._syncing.join(EVENT_S)
    assert not file._syncing.is_alive()
    closing.join()
