"""A bot that fails in its own code prints last what failed and in which decision."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.command import asara
from tests.languages.kits import KITS, ROOT, build_starter, require

pytestmark = pytest.mark.languages

FAILING = {
    "python": ("main.py", "match.random_action(decision)", "[][0]", "IndexError: list index"),
    "go": ("main.go", "b.RandomAction(decision)", "decision.LegalActions[999]", "panic: runtime"),
    "typescript": ("src/bot.ts", "match.randomAction(decision)", "null.x", "TypeError: Cannot"),
    "java": (
        "src/main/java/Main.java",
        "match.randomAction(decision)",
        "decision.getLegalActions(999)",
        "java.lang.IndexOutOfBoundsException: Index 999",
    ),
}
"""By language, the file of the starter, the code that is replaced, by what, and the error."""


@pytest.mark.parametrize("language", FAILING)
def test_the_last_lines_are_the_error_and_the_decision(language: str, tmp_path: Path) -> None:
    kit = next(kit for kit in KITS if kit.language == language)
    require(kit)
    build_starter(kit)
    file, code, fault, error = FAILING[language]
    folder = tmp_path / "bots" / kit.starter
    shutil.copytree(kit.starter_folder, folder, symlinks=True)
    (tmp_path / "clients").symlink_to(ROOT / "clients")
    (folder / file).write_text((folder / file).read_text().replace(code, fault))
    with (folder / "bot.toml").open("a") as bot_file:
        bot_file.write('environment = { GOFLAGS = "-trimpath" }')  # packages are compiled already
    done = asara("match", folder, "random", "--sandbox", "none", cwd=tmp_path, status=0)
    last = rf"\n    {error}[^\n]*\n    in r1-basic-0001, decision 1 \(\w+\)[^\n]*\n"
    assert re.search(last, done.stderr), done.stderr
