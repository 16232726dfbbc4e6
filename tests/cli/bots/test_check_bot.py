"""`asara check`, for the author of a bot before it is submitted."""

import asyncio
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import RejectionReason
from asara_server.cli.sessions import bot_check
from asara_server.cli.sessions.bot_check import BotFinding
from asara_server.cli.sessions.entry_check import seconds_text
from asara_server.match.inputs import RejectionRecord
from asara_server.tournament.config.tournament_file import ClockSettings, Limits
from asara_server.tournament.execution.entry_check import CheckedEntry, Verdict, bank_needed_us
from tests.cli.command import asara, signalled
from tests.events import until
from tests.tournament import sample_bots
from tests.tournament.sandbox_config import living, sandbox_or_skip

CONTAINED = ("--sandbox", "bubblewrap")
BIG = f"held = bytearray(100 << 20)\nprint('holds')\n{sample_bots.GOOD}"
SLOW = """
import time
import asara
def decide(decision, match):
    time.sleep(0.004)
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""
STAYS = "import signal\nsignal.pause()\n"


def write(folder: Path, program: str, text: str = 'command = "python bot.py"\n') -> Path:
    folder.mkdir()
    (folder / "bot.toml").write_text(text)
    (folder / "bot.py").write_text(program)
    return folder


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_bot_that_works(tmp_path: Path, sandbox: str) -> None:
    if sandbox == "bubblewrap":
        sandbox_or_skip()
    text = 'command = "python built.py"\nbuild = "sh build.sh"\nname = "Mine"\n'
    folder = write(tmp_path / "my bot", BIG, text)
    (folder / "build.sh").write_text("cp bot.py built.py\n")
    (folder / "weights").write_bytes(bytes(3 << 20))
    done = asara(
        "check", "my bot", "--sandbox", sandbox, "--json", "found.json", cwd=tmp_path, status=0
    )
    lines = done.stdout.splitlines()
    names = [line.split("  ")[0] for line in lines[:9]]
    assert names == [
        *("build", "start-up", "first reply after", "median decision", "longest decision"),
        *("decisions", "clock time needed", "peak memory", "folder size"),
    ]
    assert lines[8].endswith(" 3 MiB of 128 MiB")
    assert lines[9:] == ["its last lines in each match:", "  | holds", "", "Mine works."]
    begin, building = done.stderr.splitlines()[:2]
    assert begin.startswith("Checking Mine against the built-in bot `random`: ")
    assert building == "Building Mine in a copy: sh build.sh"
    assert ("with your permissions" in done.stderr) == (sandbox == "none")
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["verdict"], found["fault"]) == ("works", None)
    assert found["contained"] == (sandbox == "bubblewrap")
    assert 100 << 20 < found["memory_bytes"] < 300 << 20
    assert found["start_s"] <= found["first_reply_s"] < 60
    assert 0 < found["median_decision_s"] <= found["longest_decision_s"]
    assert not (folder / "built.py").exists()  # built in a copy, as a tournament does


@pytest.mark.long
def test_slow_is_told_apart_from_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that a tournament's clock would have ended plays on, and is called slow."""
    usual = ClockSettings(time_bank_s=0.1, increment_s=0, grace_s=0)
    monkeypatch.setattr(bot_check, "_USUAL", usual)
    folder = write(tmp_path / "mine", SLOW)
    words = ("check", folder, "--sandbox", "none", "--rules", "basic")
    done = asara(*words, "--json", tmp_path / "found.json", status=1)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["verdict"] == "slow"
    needed = found["time_bank_needed_s"]
    assert needed > 0.1
    assert (
        f"mine is slow, but not broken: it needs {seconds_text(needed)} on its clock, but a "
        "tournament allows only 0.1 s, plus 0 s per decision (clocks.time_bank_s)."
    ) in done.stdout
    (folder / "bot.py").write_text(SLOW.replace("0.004", "60"))
    done = asara(*words, "--clock", "0.5", status=1)
    assert "mine is broken: time out: " in done.stdout
    line = "clock time needed  more than the check's 0.5 s (a decision did not end)"
    assert line in done.stdout.splitlines()


@pytest.mark.long
def test_a_slow_start_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_check, "_USUAL", ClockSettings(start_up_s=0.01))
    folder = write(tmp_path / "mine", sample_bots.GOOD)
    done = asara("check", folder, "--sandbox", "none", "--rules", "basic", status=1)
    assert "mine is slow, but not broken: it needs " in done.stdout
    assert "to start, but a tournament allows only 0.01 s (clocks.start_up_s)." in done.stdout


def test_the_bank_that_is_needed() -> None:
    clocks = Clocks(0, 0, increment_us=10, grace_us=5, reconnect_us=0)
    assert bank_needed_us([], clocks) == 0
    assert bank_needed_us([15, 15, 15], clocks) == 0
    assert bank_needed_us([16, 15], clocks) == 1
    assert bank_needed_us([5, 5, 105], clocks) == 70  # 20 saved by two quick answers
    assert bank_needed_us([105, 5, 5], clocks) == 90  # later savings come too late


@pytest.mark.long
def test_a_stopped_check_leaves_no_process(tmp_path: Path) -> None:
    sandbox_or_skip()
    mark = f"mark-{os.getpid()}"
    text = f'command = "python bot.py {mark}"\n'
    folder = write(tmp_path / "mine", STAYS, text)
    words = ("check", folder, *CONTAINED)
    status, stderr = signalled(signal.SIGINT, lambda: living(mark), *words)
    assert status == 130
    assert stderr.endswith("asara: stopped; the check is not complete\n")
    assert living(mark) == []


def test_each_rejection_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    """In the words of the bot's client, if it told of it, or in the verdict."""
    told, dropped, last = (f"'build {n}' is not among the legal actions" for n in range(3))
    checked = CheckedEntry(
        "mine",
        Verdict.BROKEN,
        why=f"rejected replies: {last}",
        printed=(
            f"asara: the reply to decision 1 of m was rejected ({told}); 2 more are forgiven",
        ),
        rejections=tuple(
            RejectionRecord(0, 0, 1, (), RejectionReason.ILLEGAL_ACTION, text)
            for text in (told, dropped, last)
        ),
    )
    bot_check.show_finding(BotFinding(checked, "", None, 60, Limits(), contained=True))
    shown = capsys.readouterr().out
    assert [shown.count(text) for text in (told, dropped, last)] == [1, 1, 1]
    assert f"\nrejected: decision 1, illegal action: {dropped}\n" in shown


async def test_a_long_match_says_once_when_an_endless_loop_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bot_check, "SLOW_INTERVAL_S", 0.01)
    hanging = ["asara: mine is still here"]
    check: Any = SimpleNamespace(building={}, playing=("m1",), hanging=lambda name: hanging)
    lines: list[str] = []

    def playing() -> list[str]:
        lines.extend(capsys.readouterr().err.splitlines())
        return [line for line in lines if line.startswith("Still playing after ")]

    showing = asyncio.create_task(bot_check.show_progress("mine", 60, check))
    await until(lambda: len(playing()) > 2)
    showing.cancel()
    said = "A bot in an endless loop is stopped after about 1 min"
    assert lines.count(said) == 1
    assert lines.count("  | asara: mine is still here") == 1
