"""Logging: one line per fact.

Call `configure` once, before anything is logged. A fact is an event in lower case words, and its
values: `log.info("seat forfeited", match="m1", seat=2)`. Tracebacks do not show the values of
variables, which may be tokens or hands.

Logs are bounded, because bots can cause some facts as often as they like. For each bot, the first
`REPEATS` facts with the same event are logged, and then `REPEATS_PER_S` per second. The next such
fact, or `log_left_out`, reports how many were left out. Facts about a seat are few, and are all
logged.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NoReturn, TextIO, TypeAlias

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from asara_server.text import plain, plain_lines, plain_value

LEVELS: Final = ("debug", "info", "warning", "error")

REPEATS: Final = 200
REPEATS_PER_S: Final = 5

Fact: TypeAlias = dict[str, Any]
"""The values of a log line, including `level`, `event` and `timestamp`."""


def configure(
    level: str = "info",
    stream: TextIO | None = None,
    *,
    to_stderr: bool = False,
) -> None:
    """Write facts of this level and above, one line each, to a stream, to standard error, or both.

    Without a `stream`, facts always go to standard error. Warnings of gRPC are written the same
    way. Raises ValueError for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"log level {level!r}: use one of {', '.join(LEVELS)}")
    lowest = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.MaybeTimeStamper(fmt="iso", utc=True),
    ]
    handlers: list[logging.StreamHandler[TextIO]] = []
    if stream is not None:
        handlers.append(_FileHandler(stream))
    if stream is None or to_stderr:
        handlers.append(_StderrHandler())
    for handler in handlers:
        handler.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                processors=[
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_rendering(handler.stream),
                ],
                foreign_pre_chain=shared,
            )
        )
    logging.basicConfig(handlers=handlers, level=max(lowest, logging.WARNING), force=True)
    _repeats.reset()
    own = logging.getLogger("asara_server")
    own.setLevel(lowest)
    structlog.configure(
        processors=[
            _repeats.limit,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=lambda *_: own,
        cache_logger_on_first_use=False,
    )


def log_left_out() -> None:
    """Log how many facts were left out, unless a later fact has already reported the number."""
    for fact in _repeats.pop_left_out():
        logger("log").warning("similar lines left out", **fact)


class _Repeats:
    """Limits how often the referee logs the same event of the same bot."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything logged so far."""
        # By event and entry: the level of a leaky bucket, and the time of that level.
        self._levels: dict[tuple[str, str], tuple[float, float]] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def limit(
        self, _logger: object, _method: str, fact: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        """Return the fact, with the number of facts left out before it; or drop the fact."""
        if fact.get("part") != "referee" or "entry" not in fact or "seat" in fact:
            return fact
        key = str(fact["event"]), str(fact["entry"])
        now = time.monotonic()
        level, since = self._levels.get(key, (0.0, now))
        level = max(level - (now - since) * REPEATS_PER_S, 0.0) + 1
        if level > REPEATS:
            self._levels[key] = level - 1, now
            self._left_out[key] += 1
            raise structlog.DropEvent
        self._levels[key] = level, now
        if left_out := self._left_out.pop(key, 0):
            fact["left_out"] = left_out
        return fact

    def pop_left_out(self) -> list[Fact]:
        """Return the facts left out and not yet reported, and forget them."""
        facts: list[Fact] = [
            {"similar_to": event, "entry": entry, "left_out": count}
            for (event, entry), count in self._left_out.items()
        ]
        self._left_out.clear()
        return facts


_repeats = _Repeats()


class _FileHandler(logging.StreamHandler[TextIO]):
    """Writes to a file; if that fails, as on a full disk, standard error reports it once."""

    _failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._failed:
            self._failed = True
            name = getattr(self.stream, "name", "log")
            sys.stderr.write(f"asara: {name}: {error.strerror}: lines of this log are lost\n")


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`, which rich replaces while it draws a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _rendering(target: TextIO) -> list[Processor]:
    return [
        structlog.processors.ExceptionRenderer(),
        _make_plain,
        structlog.dev.ConsoleRenderer(colors=target.isatty(), pad_event_to=24),
    ]


def _make_plain(
    _logger: object, _method: str, fact: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Make all texts plain, whoever wrote them; only a traceback keeps several lines."""
    return {
        key: plain_value(value, plain_lines if key == "exception" else _on_one_line)
        for key, value in fact.items()
    }


def _on_one_line(text: str) -> str:
    return plain(text, None)


def logger(name: str, **values: Any) -> FilteringBoundLogger:
    """Return a logger whose lines contain the name of a part of the program.

    The logger keeps the current configuration, so that calls below its level cost next to nothing.
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
    """Log gathered facts with their original times; `values` are added to each fact."""
    for fact in facts:
        own = dict(fact)
        level = logging.getLevelNamesMapping()[own.pop("level").upper()]
        structlog.get_logger().log(level, own.pop("event"), **own, **values)
