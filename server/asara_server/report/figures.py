"""The plots of a report, as SVG for embedding in the page. Pure.

Their colours are variables of the style sheet, so that they follow light, dark and print mode.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

_MARGIN: Final = 0.025
"""Margin on either side as a share of the width, so that a dot at the end is whole."""


class Whisker(NamedTuple):
    """A dot on a line, at shares 0 to 1 of the width."""

    low: float
    dot: float
    high: float


def whiskers(
    rows: Sequence[Whisker | None], guides: Iterable[float], width: int, row_height: int
) -> Markup:
    """Draw dots and whiskers, one in each row; `guides` are vertical lines. Sizes are in pixels."""

    def x(share: float) -> float:
        return round(position(share) * width / 100, 2)

    height = row_height * len(rows)
    drawn = [f'<path d="M{x(guide)} 0V{height}" style="stroke:var(--line)"/>' for guide in guides]
    for number, row in enumerate(rows):
        y = (number + 0.5) * row_height
        if row is not None:
            drawn += [
                (
                    f'<path d="M{x(row.low)} {y}H{x(row.high)}" '
                    'style="stroke:var(--accent);stroke-width:2"/>'
                ),
                f'<circle cx="{x(row.dot)}" cy="{y}" r="4" style="fill:var(--accent)"/>',
            ]
    shapes = "".join(drawn)
    return Markup(  # noqa: S704  # numbers alone
        f'<svg aria-hidden="true" viewBox="0 0 {width} {height}">{shapes}</svg>'
    )


def position(share: float) -> float:
    """Return the position of a share 0 to 1 in percent of the width, margins included."""
    return round(100 * (share + _MARGIN) / (1 + 2 * _MARGIN), 2)
