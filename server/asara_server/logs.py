"""Logging: one line per fact, for people or for programs.

Call `configure` once, before anything is logged. A fact is an event in lower case words, and its
values: `log.info("seat forfeited", match="m1", seat=2)`. Tracebacks do not show the values of
variables, which may be tokens or hands.
"""

import logging
import sys
from collections.abc import Iterable
from typing import Any, Final, NoReturn, TextIO, TypeAlias

import structlog
from structlog.typing import FilteringBoundLogger, Processor

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("console", "json")

Fact: TypeAlias = dict[str, Any]
"""The values of a line, `level`, `event` and `timestamp` included."""


def configure(
    level: str = "info",
    form: str = "console",
    stream: TextIO | None = None,
    *,
    to_stderr: bool = False,
) -> None:
    """Write facts of this level and above, one line each, to a stream, to standard error, or both.

    Without a `stream` they always go to standard error. Warnings of gRPC are written the same way.
    Raises ValueError for an unknown level or form.
    """
    if level not in LEVELS:
        raise ValueError(f"log level {level!r}: use one of {', '.join(LEVELS)}")
    if form not in FORMATS:
        raise ValueError(f"log format {form!r}: use one of {', '.join(FORMATS)}")
    lowest = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.MaybeTimeStamper(fmt="iso", utc=True),
    ]
    handlers = [] if stream is None else [logging.StreamHandler(stream)]
    if stream is None or to_stderr:
        handlers.append(_StderrHandler())
    for handler in handlers:
        handler.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                processors=[
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_rendering(form, handler.stream),
                ],
                foreign_pre_chain=shared,
            )
        )
    logging.basicConfig(handlers=handlers, level=max(lowest, logging.WARNING), force=True)
    own = logging.getLogger("asara_server")
    own.setLevel(lowest)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=lambda *_: own,
        cache_logger_on_first_use=False,
    )


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the present `sys.stderr`, which rich replaces while it draws a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _rendering(form: str, target: TextIO) -> list[Processor]:
    if form == "json":
        return [
            structlog.processors.ExceptionRenderer(
                structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
            ),
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    return [
        structlog.dev.ConsoleRenderer(
            colors=target.isatty(),
            pad_event_to=24,
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]


def logger(name: str, **values: Any) -> FilteringBoundLogger:
    """Return a logger whose lines have the name of a part of the program.

    It keeps the configuration of the moment, so that calls below its level cost next to nothing.
    """
    bound: FilteringBoundLogger = structlog.get_logger().bind(part=name, **values)
    return bound


def gather(facts: list[Fact], level: int) -> FilteringBoundLogger:
    """Return a logger that appends facts of this level and above (as in `logging`) to a list.

    The facts can be pickled, and logged in another process by `repeat`.
    """

    def append(_logger: object, _method: str, fact: structlog.typing.EventDict) -> NoReturn:
        facts.append(dict(fact))
        raise structlog.DropEvent

    bound: FilteringBoundLogger = structlog.wrap_logger(
        None,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            append,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    ).bind()
    return bound


def repeat(facts: Iterable[Fact], **values: Any) -> None:
    """Log gathered facts, which keep their own times; the values are added to each."""
    for fact in facts:
        own = dict(fact)
        level = logging.getLevelNamesMapping()[own.pop("level").upper()]
        structlog.get_logger().log(level, own.pop("event"), **own, **values)
