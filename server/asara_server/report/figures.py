"""The plots of a report, drawn by matplotlib as SVG for embedding in the page. Pure.

A plot has no script and no untrusted text. Its colours are variables of the style sheet, so that it
follows light, dark and print mode. Equal numbers give equal SVG.
"""

import io
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from markupsafe import Markup
from matplotlib import style
from matplotlib.figure import Figure

_MARGIN: Final = 0.025
"""Margin on either side as a share of the width, so that a dot at the end is whole."""

# matplotlib needs colours; each of these is replaced by a variable of the style sheet.
_VARIABLES: Final = {
    "#000002": "var(--line)",
    "#000003": "var(--accent)",
}
_LINE, _ACCENT = _VARIABLES


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
