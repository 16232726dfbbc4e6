"""Where log lines go: into a run's log file, and to the terminal only when asked for."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from asara_server.logs import configure


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user asked for."""

    level: str | None
    """None: quiet on the terminal."""
    form: str


class _Tee:
    """A stream that writes to a file and to whatever standard error is at that moment."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        sys.stderr.write(text)
        return self._file.write(text)

    def flush(self) -> None:
        sys.stderr.flush()
        self._file.flush()

    def isatty(self) -> bool:
        return False  # a file wants no colours


def log_to_terminal(options: LogOptions, quiet: str = "error") -> None:
    """Log to standard error; `quiet` is the level where the user named none."""
    configure(options.level or quiet, options.form)


@contextmanager
def log_to_file(options: LogOptions, path: Path) -> Iterator[None]:
    """Log to a file, and to the terminal as well if the user named a level."""
    with path.open("a", encoding="utf-8", buffering=1) as file:
        stream = _Tee(file) if options.level else file
        configure(options.level or "info", options.form, stream)  # type: ignore[arg-type]
        try:
            yield
        finally:
            configure("error", options.form)
