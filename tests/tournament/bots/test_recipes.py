"""The recipes for builds in other languages: each is followed as written, and its bot plays."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from asara_server.tournament.standings.match_result import read_results
from tests.cli.command import command_line, environment
from tests.docs.documents import ROOT, read
from tests.tournament.sandbox_config import sandbox_or_skip

RECIPES = "server/asara_server/tournament/bots/recipes.md"
PLAYED_S = 1800
"""Seconds for the slowest recipe on a busy machine."""

NEEDED = {
    "Rust": ("cargo", "rustc", "cc"),
    "Java": ("mvn", "javac"),
    "Node": ("npm", "node"),
    "C++": ("g++", "pkg-config", "protoc", "grpc_cpp_plugin"),
}
"""Programs that a recipe needs, by its heading."""

_NO_NETWORK = re.compile(
    r"EAI_AGAIN|ENOTFOUND|ECONN|resolve host|name resolution|Could not transfer|Unknown host|"
    r"unreachable|timed out"
)


def recipe(heading: str) -> str:
    return read(RECIPES).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(section: str, language: str) -> list[str]:
    """Return the fenced blocks of a language that are not the content of a file."""
    found = re.findall(
        rf"(^`[\w./]+`:\n\n)?^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE
    )
    return [content for file, content in found if not file]


def write_files(folder: Path, section: str) -> None:
    """Write the files whose content is in the section of a recipe."""
    for name, content in re.findall(
        r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", section, re.DOTALL | re.MULTILINE
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def run_author(folder: Path, lines: Sequence[str]) -> None:
    """Run the author's commands, or skip if the registry of the language cannot be reached."""
    script = "\n".join(("set -e", *lines))
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    if done.returncode and _NO_NETWORK.search(printed):
        pytest.skip(f"the registry cannot be reached: {printed[-300:]}")
    assert done.returncode == 0, printed


def require_toolchain(heading: str) -> None:
    if missing := [name for name in NEEDED[heading] if shutil.which(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if (
        heading == "C++"
        and subprocess.run(["pkg-config", "--exists", "grpc++", "protobuf"], check=False).returncode
    ):
        pytest.skip("not installed: gRPC for C++")


@pytest.mark.long
@pytest.mark.parametrize("heading", NEEDED)
def test_a_recipe_builds_in_the_sandbox_and_its_bot_plays(heading: str, tmp_path: Path) -> None:
    require_toolchain(heading)
    sandbox_or_skip()
    section = recipe(heading)
    (entry,) = blocks(section, "toml")
    (name,) = re.findall(r'^name = "(\w+)"$', entry, re.MULTILINE)
    folder = tmp_path / name
    folder.mkdir()
    write_files(folder, section)
    (copy,) = blocks(read(RECIPES).partition("\n## ")[0], "sh")
    run_author(folder, [copy.replace("CHECKOUT", str(ROOT)), *blocks(section, "sh")])
    if heading == "Rust":
        sysroot = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
        entry = entry.replace("/opt/rust", sysroot)
    random = f'name = "random"\ncommand = "python {ROOT}/bots/random/main.py"\n'
    (tmp_path / "cup.toml").write_text(
        f'title = "Cup"\nseats = 2\nrule_sets = "basic"\n{entry}\n[[entries]]\n{random}'
    )
    words = ("tournament", "run", tmp_path / "cup.toml", "--out", tmp_path / "run")
    done = subprocess.run(
        command_line(*words, "--key", tmp_path / "key"),
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        timeout=PLAYED_S,
    )
    assert done.returncode == 0, done.stderr
    results = list(read_results(tmp_path / "run" / "results.jsonl"))
    assert len(results) == 2
    assert not any(result.forfeits for result in results), done.stderr


def test_every_recipe_says_how_its_entry_is_written() -> None:
    for heading in NEEDED:
        (entry,) = blocks(recipe(heading), "toml")
        keys = set(re.findall(r"^\w+", entry, re.MULTILINE))
        assert {"name", "directory", "build", "command"} <= keys
    assert set(re.findall(r"^## (.+)$", read(RECIPES), re.MULTILINE)) == set(NEEDED)
