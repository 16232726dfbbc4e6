"""The page about debugging can be followed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.bots.test_guests import expecting
from tests.cli.command import asara
from tests.docs.documents import blocks
from tests.events import EVENT_S

PAGE = "clients/debugging.md"
LOADER, BOT = (block.content for block in blocks(PAGE, "python"))


@pytest.mark.long
def test_the_way_from_a_match_to_a_decision_in_a_test(tmp_path: Path) -> None:
    """The commands of the page, as printed: a match, show, decision, and ask."""
    (tmp_path / "my_bot.py").write_text(BOT.replace("== 12", "== -1"))
    shell = "\n".join(block.content for block in blocks(PAGE, "sh"))
    commands = [shlex.split(line) for line in shell.splitlines() if line.startswith("asara ")]
    printed = ""
    for _, *words in commands[:-1]:
        to_file = ">" in words
        done = asara(*(words[:-2] if to_file else words), cwd=tmp_path, status=0)
        printed = done.stdout
        if to_file:
            (tmp_path / words[-1]).write_text(printed)
    assert "The replies are the same. So are the replies to all earlier decisions." in (
        " ".join(printed.split())
    )
    loaded = subprocess.run(
        [sys.executable, "-c", LOADER], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip()


@pytest.mark.long
def test_a_bot_stops_in_the_debugger_and_plays_on(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(BOT.replace("== 12", "== 2"))
    with expecting("random", "guest", "--clock", "86400") as (process, (variables,)):
        debugged = subprocess.run(
            [sys.executable, "my_bot.py"],
            cwd=tmp_path,
            input="p decision.decision_id\ncontinue\n",
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=EVENT_S,
            check=True,
        )
        stdout, stderr = process.communicate(timeout=EVENT_S)
    assert re.search(r"my_bot.py\(7\)decide\(\)", debugged.stdout)
    assert "(Pdb) 2\n" in debugged.stdout
    assert "guest" in stdout, stderr
