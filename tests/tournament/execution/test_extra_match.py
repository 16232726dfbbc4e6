"""One match more than there are cores, while bots are quick and cores idle."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asara_server.tournament.execution import extra_match, local_executor
from asara_server.tournament.execution.extra_match import ExtraMatch
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.standings.match_result import read_results
from tests.tournament import sample_bots
from tests.tournament.runs import play
from tests.tournament.sample_bots import SEED, write_tournament


def second(answer_ms: float, busy: float) -> RunCosts:
    """Costs of a second with two cores and 1,000 decisions."""
    return RunCosts(
        wall_s=1.0, core_s=2.0, bots_cpu_s=2.0 * busy, decisions=1000, deciding_s=answer_ms
    )


async def wanted_after(*seconds: RunCosts) -> list[bool]:
    """Return after each second whether an extra match is being played."""
    now = RunCosts()
    told: list[bool] = []

    def costs() -> Iterator[RunCosts]:
        nonlocal now
        yield now
        for one in seconds:
            now += one
            yield now
            told.append(extra.wanted)
        extra.stop()
        yield now

    source = costs()
    extra = ExtraMatch(lambda: next(source), window_s=0.001)

    async def play_matches() -> None:
        while extra.wanted:  # noqa: ASYNC110 - a match is over at some time
            await asyncio.sleep(0)

    await extra.play(play_matches)
    return told


async def test_quick_bots_that_leave_cores_idle_get_an_extra_match() -> None:
    assert await wanted_after(second(0.6, busy=0.75)) == [True]


@pytest.mark.parametrize(
    ("answer_ms", "busy"), [(0.6, 0.95), (5.0, 0.75)], ids=["cores busy", "bots that think"]
)
async def test_others_get_none(answer_ms: float, busy: float) -> None:
    assert await wanted_after(second(answer_ms, busy)) == [False]


async def test_the_extra_match_ends_when_bots_begin_to_think() -> None:
    quick, busy, thinking = second(0.6, 0.75), second(0.9, 1.0), second(5.0, 1.0)
    assert await wanted_after(quick, busy, thinking, busy) == [True, True, False, False]


async def test_what_fails_in_an_extra_match_is_raised() -> None:
    costs = iter([RunCosts(), *(second(0.6, 0.75) for _ in range(9))])
    total = RunCosts()

    def add() -> RunCosts:
        nonlocal total
        total += next(costs)
        return total

    async def play_matches() -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        await ExtraMatch(add, window_s=0.001).play(play_matches)


def test_extra_matches_change_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra_match, "_WINDOW_S", 0.01)
    monkeypatch.setattr(extra_match, "_wanted", lambda costs, already: True)
    results = []
    for concurrency in ("", "concurrency = 1"):
        folder = tmp_path / (concurrency or "absent")
        folder.mkdir()
        header = f"""
title = "Cup"
seats = 2
rule_sets = "basic"
seed = "{SEED}"
rounds = 3
{concurrency}
"""
        bots = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}
        play(write_tournament(folder, bots, header, ""), folder / "run")
        results.append((folder / "run" / "standings.json").read_bytes())
        assert len(list(read_results(folder / "run" / "results.jsonl"))) == 6
    assert results[0] == results[1]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the cores cannot be chosen")
@pytest.mark.parametrize(("cores", "extra"), [(1, 0), (2, 1)])
def test_a_single_core_gets_no_extra_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, extra: int
) -> None:
    """With one match at a time, no process that met its deal may run beside it."""
    made = []

    def make(costs: Callable[[], RunCosts]) -> ExtraMatch:
        made.append(ExtraMatch(costs))
        return made[-1]

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr(local_executor, "ExtraMatch", make)
    header = sample_bots.HEADER.replace("independent", "mirrored")
    bots = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}
    end = play(write_tournament(tmp_path, bots, header), tmp_path / "run")
    assert len(end.results) == 2
    assert len(made) == extra
