"""Keep the settings of logs, which commands change."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logs_as_before() -> Iterator[None]:
    """Restore the settings of logs afterwards."""
    config = structlog.get_config()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    try:
        yield
    finally:
        structlog.configure(**config)
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
