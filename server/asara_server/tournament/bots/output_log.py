"""The log of a bot's output, limited in size."""

from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from asara_server.logs import logger

_LAST_BYTES = 2_000
_LAST_LINES = 5


class OutputLog:
    """The output of one bot, with the runner's notes as lines that begin with `#`."""

    def __init__(self, path: Path, limit: int) -> None:
        """`limit` is the size of each file in bytes."""
        self._limit = limit
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
        self._last = (self._last + data)[-_LAST_BYTES:]
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

    def last_text(self) -> str:
        """Return the end of what was printed, as it was printed."""
        return self._last.decode(errors="replace")

    def last_lines(self) -> list[str]:
        """Return the last lines printed, safe to show on a terminal."""
        text = self.last_text()
        lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
        return [line.strip() for line in lines if line.strip()][-_LAST_LINES:]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
