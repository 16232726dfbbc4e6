"""`asara new` in every language: the folder plays and is checked at once, wherever it lies."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.command import asara_process
from tests.languages.kits import BRIDGES, KITS, Kit, require
from tests.tournament.sandbox_config import sandbox_or_skip

CONTAINED = ("--sandbox", "bubblewrap", "--clock", "600", "--start-up", "120")
QUICK = """
environment = { CARGO_PROFILE_RELEASE_OPT_LEVEL = "0", CMAKE_BUILD_TYPE = "None" }
"""
"""Line for `bot.toml`: without optimisation, builds take half of the time."""
_LONGEST_S = 1_800
"""Seconds that a command may take, most of them for a first build."""

pytestmark = pytest.mark.languages


@pytest.mark.parametrize("kit", [*KITS, *BRIDGES], ids=lambda kit: kit.language)
def test_a_new_bot_plays_and_is_checked(kit: Kit, tmp_path: Path) -> None:
    require(kit)
    sandbox_or_skip()
    folder = tmp_path / "new bots"
    folder.mkdir()
    asara = partial(asara_process, cwd=folder, timeout_s=_LONGEST_S)
    made = asara("new", kit.language, "my bot")
    assert made.returncode == 0, made.stderr
    with (folder / "my bot" / "bot.toml").open("a") as bot_file:
        bot_file.write(QUICK)
    play = partial(asara, "match", "my bot", "greedy", "--seed", "new", *CONTAINED)
    first = play()
    while "its build failed: not finished after" in first.stderr:
        first = play()  # a busy machine did not finish the build in time: this one continues it
    for played in (first, play()):  # the second build finds what the first one left
        assert played.returncode == 0, played.stderr
        assert "forfeits" not in played.stderr
        assert "my-bot" in played.stdout
    checked = asara("check", "my bot", *CONTAINED, "--json", folder / "found.json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    found = json.loads((folder / "found.json").read_text())
    assert (found["verdict"], found["rejections"]) == ("works", [])
    assert checked.stdout.endswith("my-bot works.\n")
