"""A referee's metrics, served over HTTP for Prometheus.

The metrics show no more of a running match than a watcher can see: that it is running. Everything
else is counted when the match is over (see `asara_server.referee.counters`). Separate threads
answer requests, so the event loop never waits for a request.
"""

import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore, Thread
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, Gauge, disable_created_metrics, make_wsgi_app

from asara_server.logs import logger
from asara_server.network.addresses import (
    ServeError,
    check_port,
    join_address,
    numeric_host,
    split_address,
)
from asara_server.network.summed_metrics import SummedMetrics
from asara_server.referee.referee import Referee

PATH: Final = "/metrics"

_MAX_REQUESTS: Final = 8
"""Maximum concurrent requests; further connections are closed immediately."""

_REQUEST_S: Final = 5.0
"""Seconds for a request and its response together; after that, the connection is closed."""


def metrics_registry(referee: Referee | None = None) -> CollectorRegistry:
    """Return the metrics of the program and, if given, of a referee, which then starts counting."""
    disable_created_metrics()  # type: ignore[no-untyped-call] # the documented series only
    registry = CollectorRegistry()
    build_info = Gauge(
        "asara_build_info", "Always 1; version of the program.", ["version"], registry=registry
    )
    build_info.labels(version("asara")).set(1)
    if referee is None:
        return registry
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


class MetricsServer:
    """Serves metrics at `address`, host:port, until it is closed."""

    def __init__(self, address: str, *, allow_insecure_remote: bool = False) -> None:
        """Raise ServeError for an address that is malformed, in use, or open to other machines.

        Port 0 takes any free port, and `address` then contains that port.
        """
        host, port = split_address(address)
        numeric = numeric_host(
            address,
            host,
            remote_allowed=allow_insecure_remote,
            danger="anybody there could read the metrics: listen on 127.0.0.1",
        )
        check_port(address, numeric, port)
        try:
            self._server = _Server(numeric, port)
        except OSError as error:
            raise ServeError(f"cannot listen on {address!r}: {error.strerror or error}") from None
        self.address = join_address(host, self._server.server_port)
        self._referee: Referee | None = None
        self._others = SummedMetrics()
        self._server.set_app(_metrics_app(metrics_registry()))
        Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def watch(self, referee: Referee) -> None:
        """Serve this referee's metrics from now on."""
        self._referee = referee
        self._server.set_app(_metrics_app(metrics_registry(referee)))

    def watch_others(self) -> SummedMetrics:
        """Serve the metrics of referees in other processes from now on.

        These processes report their metrics. A referee that was watched before counts as one of
        them.
        """
        if self._referee is not None:
            self._others.update(self._referee, metrics_registry(self._referee).collect())
            self._others.end(self._referee)
            self._referee = None
        registry = metrics_registry()
        registry.register(self._others)
        self._server.set_app(_metrics_app(registry))
        return self._others

    def close(self) -> None:
        """Stop listening, and abandon requests in progress."""
        self._server.shutdown()
        self._server.server_close()


def _metrics_app(registry: CollectorRegistry) -> WSGIApplication:
    """Return prometheus_client's application, restricted to one path."""
    metrics = make_wsgi_app(registry)

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == PATH:
            response: Iterable[bytes] = metrics(environ, start_response)
            return response
        start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"The metrics are at {PATH}.\n".encode()]

    return app


class _Server(ThreadingMixIn, WSGIServer):
    """A server with one thread per request, like prometheus_client's server, but with limits.

    prometheus_client's server accepts any number of connections, and waits for each as long as the
    client likes.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 16

    def __init__(self, numeric: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
        self._free = BoundedSemaphore(_MAX_REQUESTS)
        self._deadlines_s: dict[socket.socket, float] = {}
        super().__init__((numeric, port), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)
        # HTTPServer would look up the full name of the host, which can take seconds.
        self.server_name, self.server_port = self.socket.getsockname()[:2]
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._deadlines_s[request] = time.monotonic() + _REQUEST_S
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._release(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._release(request)

    def _release(self, request: socket.socket) -> None:
        self._deadlines_s.pop(request, None)
        self._free.release()

    def service_actions(self) -> None:
        """Disconnect clients that take too long; `serve_forever` calls this twice a second."""
        now = time.monotonic()
        for request, deadline_s in list(self._deadlines_s.items()):
            if deadline_s < now:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):  # an OSError: the client has disconnected
            logger("metrics").error("metrics failed", exc_info=True)


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: otherwise, anybody who can reach the port could fill the log."""
