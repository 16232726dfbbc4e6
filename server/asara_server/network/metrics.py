"""Metrics of referees, served over HTTP for Prometheus.

The metrics show no more of a running match than a watcher can see: that it is running. Everything
else is counted when the match is over (see `asara_server.referee.counters`). Separate threads
answer requests, so the event loop never waits for a request.
"""

import sys
from collections.abc import Iterable
from importlib.metadata import version
from threading import Lock
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Metric,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from asara_server.logs import logger
from asara_server.network.addresses import ServeError, join_address, listen_at
from asara_server.referee.referee import Referee

PATH: Final = "/metrics"

_Labels = tuple[tuple[str, str], ...]


def referee_metrics(referee: Referee) -> CollectorRegistry:
    """Return the metrics of a referee, which starts counting."""
    disable_created_metrics()  # type: ignore[no-untyped-call] # the documented series only
    registry = CollectorRegistry()
    matches = Gauge(
        "asara_open_matches",
        "Matches that wait for their bots, or run.",
        ["state"],
        registry=registry,
    )
    matches.labels("running").set_function(lambda: referee.running_match_count)
    matches.labels("waiting").set_function(lambda: referee.waiting_match_count)
    streams = Gauge("asara_streams", "Streams of bots.", registry=registry)
    streams.set_function(lambda: referee.stream_count)
    without_hello = Gauge(
        "asara_streams_without_hello", "Streams that have not sent Hello.", registry=registry
    )
    without_hello.set_function(lambda: referee.stream_count_without_hello)
    registry.register(referee.start_counting().registry)
    return registry


class SummedMetrics(Collector):
    """The sums over the referee of this process and those that other processes report.

    Counters and histograms of a referee that has ended stay in the sums; its gauges are dropped.
    Any thread may use this object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._own: CollectorRegistry | None = None
        self._reported: dict[object, list[Metric]] = {}
        """The latest metrics of each source."""
        self._ended: list[Metric] = []

    def watch(self, referee: Referee) -> None:
        """Add a referee of this process. An earlier one counts as ended."""
        own = referee_metrics(referee)
        with self._lock:
            if self._own is not None:
                self._add_ended(self._own.collect())
            self._own = own

    def update(self, source: object, metrics: Iterable[Metric]) -> None:
        """Replace the metrics that a source last reported."""
        with self._lock:
            self._reported[source] = list(metrics)

    def end(self, source: object) -> None:
        """Keep the counts of a source that will report nothing more."""
        with self._lock:
            self._add_ended(self._reported.pop(source, []))

    def _add_ended(self, last: Iterable[Metric]) -> None:
        self._ended = _summed([*self._ended, *(one for one in last if one.type != "gauge")])

    def collect(self) -> list[Metric]:
        """Return the sums."""
        with self._lock:
            own = [] if self._own is None else list(self._own.collect())
            reported = [one for metrics in self._reported.values() for one in metrics]
            return _summed([*self._ended, *own, *reported])

    def describe(self) -> list[Metric]:
        """Return no names, because none are known before there is a referee."""
        return []


def program_metrics(metrics: SummedMetrics) -> CollectorRegistry:
    """Return the version of the program, and the metrics of its referees."""
    registry = CollectorRegistry()
    build_info = Gauge(
        "asara_build_info", "Always 1; version of the program.", ["version"], registry=registry
    )
    build_info.labels(version("asara")).set(1)
    registry.register(metrics)
    return registry


class MetricsServer:
    """Serves `metrics` at `address`, host:port, until it is closed."""

    def __init__(self, address: str, *, allow_insecure_remote: bool = False) -> None:
        """Raise ServeError for an address that is malformed, in use, or open to other machines.

        Port 0 takes any free port, and `address` then contains that port.
        """
        host, listener = listen_at(
            address,
            remote_allowed=allow_insecure_remote,
            danger="anybody there could read the metrics: listen on 127.0.0.1, or pass "
            "--insecure-remote",
        )
        numeric, port = listener.getsockname()[:2]
        listener.close()  # the library listens itself
        self.metrics = SummedMetrics()
        try:
            self._server, _ = start_http_server(port, numeric, program_metrics(self.metrics))
        except OSError as error:  # another program was quicker
            raise ServeError(f"cannot listen on {address!r}: {error.strerror or error}") from None
        self._server.handle_error = _log_fault  # type: ignore[method-assign]
        self.address = join_address(host, self._server.server_port)

    def close(self) -> None:
        """Stop listening, and abandon requests in progress."""
        self._server.shutdown()
        self._server.server_close()


def _log_fault(request: object, client_address: object) -> None:  # noqa: ARG001
    """Log what went wrong with a request; by default, the server prints it on standard error."""
    if not isinstance(sys.exception(), OSError):  # an OSError: the client has disconnected
        logger("metrics").error("metrics failed", exc_info=True)


def _summed(metrics: Iterable[Metric]) -> list[Metric]:
    """Return one metric per name; samples with the same labels are added up."""
    found: dict[str, Metric] = {}
    sums: dict[str, dict[tuple[str, _Labels], float]] = {}
    for metric in metrics:
        found.setdefault(metric.name, metric)
        values = sums.setdefault(metric.name, {})
        for sample in metric.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            values[key] = values.get(key, 0.0) + sample.value
    summed = []
    for name, metric in found.items():
        total = Metric(name, metric.documentation, metric.type)
        total.samples = [
            Sample(sample, dict(labels), value) for (sample, labels), value in sums[name].items()
        ]
        summed.append(total)
    return summed
