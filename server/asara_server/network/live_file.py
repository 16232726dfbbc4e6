"""`live.json`: where a program that is playing matches offers its live feed."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from asara_server import system
from asara_server.atomic_file import PRIVATE, replace_file
from asara_server.bounded_file import read_bounded

LIVE_FILE = "live.json"
_LARGEST = 64 * 1024


class LiveFile(NamedTuple):
    """Content of `live.json`. After its program was killed, the socket is dead."""

    socket: Path
    process: int
    """Process of the program that plays the matches."""

    @classmethod
    def read(cls, folder: Path) -> "LiveFile | None":
        """Return the content of a folder's file; None if there is none or it makes no sense."""
        try:
            content = json.loads(read_bounded(folder / LIVE_FILE, _LARGEST))
            return cls(Path(content["socket"]), int(content["process"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    @classmethod
    def write(cls, folder: Path, socket: Path) -> None:
        """Write the file of this process, which only its owner may read; raises OSError."""
        content = {"socket": str(socket), "process": os.getpid()}
        data = json.dumps(content, indent=2) + "\n"
        replace_file(folder / LIVE_FILE, data.encode(), mode=PRIVATE)

    @classmethod
    def is_offered(cls, folder: Path) -> bool:
        """Return True if a folder names a feed whose process lives.

        The file outlives a process that was killed, and its number may have been given to another
        process since: only the socket tells for certain.
        """
        live = cls.read(folder)
        if live is None or live.process <= 0:
            return False
        if not system.UNIX:  # where signal 0 is Ctrl-C
            return True
        try:
            os.kill(live.process, 0)  # sends nothing
        except (OSError, OverflowError):
            return False
        return True

    @staticmethod
    def remove(folder: Path) -> None:
        (folder / LIVE_FILE).unlink(missing_ok=True)
