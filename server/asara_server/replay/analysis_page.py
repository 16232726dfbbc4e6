"""The part of an analysis that the page of a match shows.

A viewer of the whole match is shown everything. A seat's own file contains only what follows from
what the seat knew: its own decisions and scores, and no luck.
"""

import math
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from asara_codec.encode import action_message, serialize
from asara_game.actions import parse_action
from asara_server.replay.analysis_file import (
    Analysis,
    AnalysisError,
    Decision,
    Value,
    read_analysis,
)

_NINETY_FIVE: Final = 1.96


def read_page_analysis(
    path: Path, replay: bytes, seat: int | None = None
) -> tuple[dict[str, Any] | None, str]:
    """Return the `page_analysis` of a replay whose analysis may be in a file, or None; and why the
    file is ignored, or "".
    """
    try:
        found = read_analysis(path, replay)
        return None if found is None else page_analysis(found, seat), ""
    except AnalysisError as error:
        return None, str(error)


def page_analysis(found: Analysis, seat: int | None = None) -> dict[str, Any]:
    """Return the part of an analysis that the page shows; with `seat`, what this seat may see.

    `lost` is what the marked decisions cost: the sum of all decisions is mostly noise. An interval
    is its middle and the distance to its ends (95 %). Raises AnalysisError for actions that do not
    exist.
    """
    own = range(len(found.seats)) if seat is None else (seat,)
    marked = [(one, one.loss) for one in found.decisions if one.label and one.loss is not None]
    return {
        "course": [
            {"seat": one.seat, "sequence": one.sequence, "expected": _interval(one.expected)}
            for one in found.course
            if one.seat in own
        ],
        "marks": [_mark(one, loss) for one, loss in marked if one.seat in own],
        "strokes": [
            {
                "seat": one.stroke,
                "sequence": one.sequence,
                "draw": one.draw,
                "gained": _margin(one.gained[one.stroke], one.error[one.stroke]),
            }
            for one in found.draws
            if one.stroke is not None and one.stroke < len(one.gained) == len(one.error)
        ]
        if seat is None
        else [],
        "sums": [
            {
                "seat": one.seat,
                "lost": _total([loss for mark, loss in marked if mark.seat == one.seat]),
                "marks": sum(mark.seat == one.seat for mark, _ in marked),
                "luck": _interval(one.luck) if seat is None else None,
            }
            for one in found.seats
            if one.seat in own
        ],
    }


def _mark(one: Decision, loss: Value) -> dict[str, Any]:
    try:
        better = serialize(action_message(parse_action(one.best)))
    except ValueError:
        raise AnalysisError("not an analysis, or one in another format") from None
    return {
        "seat": one.seat,
        "decision": one.decision,
        "sequence": one.sequence,
        "year": one.year,
        "label": one.label,
        "cost": _interval(loss),
        "better": b64encode(better).decode(),
    }


def _total(losses: Sequence[Value]) -> list[float]:
    error = math.sqrt(sum(one.error**2 for one in losses))
    return _margin(round(sum(one.mean for one in losses), 4), error)


def _interval(value: Value) -> list[float]:
    return _margin(value.mean, value.error)


def _margin(mean: float, error: float) -> list[float]:
    return [mean, round(_NINETY_FIVE * error, 4)]
