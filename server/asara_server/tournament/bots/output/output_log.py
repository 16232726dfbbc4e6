"""A log of a bot's output, limited in size."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from asara_server.logs import logger
from asara_server.tournament.bots.output.decision_index import append_index, index_of
from asara_server.tournament.bots.output.error_output import clean_lines, kit_message, last_lines

_LAST_BYTES = 1 << 16
"""Bytes kept of the end of the output."""


class OutputTap(Protocol):
    """Receives a process's output as it arrives, within the log's size limit."""

    def __call__(self, data: bytes, *, last: bool = False) -> None:
        """`last` is True for the final part, which may be empty."""


class OutputLog:
    """A bot's output, with the runner's notes as lines beginning with `#`."""

    def __init__(self, path: Path, limit: int, tap: OutputTap | None = None) -> None:
        """`limit` is the maximum size of each file in bytes."""
        self._limit = limit
        self._tap = tap
        self._last = bytearray()
        self._before = b""  # the end of what was printed before this match
        self._asked: Callable[[], int] | None = None
        self._index: list[tuple[int, int]] = []  # position in the file, decision
        self._open(path)

    def _open(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._too_much = False
        try:
            path.parent.mkdir(exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            self._give_up(error)
            return
        self._left = self._limit - self._file.tell()
        self._cut = self._left < 0

    def _give_up(self, error: OSError) -> None:
        """Stop writing output to this file, for example on a full disk; the match continues."""
        self._cut = True
        self._left = 0
        logger("runner").warning(
            "output of a bot is lost", file=str(self._path), why=error.strerror or str(error)
        )

    def _append(self, data: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(data)
            except OSError as error:
                self._give_up(error)

    @property
    def path(self) -> Path:
        """The file being written."""
        return self._path

    def switch_to(self, path: Path) -> None:
        """Continue in another file."""
        self.end_match()
        self._close_file()
        self._before = (self._before + self._last)[-_LAST_BYTES:]
        self._last.clear()
        self._open(path)

    def begin_match(self, asked: Callable[[], int]) -> None:
        """From now on, record during which decision the process writes.

        `asked` returns the number of the seat's last requested decision, 0 before the first.
        """
        self._asked = asked
        self._decision = 0

    def end_match(self) -> None:
        """Write the index next to the log: which part was written during which decision."""
        self._asked = None
        if self._index:
            append_index(index_of(self._path), [*self._index, (self._limit - self._left, 0)])
            self._index.clear()

    @property
    def cut(self) -> str:
        """A remark that output was cut because there was too much of it, or ""."""
        return f"(its output was cut at {self._limit:,} bytes)" if self._too_much else ""

    @property
    def full(self) -> bool:
        return self._left <= 0

    def write(self, data: bytes) -> None:
        """Write `data` up to the size limit. `last_lines` covers the remainder as well."""
        if self._asked is not None and (decision := self._asked()) != self._decision:
            self._decision = decision
            if not self._cut:
                self._index.append((self._limit - self._left, decision))
        self._last += data
        if len(self._last) > 2 * _LAST_BYTES:
            del self._last[:-_LAST_BYTES]
        if self._cut or self._file is None:
            return
        self._keep(data[: self._left])
        self._left -= len(data)
        if self._left < 0 and not self._cut:
            self._cut = self._too_much = True
            self._keep(f"\n# cut: only {self._limit:,} bytes are kept\n".encode())

    def _keep(self, data: bytes) -> None:
        self._append(data)
        if self._tap is not None:
            self._tap(data)

    def note(self, text: str) -> None:
        """Write a note with the current time in UTC."""
        if not self._cut:
            line = f"# {datetime.now(UTC):%H:%M:%S} {text}\n".encode()
            self._append(line)
            self._left -= len(line)

    def last_text(self) -> str:
        """Return the end of the output exactly as printed."""
        return self._last.decode(errors="replace")

    def last_lines(self) -> list[str]:
        """Return the last lines printed, safe to show; see `error_output.last_lines`.

        If nothing was printed in this match, return the last lines of the previous one, after which
        the process may have failed.
        """
        return last_lines(self.lines() or clean_lines(self._before))

    def kit_message(self) -> list[str]:
        """Return the last message of the bot's client in this match, or no lines."""
        return kit_message(self.lines())

    def lines(self) -> list[str]:
        """Return the end of what was printed in this match, indented as printed and safe to show.

        Empty lines are left out, and long lines are cut.
        """
        return clean_lines(bytes(self._last[-_LAST_BYTES:]))

    def close(self) -> None:
        """Close the file; the last output can still be read from memory."""
        self.end_match()
        if self._tap is not None:
            self._tap(b"", last=True)
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def last_printed(path: Path) -> list[str]:
    """Return the last lines in a file, like `last_lines`, without the runner's notes."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2 * _LAST_BYTES))
            data = file.read(2 * _LAST_BYTES)
    except OSError:
        return []
    return last_lines(clean_lines(b"\n".join(one for one in data.split(b"\n") if one[:2] != b"# ")))
