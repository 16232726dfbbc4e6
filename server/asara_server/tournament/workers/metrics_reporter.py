"""Reports the metrics of a worker process to its runner, through a pipe."""

from multiprocessing.connection import Connection
from threading import Event, Lock, Thread
from typing import Final

from prometheus_client import CollectorRegistry

from asara_server.network.metrics import metrics_registry
from asara_server.network.summed_metrics import SummedMetrics
from asara_server.referee.referee import Referee

_INTERVAL_S: Final = 1.0
"""Seconds between two reports if no match ends."""


class MetricsReporter:
    """Reports metrics once a second, and whenever a match ends, from its own thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sum = SummedMetrics()
        self._registry: CollectorRegistry | None = None
        self._lock = Lock()
        self._soon = Event()
        Thread(target=self._report, name="metrics", daemon=True).start()

    def watch(self, referee: Referee) -> None:
        """Report this referee from now on, keeping the totals of earlier referees."""
        registry = metrics_registry(referee)
        with self._lock:
            before, self._registry = self._registry, registry
            if before is not None:
                self._sum.update(before, before.collect())
                self._sum.end(before)

    def report_soon(self) -> None:
        self._soon.set()

    def _report(self) -> None:
        while True:
            self._soon.wait(_INTERVAL_S)
            self._soon.clear()
            with self._lock:
                if self._registry is None:
                    continue
                self._sum.update(self._registry, self._registry.collect())
                metrics = self._sum.collect()
            try:
                self._connection.send(metrics)
            except OSError:  # the runner has gone
                return
