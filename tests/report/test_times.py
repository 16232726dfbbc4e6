from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from asara_server.journal.replay import Replay
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.signing import SigningKey
from asara_server.report.times import Times, evenly, read_published_files, time_use
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.standings.match_result import by_schedule
from tests.match.playouts import replay_bytes
from tests.report.runs import played, run_with_replays
from tests.tournament.samples import match, seat


def times_of(directory: Path, most: int = 100) -> Times:
    results = by_schedule(read_run(directory).results)
    return time_use(read_published_files(directory), results, most)


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, Sequence[Replay]]:
    return run_with_replays(tmp_path / "run", 4)


def test_times_are_those_of_the_replies(run):
    directory, replays = run
    times = times_of(directory)
    assert (times.read, times.missing) == (4, 0)
    assert times.problems == ()
    assert {line.entry for line in times.entries} == {"bot 0", "bot 1"}
    for line in times.entries:
        place = int(line.entry[-1])
        by_match = [
            [
                record.bot_us / 1e6
                for record in replay.records
                if isinstance(record, ReplyRecord) and record.seat == place
            ]
            for replay in replays
        ]
        every = sorted(chain.from_iterable(by_match))
        assert line.replies == len(every) > 50
        assert line.median_s == pytest.approx(np.median(every))
        assert every[int(0.94 * len(every))] <= line.p95_s <= every[int(0.96 * len(every))]
        assert line.longest_s == every[-1]
        assert line.match_s == pytest.approx(sum(every) / 4)
        # 60 s, and 0.5 s more for each reply; 0.05 s of each are free
        shares = [sum(max(0, s - 0.05) for s in own) / (60 + 0.5 * len(own)) for own in by_match]
        assert line.clock_share == pytest.approx(sum(shares) / 4)
        assert line.highest_share == pytest.approx(max(shares))
        assert 0 < line.clock_share < line.highest_share < 1


def test_of_many_replays_a_part_is_read_that_is_evenly_spread(run):
    directory, _ = run
    assert times_of(directory, most=2).read == 2
    results = [match(f"m{n}", seat("a", 1), seat("b", 2)) for n in range(10)]
    assert [result.match_id for result in evenly(results, 4)] == ["m0", "m2", "m5", "m7"]
    assert evenly(results, 10) == evenly(results, 11) == results


def test_a_replay_that_is_damaged_of_another_match_or_by_another_key_does_not_count(run):
    directory, _ = run
    replays = directory / "replays"
    first, second, third, fourth = sorted(replays.iterdir())
    whole = first.read_bytes()
    second.write_bytes(whole)
    first.write_bytes(whole[:400] + bytes([whole[400] ^ 1]) + whole[401:])
    third.write_bytes(replay_bytes(played("r1-basic-0003", 2)[0], SigningKey.new()))
    fourth.unlink()
    fourth.mkdir()
    times = times_of(directory)
    problems = times.problems
    assert [problem.split(": ")[0] for problem in problems] == [first.name, second.name, third.name]
    assert (times.read, times.missing) == (0, 1)
    assert "does not belong to the match" in problems[1]
    assert "signed with a key that is not the referee" in problems[2]
