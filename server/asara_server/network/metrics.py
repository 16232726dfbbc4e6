"""Metrics of a referee, served over HTTP for Prometheus.

The metrics show no more of a running match than a watcher can see: that it is running. Everything
else is counted when the match is over (see `asara_server.referee.counters`). Separate threads
answer requests, so the event loop never waits for a request.
"""

import sys
from importlib.metadata import version
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    disable_created_metrics,
    start_http_server,
)

from asara_server.logs import logger
from asara_server.network.addresses import ServeError, join_address, listen_at
from asara_server.referee.referee import Referee

PATH: Final = "/metrics"


def program_metrics() -> CollectorRegistry:
    """Return the version of the program; `watch` adds the metrics of its referee."""
    disable_created_metrics()  # type: ignore[no-untyped-call] # the documented series only
    registry = CollectorRegistry()
    build_info = Gauge(
        "asara_build_info", "Always 1; version of the program.", ["version"], registry=registry
    )
    build_info.labels(version("asara")).set(1)
    return registry


def watch(registry: CollectorRegistry, referee: Referee) -> None:
    """Add the metrics of the only referee, which starts counting."""
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


class MetricsServer:
    """Serves the metrics in `registry` at `address`, host:port, until it is closed."""

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
        self.registry = program_metrics()
        try:
            self._server, _ = start_http_server(port, numeric, self.registry)
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
