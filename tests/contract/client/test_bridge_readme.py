"""The page of the bridge holds what it describes, and its examples play."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from asara.bridge.flushing import REMEDIES
from tests.contract.client import scripted
from tests.contract.client.scripted import ScriptedReferee
from tests.contract.client.test_bridge import finish, start

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "clients/bridge/README.md").read_text()


def code(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


[FIRST_BOT] = code("perl")
_, IDEA = code("sh")


@pytest.mark.parametrize("bot", ["shell-bridge/bot.sh", "perl-bridge/bot.pl", "tcl-bridge/bot.tcl"])
def test_the_complete_bots_are_short_and_linked(bot: str) -> None:
    assert f"(../../bots/{bot})" in PAGE
    assert len((ROOT / "bots" / bot).read_text().splitlines()) <= 40


@pytest.mark.parametrize(("program", "example"), [("perl", FIRST_BOT), ("sh", IDEA)])
def test_an_example_plays_a_match(
    referee: ScriptedReferee, tmp_path: Path, program: str, example: str
) -> None:
    needed = "jq" if program == "sh" else program
    if not shutil.which(needed):
        pytest.skip(f"{needed} is not installed")
    (tmp_path / "bot").write_text(example)
    referee.scripts.append(scripted.one_match)
    assert finish(start(referee, program, tmp_path / "bot")) == (0, "")


@pytest.mark.parametrize("language", REMEDIES)
def test_every_remedy_is_listed(language: str) -> None:
    assert f"| `{language}` | {REMEDIES[language]} |" in PAGE.replace("`$\\| = 1;`", "$| = 1;")
