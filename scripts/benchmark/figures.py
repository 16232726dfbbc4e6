"""Results of benchmarks: every number next to its peer's number."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table

_WIDTH: Final = 120
"""Minimum width of the table in columns, even on a narrower terminal."""


class BenchError(Exception):
    """Raised if a benchmark cannot run; the text explains what to do."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The minimum ratio, or the maximum ratio if `most` is set.

    If `absolute` is set, the bar limits the measured value itself and ignores the peer.
    """

    ratio: float
    most: bool = False
    absolute: bool = False

    def holds(self, ratio: float) -> bool:
        return ratio <= self.ratio if self.most else ratio >= self.ratio

    def __str__(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.ratio:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number, and the peer's number in the same unit."""

    name: str
    value: float
    unit: str
    peer: str
    peer_value: float
    bar: Bar | None = None
    """None if the number only explains another number."""

    @property
    def ratio(self) -> float:
        return self.value / self.peer_value

    @property
    def holds(self) -> bool:
        """Return True unless a bar is missed."""
        if self.bar is None:
            return True
        return self.bar.holds(self.value if self.bar.absolute else self.ratio)


def compare(
    name: str,
    rounds: Iterable[tuple[float, float]],
    *,
    unit: str,
    peer: str,
    bar: Bar | None = None,
) -> Figure:
    """Return a figure with the medians over rounds that each measured product and peer."""
    values, peer_values = zip(*rounds, strict=True)
    return Figure(name, median(values), unit, peer, median(peer_values), bar)


def write_json(path: Path, figures: Sequence[Figure]) -> None:
    """Write the figures as a list of objects."""
    rows = [
        {
            "name": figure.name,
            "value": round(figure.value, 4),
            "unit": figure.unit,
            "peer": figure.peer,
            "peer_value": round(figure.peer_value, 4),
            "ratio": round(figure.ratio, 4),
        }
        for figure in figures
    ]
    path.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def show(figures: Sequence[Figure]) -> None:
    """Print a table."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for heading in ("", "measured", "peer", "", "ratio", "bar"):
        justify: JustifyMethod = "right" if heading in {"measured", "peer", "ratio"} else "left"
        table.add_column(heading, justify=justify, no_wrap=True)
    for figure in figures:
        table.add_row(
            f"{figure.name}, {figure.unit}",
            _number(figure.value),
            _number(figure.peer_value),
            figure.peer,
            f"{figure.ratio:.2f}",
            _verdict(figure),
        )
    console = Console()
    console.width = max(console.width, _WIDTH)
    console.print(table)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _verdict(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    return f"{figure.bar} {'[green]holds[/]' if figure.holds else '[red]missed[/]'}"
