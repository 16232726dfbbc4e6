"""A lock that tells the runs, checks and matches of one user about each other's bots.

The lock belongs to the process. Its file is never closed, because closing it would release the
lock.
"""

import contextlib
import os
from functools import cache
from pathlib import Path
from typing import Final

from asara_server.eventlog.file_lock import give_up, hold_shared, holder

_living: Final[set[str]] = set()
"""Tokens of the living bots of this process."""


def hold_for(token: str) -> None:
    """Hold the lock until this bot is dead. Does nothing on systems without such locks."""
    with contextlib.suppress(OSError):
        hold_shared(_descriptor(_cache_folder()))
    _living.add(token)


def count_as_dead(token: str) -> None:
    _living.discard(token)
    if not _living:
        with contextlib.suppress(OSError):
            give_up(_descriptor(_cache_folder()))


def others_have_bots() -> bool:
    """Return True if another process of this user has living bots."""
    with contextlib.suppress(OSError):
        return holder(_descriptor(_cache_folder())) is not None
    return False


@cache
def _descriptor(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / "bots.lock", os.O_RDWR | os.O_CREAT, 0o600)


def _cache_folder() -> Path:
    """Return the user's folder for caches, which may be closed to writing."""
    home = os.environ.get("XDG_CACHE_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "asara"
    try:
        return Path.home() / ".cache" / "asara"
    except RuntimeError:  # the user has neither HOME nor an entry in passwd
        return Path("/.cache/asara")
