"""What is judged at the end of a case."""

from types import SimpleNamespace
from typing import Any

import pytest

from asara_server.conformance.case import Expected
from asara_server.conformance.checks import _check_streams
from asara_server.conformance.failure import CaseFailed


def stage_with(pauses: tuple[float, ...], busy_s: float = 0.0) -> Any:
    """A stage on which streams of one second were opened with these pauses between them.

    In each pause, program and referee were busy for `busy_s`.
    """
    streams, now_s = [], 0.0
    for number, pause_s in enumerate((*pauses, 0.0)):
        busy = {"opened_busy_s": number * busy_s, "ended_busy_s": number * busy_s}
        streams.append(SimpleNamespace(opened_at=now_s, ended_at=now_s + 1.0, **busy))
        now_s += 1.0 + pause_s
    return SimpleNamespace(streams=streams)


@pytest.mark.parametrize(
    ("pauses", "demanded"),
    [
        ((1.2, 1.5, 2.0), "at first"),
        ((0.1, 0.2, 0.4, 0.8, 4.0, 4.0), "2 s at most"),
        ((0.3, 0.3, 0.3, 0.3), "that grow"),
        ((0.1, 0.2, 0.4, 0.8, 0.8, 0.8), "that grow"),
    ],
)
def test_pauses_between_streams_are_short_at_first_and_grow_to_a_limit(
    pauses: tuple[float, ...], demanded: str
) -> None:
    growing = Expected(growing_pauses=True)
    _check_streams(growing, stage_with((0.1, 0.2, 0.4, 0.8, 1.6, 2.0)))
    _check_streams(growing, stage_with((1.4, 0.1, 0.3, 0.9, 5.0, 0.1)))  # on a busy machine
    _check_streams(growing, stage_with((1.2, 1.5, 2.0), busy_s=0.3))
    with pytest.raises(CaseFailed) as caught:
        _check_streams(growing, stage_with(pauses))
    assert demanded in caught.value.expected
