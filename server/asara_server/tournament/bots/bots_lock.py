"""The lock by which runs, checks and matches of one user know of each other's bots."""

import contextlib
import os
from pathlib import Path

from asara_server.eventlog.sqlite_lock import hold_shared, lock_holder
from asara_server.tournament.bots.build_cache import cache_folder


class BotsLock:
    """Held while bots of this process live, together with other processes that have bots."""

    def __init__(self) -> None:
        self._bots: set[str] = set()
        self._descriptor: int | None = None

    def add(self, bot: str) -> None:
        """Hold the lock until this bot is dead. A system without such locks does without."""
        self._bots.add(bot)
        if self._descriptor is None:
            with contextlib.suppress(OSError):
                path = _path()
                path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                hold_shared(self._descriptor)

    def discard(self, bot: str) -> None:
        """Count a bot as dead."""
        self._bots.discard(bot)
        if not self._bots and self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def others_have_bots() -> bool:
    """Return True if bots of another process live; this one may have none."""
    with contextlib.suppress(OSError):
        return lock_holder(_path()) is not None
    return False


def _path() -> Path:
    return cache_folder() / "bots.lock"
