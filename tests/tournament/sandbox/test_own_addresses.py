"""Contained bots that crowd their own address: the others connect and play as if alone."""

from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.tournament.schedule.schedule import ScheduledMatch
from tests.tournament.sample_bots import STEADY
from tests.tournament.sandbox.test_hostile import BASIC, enter, play, printed
from tests.tournament.sandbox_config import HOSTILE, sandbox_or_skip

CROWDS = ("crowd", "redial")
GOOD = ("good-0", "good-1")


@pytest.mark.long
def test_silent_streams_and_dial_in_loops_harm_only_the_bot_itself(tmp_path: Path) -> None:
    programs = {name: (HOSTILE / f"{name}.py").read_text() for name in CROWDS}
    file = enter(tmp_path, {**dict.fromkeys(GOOD, STEADY), **programs})
    text = file.read_text()
    for setting, changed in (
        ("start_up_s = 10", "start_up_s = 3"),
        ('process_per = "run"', 'process_per = "match"'),
    ):
        assert setting in text
        text = text.replace(setting, changed)
    file.write_text(text)
    tables = [CROWDS, GOOD, GOOD[::-1]]
    matches = [ScheduledMatch(f"m{i}", 1, BASIC, names) for i, names in enumerate(tables)]
    run = tmp_path / "run"
    end = play(file, run, matches, sandbox_or_skip())
    for result in end.results:
        for seat in result.seats:
            if seat.entry in GOOD:
                assert seat.termination is Termination.COMPLETED
            else:
                assert seat.termination.forfeit
    assert "opened more than 50 streams within 10 s" in (run / "results.jsonl").read_text()
    assert set(printed(run, "crowd").split("\n")) >= {"sees 1 sockets"}
