"""A file is forced to disk soon after a request, and nothing waits for it."""

import os
import threading
from pathlib import Path

import pytest

from asara_server.eventlog import disk_sync
from asara_server.eventlog.disk_sync import DiskSync
from asara_server.eventlog.journal import Journal, JournalError
from tests.events import EVENT_S, wait_until


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Released whenever a file has been forced to disk."""
    found = threading.Semaphore(0)
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        found.release()

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(disk_sync, "INTERVAL_S", 0.05)
    return found


def test_it_ends_if_it_is_closed_just_before_a_request_is_taken_back() -> None:
    class Requested(threading.Event):
        def clear(self) -> None:
            closing.start()
            assert sync._closed.wait(EVENT_S)
            wait_until("the end is requested", self.is_set)
            super().clear()

    sync = DiskSync(-1)
    sync._requested = Requested()
    closing = threading.Thread(target=sync.close, daemon=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_sync, "INTERVAL_S", 0.01)
        sync.request()
        assert sync._thread is not None
        sync._thread.join(EVENT_S)
    assert not sync._thread.is_alive()


def test_the_end_of_a_match_is_forced_to_disk(tmp_path: Path, synced: threading.Semaphore) -> None:
    with Journal(tmp_path / "j") as journal:
        journal.end("m1", "result")
        assert synced.acquire(timeout=EVENT_S)


def test_a_disk_that_fails_fails_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk_sync, "INTERVAL_S", 0.01)
    journal = Journal(tmp_path / "j")
    monkeypatch.setattr(os, "fsync", failing)
    journal.end("m1", "result")
    wait_until("the disk fails", lambda: journal._sync.error)
    with pytest.raises(JournalError, match="Input/output error"):
        journal.end("m2", "result")
    journal.close()
