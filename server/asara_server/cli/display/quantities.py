"""Formats durations and lists as text."""

from collections.abc import Collection
from itertools import islice

from asara_server.text import plain


def listed(names: Collection[str], most: int = 10) -> str:
    """Return at most `most` names, and the number of further names: `ann, bob and 2 more`."""
    shown = ", ".join(plain(name) for name in islice(names, most))
    more = len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def duration(seconds: float, *, whole_s: bool = False) -> str:
    """Format a duration using one or two units: `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10 and not whole_s:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for large, small, size, name, part in (
        (60, 1, 60, "min", "s"),
        (3600, 60, 24, "h", "min"),
        (86_400, 3600, 1 << 30, "d", "h"),
    ):
        if whole < large:
            break
        if whole < large * size:
            rest = whole % large // small
            return f"{whole // large} {name}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"
