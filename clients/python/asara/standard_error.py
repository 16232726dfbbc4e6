"""Sends the client's warnings to standard error even if the program logs to a file."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable


class StandardErrorHandler(logging.Handler):
    """Writes records that no other handler writes to a standard stream."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        if not any(map(_is_standard, _handlers(record.name))):
            sys.stderr.write(f"{record.getMessage()}\n")


def _handlers(name: str) -> Iterable[logging.Handler]:
    logger: logging.Logger | None = logging.getLogger(name)
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


def _is_standard(handler: logging.Handler) -> bool:
    return getattr(handler, "stream", None) in (sys.stdout, sys.stderr)
