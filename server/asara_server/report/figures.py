"""The plots of a report, drawn by matplotlib as SVG for embedding in the page. Pure.

A plot has no script and no untrusted text. Its colours are variables of the style sheet, so that it
follows light, dark and print mode. Equal numbers give equal SVG.
"""

import io
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.optimize import isotonic_regression

from asara_server.report.model import RatingRow

HIGHLIGHTED: Final = 7
"""Entries with distinct colours among the ratings; more are hard to distinguish."""

_ABOVE_PX, _BELOW_PX = 8, 38
"""Margins above and below the axes of the ratings."""

_LABEL_PX: Final = 13
"""Smallest distance between labels at the ends of lines."""

_MARGIN: Final = 0.025
"""Margin on either side as a share of the width, so that a dot at the end is whole."""

# matplotlib needs colours; each of these is replaced by a variable of the style sheet.
_VARIABLES: Final = {
    "#000001": "var(--muted)",
    "#000002": "var(--line)",
    "#000003": "var(--accent)",
    **{f"#00001{number}": f"var(--series-{number})" for number in range(HIGHLIGHTED)},
}
_MUTED, _LINE, _ACCENT, *_SERIES = _VARIABLES


class Whisker(NamedTuple):
    """A dot on a line, at shares 0 to 1 of the width."""

    low: float
    dot: float
    high: float


def whiskers(
    name: str, rows: Sequence[Whisker | None], guides: Iterable[float], width: int, row_height: int
) -> Markup:
    """Draw dots and whiskers, one in each row; `guides` are vertical lines. Sizes are in pixels.

    `name` must be unique among the plots of the page.
    """
    with _style(name):
        figure = _figure(width, row_height * len(rows))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-_MARGIN, 1 + _MARGIN)
        axes.set_ylim(len(rows), 0)
        for guide in guides:
            axes.axvline(guide, color=_LINE, linewidth=1, clip_on=False)
        drawn = [(place + 0.5, row) for place, row in enumerate(rows) if row is not None]
        axes.hlines(
            [y for y, _ in drawn],
            [row.low for _, row in drawn],
            [row.high for _, row in drawn],
            colors=_ACCENT,
            linewidth=2,
            clip_on=False,
        )
        axes.plot(
            [row.dot for _, row in drawn],
            [y for y, _ in drawn],
            linestyle="none",
            marker="o",
            markersize=8,
            color=_ACCENT,
            markeredgewidth=0,
            clip_on=False,
        )
        return _svg(figure)


def position(share: float) -> float:
    """Return the position of a share 0 to 1 in percent of the width, margins included."""
    return round(100 * (share + _MARGIN) / (1 + 2 * _MARGIN), 2)


def ratings(name: str, lines: Sequence[RatingRow], width: int, height: int) -> Markup:
    """Draw ratings over deal blocks; the first lines are coloured and numbered."""
    with _style(name):
        figure = _figure(width, height)
        left, right = 38 / width, 1 - 26 / width
        top, bottom = 1 - _ABOVE_PX / height, _BELOW_PX / height
        axes = figure.add_axes((left, bottom, right - left, top - bottom))
        last = max((line.points[-1][0] for line in lines), default=0)
        for place, line in reversed(list(enumerate(lines))):
            bright = place < HIGHLIGHTED
            x, y = zip(*line.points, (last, line.points[-1][1]), strict=True)
            axes.plot(
                x,
                y,
                color=_SERIES[place] if bright else _MUTED,
                linewidth=1.8 if bright else 0.7,
                alpha=1 if bright else 0.45,
                solid_joinstyle="round",
            )
        axes.set_xlim(0, max(last, 1))
        _number_the_ends(axes, lines[:HIGHLIGHTED], height)
        axes.set_xlabel("deal blocks played", color=_MUTED, fontsize=12)
        axes.set_ylabel("rating", color=_MUTED, fontsize=12, labelpad=2)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=min(6, width // 70), integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.tick_params(colors=_MUTED, length=0, labelsize=12)
        axes.grid(axis="y", color=_LINE, linewidth=1)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(_LINE)
        return _svg(figure)


def _number_the_ends(axes: Axes, lines: Sequence[RatingRow], height: int) -> None:
    """Number the lines at their ends, moving labels apart if they would overlap."""
    ends = sorted((line.points[-1][1], place) for place, line in enumerate(lines))
    low, high = axes.get_ylim()
    apart = _LABEL_PX * (high - low) / (height - _ABOVE_PX - _BELOW_PX)
    steps = np.arange(len(ends)) * apart
    squeezed = isotonic_regression([mu for mu, _ in ends] - steps).x
    spread = (np.clip(squeezed, low, high - steps[-1]) + steps).tolist()
    right = axes.get_xlim()[1]
    for y, (_, place) in zip(spread, ends, strict=True):
        axes.annotate(
            str(place + 1),
            (right, y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=12,
            fontweight="bold",
            color=_SERIES[place],
            annotation_clip=False,
        )


def _style(name: str) -> AbstractContextManager[None]:
    """Return the settings of a plot, independent of the user's own.

    The name makes its element ids unique on the page.
    """
    own = {"svg.fonttype": "none", "svg.hashsalt": f"asara/{name}", "path.simplify": False}
    return style.context(["default", own])


def _figure(width: int, height: int) -> Figure:
    """Return a figure of this size in pixels: at 72 dots per inch, a point is a pixel."""
    return Figure(figsize=(width / 72, height / 72), dpi=72)


def _svg(figure: Figure) -> Markup:
    """Return the figure as an SVG element, without what only a standalone file needs."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    text = f'<svg aria-hidden="true" {box[0]}>' + text[text.index(">") + 1 :]
    text = re.sub(r'\s*<defs>\s*<style type="text/css">.*?</style>\s*</defs>', "", text, count=1)
    text = re.sub(r' id="[A-Za-z][\w.]*_\d+"', "", text)  # not unique across figures
    text = re.sub(r" font-family: [^;\"]*;?", "", text)
    text = re.sub(r"\s*\n\s*", " ", text).strip()
    text = text.replace("xlink:href", "href").replace("> <", "><")
    text = re.sub("#0000[0-9a-f]{2}", lambda colour: _VARIABLES[colour[0]], text)
    return Markup(text)  # noqa: S704  # matplotlib escaped it
