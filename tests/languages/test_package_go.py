"""The Go examples of the guide, as programs of a fresh module."""

import shutil
from pathlib import Path

import pytest

from tests.docs.documents import blocks
from tests.languages.kits import KITS, build_starter, execute, require

pytestmark = pytest.mark.languages

(KIT,) = (kit for kit in KITS if kit.language == "go")

PRELUDE = """\
package main

import (
	"context"

	"asara"
	"asara/asarav1"
)

"""
BOT = "type bot struct{ *asara.Match }\n"
MAIN = """
func main() {
	asara.Exit(asara.Run(func(match *asara.Match) asara.Player { return bot{match} }))
}
"""


def program_of(example: str) -> str:
    """Return an example as a whole program: with the parts that the guide shows only once."""
    if example.startswith("package "):
        return example
    bot = "" if "type bot " in example else BOT
    return PRELUDE + bot + example + ("" if "func main()" in example else MAIN)


def test_the_bots_of_the_guide_can_be_built(tmp_path: Path) -> None:
    require(KIT)
    build_starter(KIT)
    for name in ("go.mod", "go.sum"):
        shutil.copy(KIT.starter_folder / name, tmp_path)
    module = (tmp_path / "go.mod").read_text().replace("../../clients/go", str(KIT.folder))
    (tmp_path / "go.mod").write_text(module)
    for number, block in enumerate(blocks("clients/go/README.md", "go")):
        folder = tmp_path / f"example{number}"
        folder.mkdir()
        (folder / "main.go").write_text(program_of(block.content))
    execute("go", "mod", "vendor", cwd=tmp_path)
    execute("go", "vet", "-mod=vendor", "./...", cwd=tmp_path)
