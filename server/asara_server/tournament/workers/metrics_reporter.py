"""Reports the metrics of a worker process to its runner, through a pipe."""

from multiprocessing.connection import Connection
from threading import Event, Thread
from typing import Final

from asara_server.network.metrics import SummedMetrics

_INTERVAL_S: Final = 1.0
"""Seconds between two reports if no match ends."""


class MetricsReporter:
    """Reports `metrics` once a second, and whenever a match ends, from its own thread."""

    def __init__(self, connection: Connection) -> None:
        self.metrics = SummedMetrics()
        self._connection = connection
        self._soon = Event()
        Thread(target=self._report, name="metrics", daemon=True).start()

    def report_soon(self) -> None:
        self._soon.set()

    def _report(self) -> None:
        while True:
            self._soon.wait(_INTERVAL_S)
            self._soon.clear()
            try:
                self._connection.send(self.metrics.collect())
            except OSError:  # the runner has gone
                return
