import time
from dataclasses import dataclass
from typing import cast

import pytest

from asara_server.cli.display.processor_time import unasked_lines
from asara_server.match.match import Match
from asara_server.tournament.bots import processor_meter
from asara_server.tournament.bots.processor_meter import ProcessorClock, ProcessorMeter
from asara_server.tournament.run.processor_time import ProcessorTime, added

MS = 1_000_000


@dataclass
class _Asked:
    """The part of a match that is looked at."""

    asked: int | None


class _Scene:
    """Three bots, of which the last cannot be measured, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.used_ns = [5 * MS, 7 * MS]
        self.now_ns = 0
        monkeypatch.setattr(processor_meter, "_INTERVAL", 1)
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.now_ns)
        clocks = [
            ProcessorClock(lambda: self.used_ns[0], True),
            ProcessorClock(lambda: self.used_ns[1], True),
            ProcessorClock(lambda: None, True),
        ]
        self.meter = ProcessorMeter([*clocks, None])

    def decide(self, seat: int, following: int | None, wall_ms: int, *used_ms: int) -> None:
        """A seat replies after so much time, in which the bots used these processor times."""
        self.now_ns += wall_ms * MS
        for bot, used in enumerate(used_ms):
            self.used_ns[bot] += used * MS
        self.meter.reply_accepted(cast("Match", _Asked(following)), seat)


def test_time_is_divided_by_who_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = _Scene(monkeypatch)
    assert scene.meter.times() == [None] * 4
    scene.meter.match_begins()
    scene.decide(0, 1, 9, 9, 9)  # the next decision is measured
    scene.decide(1, 0, 100, 3, 40)
    scene.decide(0, 1, 9, 9, 9)
    scene.decide(1, 1, 50, 2, 20)
    first, second, *others = scene.meter.times()
    assert others == [None, None]
    assert first == ProcessorTime(
        matches=1, total_s=0.023, sampled_unasked_s=0.005, sampled_wait_s=0.15
    )
    assert second == ProcessorTime(matches=1, total_s=0.078, sampled_asked_s=0.06)


def test_a_decision_that_another_seat_ends_or_that_is_none_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = _Scene(monkeypatch)
    scene.meter.match_begins()
    scene.decide(0, 1, 9)
    scene.decide(0, 1, 100, 50, 50)  # seat 1 has forfeited meanwhile
    scene.decide(0, None, 9)  # a pause follows, after which one bot was asked, and then another
    scene.decide(1, 0, 100, 50, 50)
    scene.decide(0, 1, 10, 1, 0)
    first, second, *_ = scene.meter.times()
    assert first == ProcessorTime(matches=1, total_s=0.101, sampled_asked_s=0.001)
    assert second == ProcessorTime(matches=1, total_s=0.1, sampled_wait_s=0.01)


def test_the_total_is_divided_like_the_sample_and_parts_add_up() -> None:
    part = ProcessorTime(
        matches=1, total_s=8.0, sampled_asked_s=0.3, sampled_unasked_s=0.1, sampled_wait_s=0.2
    )
    other = ProcessorTime(matches=2, total_s=4.0, sampled_unasked_s=0.4, children=False)
    assert (part.asked_s, part.unasked_s, part.cores_unasked) == (6.0, 2.0, 0.5)
    assert ProcessorTime(total_s=1.0).unasked_s == 0.0
    sums = added({"a": part}, {"a": other, "b": other})
    assert sums["b"] == other
    assert sums["a"] == ProcessorTime(
        matches=3,
        total_s=12.0,
        sampled_asked_s=0.3,
        sampled_unasked_s=0.5,
        sampled_wait_s=0.2,
        children=False,
    )


def test_entries_that_think_while_others_are_asked_are_named() -> None:
    def used(unasked_s: float, wait_s: float) -> ProcessorTime:
        return ProcessorTime(total_s=unasked_s, sampled_unasked_s=unasked_s, sampled_wait_s=wait_s)

    times = {"idle": used(0.5, 50.0), "short": used(0.01, 0.01)}
    assert list(unasked_lines(times, advise=True)) == []
    times |= {"deep": used(38.2, 39.4), "deeper": used(60.0, 60.0)}
    assert list(unasked_lines(times)) == [
        "deeper used 1 min of processor time while it was not its turn, 1.00 cores on average.",
        "deep used 38 s of processor time while it was not its turn, 0.97 cores on average.",
    ]
    times |= {f"bot {number}": used(1.0, 1.0) for number in range(5)}
    assert list(unasked_lines(times, advise=True))[6:] == [
        "With ponder = false, bots in the sandbox would be frozen while it is not their turn."
    ]
    assert list(unasked_lines(times))[5:] == ["2 more entries did so too; the report lists all."]
