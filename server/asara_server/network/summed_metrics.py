"""Metrics of several referees in other processes, summed for one registry.

Counters and histograms of a referee that has ended stay in the sums; its gauges are dropped.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Final

from prometheus_client import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

_NOT_SUMMED: Final = frozenset({"asara_build_info"})

_Labels = tuple[tuple[str, str], ...]


class SummedMetrics(Collector):
    """A collector of the latest metrics reported by each source. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest: dict[object, list[Metric]] = {}
        self._ended: list[Metric] = []

    def update(self, source: object, metrics: Iterable[Metric]) -> None:
        """Replace the metrics that a source last reported."""
        reported = [metric for metric in metrics if metric.name not in _NOT_SUMMED]
        with self._lock:
            self._latest[source] = reported

    def end(self, source: object) -> None:
        """Keep the counts of a source that will report nothing more."""
        with self._lock:
            last = self._latest.pop(source, [])
            counted = [metric for metric in last if metric.type != "gauge"]
            self._ended = _summed([*self._ended, *counted])

    def collect(self) -> list[Metric]:
        """Return the summed metrics."""
        with self._lock:
            every = [*self._ended, *(one for latest in self._latest.values() for one in latest)]
        return _summed(every)

    def describe(self) -> list[Metric]:
        """Return no names, because none are known before the first report."""
        return []


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
