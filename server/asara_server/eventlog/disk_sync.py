"""Forces a file to disk from a separate thread, so that nothing waits for the disk."""

import os
import threading
from typing import Final

INTERVAL_S: Final = 1.0
"""Seconds from a request until the file is forced to disk."""


class DiskSync:
    """Forces one open file to disk at most once per interval, after a `request`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._requested = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.error: OSError | None = None
        """The error that the disk reported; nothing is forced to disk after it."""

    def request(self) -> None:
        """Have everything written so far forced to disk soon."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="disk-sync", daemon=True)
            self._thread.start()
        self._requested.set()

    def close(self) -> None:
        """End the thread and drop a waiting request. Close the file only after this call."""
        self._closed.set()
        self._requested.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while self._requested.wait() and not self._closed.wait(INTERVAL_S):
            self._requested.clear()
            if self._closed.is_set():  # this may have been the request of `close`
                return
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self.error = error
                return
