"""Where log lines go: into a run's log file, and to the terminal only when asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from asara_server.logs import configure


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user asked for."""

    level: str | None
    """None: quiet on the terminal."""
    form: str


def log_to_terminal(options: LogOptions, quiet: str = "error") -> None:
    """Log to standard error; `quiet` is the level where the user named none."""
    configure(options.level or quiet, options.form)


@contextmanager
def log_to_file(options: LogOptions, path: Path) -> Iterator[None]:
    """Log to a file, and to the terminal as well if the user named a level."""
    with path.open("a", encoding="utf-8", buffering=1) as file:
        if options.level is None:
            configure("info", options.form, file)
        else:
            configure(options.level, options.form, file, to_stderr=True)
        try:
            yield
        finally:
            configure("error", options.form)
