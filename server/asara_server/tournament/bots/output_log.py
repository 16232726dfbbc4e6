"""The log of a bot's output, limited in size."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from asara_server.logs import logger
from asara_server.text import plain

_LAST_BYTES = 2_000
_LAST_LINES = 5
_LONGEST_LINE = 300
"""Characters of the longest line that is shown whole."""
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""A code that a terminal obeys, such as a colour."""


class OutputLog:
    """The output of one bot, with the runner's notes as lines that begin with `#`."""

    def __init__(self, path: Path, limit: int, last_bytes: int = _LAST_BYTES) -> None:
        """`limit` is the size of each file in bytes; `last_lines` are in the `last_bytes`."""
        self._limit = limit
        self._last_bytes = last_bytes
        self._last = b""
        self._open(path)

    def _open(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._left = 0
        self._cut = True
        try:
            path.parent.mkdir(exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            self._give_up(error)
            return
        self._left = self._limit - self._file.tell()
        self._cut = self._left < 0

    def _give_up(self, error: OSError) -> None:
        """Keep no more output in this file, as on a full disk; the match goes on."""
        self._cut = True
        self._left = 0
        logger("runner").warning(
            "output of a bot is lost", file=str(self._path), why=error.strerror or str(error)
        )

    def _append(self, data: bytes) -> None:
        if self._file is not None and not self._file.closed:
            try:
                self._file.write(data)
            except OSError as error:
                self._give_up(error)

    def switch_to(self, path: Path) -> None:
        """Continue in another file."""
        self.close()
        self._last = b""
        self._open(path)

    @property
    def full(self) -> bool:
        return self._left <= 0

    def write(self, data: bytes) -> None:
        """Write `data` as far as the limit allows; `last_lines` covers the rest as well."""
        self._last = (self._last + data)[-self._last_bytes :]
        if self._cut or self._file is None or self._file.closed:
            return
        self._append(data[: self._left])
        self._left -= len(data)
        if self._left < 0 and not self._cut:
            self._cut = True
            self._append(f"\n# cut: only {self._limit:,} bytes are kept\n".encode())

    def note(self, text: str) -> None:
        """Write a note with the time in UTC."""
        if not self._cut:
            line = f"# {datetime.now(UTC):%H:%M:%S} {text}\n".encode()
            self._append(line)
            self._left -= len(line)

    def last_lines(self) -> list[str]:
        """Return the last lines printed, safe to show on a terminal."""
        return [line.strip() for line in self.last_indented_lines(_LAST_LINES)]

    def last_indented_lines(self, most: int) -> list[str]:
        """Return at most so many of the last lines printed, safe to show, with their indentation.

        Empty lines are left out, and long lines are cut.
        """
        return _safe_lines(self._last)[-most:]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def last_printed(path: Path) -> list[str]:
    """Return the last lines in a file, without the runner's notes, as `last_lines` does."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            data = file.read(_LAST_BYTES)
    except OSError:
        return []
    return _last_lines(b"\n".join(one for one in data.split(b"\n") if one[:2] != b"# "))


def _last_lines(data: bytes) -> list[str]:
    return [line.strip() for line in _safe_lines(data)[-_LAST_LINES:]]


def _safe_lines(data: bytes) -> list[str]:
    text = _TERMINAL_CODE.sub("", data.decode(errors="replace")).expandtabs(4)
    lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
    return [plain(line.rstrip(), _LONGEST_LINE) for line in lines if line.strip()]
