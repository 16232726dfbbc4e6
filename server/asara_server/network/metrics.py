"""A referee's metrics, for Prometheus to read over HTTP.

Whoever can reach the address learns no more of a running match than a watcher does: that it runs.
All else is told when a match is over (see `counters`). Threads of its own answer requests, a few
at a time; the event loop never waits for them.
"""

import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from itertools import accumulate
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore, Thread
from types import TracebackType
from typing import Any, Final, Self

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from asara_server.logs import logger
from asara_server.match.spec import SECOND_US
from asara_server.network.addresses import (
    ServeError,
    check_port,
    join_address,
    numeric_host,
    split_address,
)
from asara_server.referee.counters import BOUNDS_US, Histogram
from asara_server.referee.referee import Referee

PATH: Final = "/metrics"

_AT_ONCE: Final = 8
"""Requests; a further connection is closed."""

_PATIENCE_S: Final = 5.0
"""That a request and its answer may take in all; a pause in it, at most as long."""

_ENDS_S: Final = tuple(f"{bound / SECOND_US:g}" for bound in BOUNDS_US)


class RefereeCollector(Collector):
    """Metrics of a referee, taken at the moment when they are read."""

    def __init__(self) -> None:
        #: None until there is one.
        self.referee: Referee | None = None

    def collect(self) -> Iterator[Metric]:
        """The metrics, as far as there are any."""
        yield _labelled(
            GaugeMetricFamily(
                "asara_build_info", "Always 1; version of the program.", labels=["version"]
            ),
            {(version("asara"),): 1},
        )
        if self.referee is not None:
            yield from _now(self.referee)
            yield from _so_far(self.referee)


def _now(referee: Referee) -> Iterator[Metric]:
    yield _labelled(
        GaugeMetricFamily(
            "asara_open_matches", "Matches that wait for their bots, or run.", labels=["state"]
        ),
        {("waiting",): referee.waiting_matches, ("running",): referee.running_matches},
    )
    yield GaugeMetricFamily("asara_streams", "Streams of bots.", referee.streams)
    yield GaugeMetricFamily(
        "asara_streams_without_hello",
        "Streams whose bots have not said who they are.",
        referee.streams_without_hello,
    )
    yield GaugeMetricFamily("asara_watchers", "Calls that follow a match.", referee.watchers)


def _so_far(referee: Referee) -> list[Metric]:
    counters = referee.counters
    with counters.lock:
        return [
            _labelled(
                CounterMetricFamily(
                    "asara_matches",
                    "Matches that are over; void: the referee failed.",
                    labels=["result"],
                ),
                {("sound",): counters.sound, ("void",): counters.void},
            ),
            CounterMetricFamily(
                "asara_decisions",
                "Decisions that bots answered, in matches that are over.",
                sum(counters.bot.counts),
            ),
            _histogram(
                "asara_decision_seconds",
                "Time of a decision, in matches that are over: waiting for the bot, and the "
                "referee's own work.",
                {("bot",): counters.bot, ("referee",): counters.referee},
                label="phase",
            ),
            _histogram(
                "asara_journal_commit_seconds",
                "Time of a commit of the journal, in matches that are over.",
                {(): counters.commits},
            ),
            _labelled(
                CounterMetricFamily(
                    "asara_rejections",
                    "Replies that were not accepted, in matches that are over.",
                    labels=["reason"],
                ),
                {(reason.name.lower(),): n for reason, n in counters.rejections.items()},
            ),
            _labelled(
                CounterMetricFamily(
                    "asara_forfeits",
                    "Seats that forfeited, in matches that are over.",
                    labels=["entry", "kind"],
                ),
                {(entry, kind.name.lower()): n for (entry, kind), n in counters.forfeits.items()},
            ),
            _labelled(
                CounterMetricFamily(
                    "asara_protocol_violations",
                    "Streams ended because their bots broke the protocol or a limit.",
                    labels=["reason"],
                ),
                {(reason,): n for reason, n in counters.violations.copy().items()},
            ),
        ]


def _labelled(
    family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[tuple[str, ...], int]
) -> Metric:
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram(
    name: str, text: str, values: Mapping[tuple[str, ...], Histogram], label: str | None = None
) -> Metric:
    family = HistogramMetricFamily(name, text, labels=[label] if label else [])
    for labels, histogram in values.items():
        counts = accumulate(histogram.counts)
        buckets = list(zip((*_ENDS_S, "+Inf"), counts, strict=True))
        family.add_metric(labels, buckets, histogram.sum_us / SECOND_US)
    return family


class MetricsServer:
    """Serves the metrics of a referee at `address`, host:port. A context: listens within it."""

    def __init__(self, address: str, *, allow_insecure_remote: bool = False) -> None:
        """Raises ServeError for an address that is malformed, in use, or open to other machines.

        Port 0 takes any free one; `address` then tells which.
        """
        host, port = split_address(address)
        numeric = numeric_host(
            address,
            host,
            remote_allowed=allow_insecure_remote,
            danger="anybody there could read the metrics: listen on 127.0.0.1",
        )
        check_port(address, numeric, port)
        self._collector = RefereeCollector()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self._collector)
        try:
            self._server = _Server(numeric, port, registry)
        except OSError as error:
            raise ServeError(f"cannot listen on {address!r}: {error.strerror or error}") from None
        self.address = join_address(host, self._server.server_address[1])
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    def watch(self, referee: Referee) -> None:
        """Serve the metrics of this referee from now on."""
        self._collector.referee = referee

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingMixIn, TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 16

    def __init__(self, numeric: str, port: int, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.address_family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
        self._free = BoundedSemaphore(_AT_ONCE)
        #: When each of the open requests has to be over.
        self._until_s: dict[socket.socket, float] = {}
        super().__init__((numeric, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._until_s[request] = time.monotonic() + _PATIENCE_S
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no further thread can be had
            self._over(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._over(request)

    def _over(self, request: socket.socket) -> None:
        self._until_s.pop(request, None)
        self._free.release()

    def service_actions(self) -> None:
        """Called again and again: hang up on who takes too long, however busy it looks."""
        now = time.monotonic()
        for request, until_s in list(self._until_s.items()):
            if until_s < now:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """One request failed."""
        if not isinstance(sys.exception(), OSError):  # which says that the other side has gone
            logger("metrics").error("metrics failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_S
    server: _Server
    server_version = "asara"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != PATH:
            self.send_error(404, explain=f"The metrics are at {PATH}.")
            return
        body = generate_latest(self.server.registry)
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE_PLAIN_0_0_4)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log no requests: whoever can reach the port could fill the log."""
