"""The C++ kit is installed, and a fresh project away from the checkout uses it."""

import re
import sys
from pathlib import Path

import pytest

from tests.docs.documents import blocks
from tests.languages.kits import KITS, ROOT, build_starter, execute, require

pytestmark = pytest.mark.languages

KIT = next(kit for kit in KITS if kit.language == "cpp")

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
foreach(bot {bots})
  add_executable(${{bot}} ${{bot}}.cpp)
endforeach()
{linked}"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the kit is installed, from the build of its starter."""
    require(KIT)
    build_starter(KIT)
    prefix = tmp_path_factory.mktemp("cpp")
    built = KIT.starter_folder / "build" / "asara"
    execute("cmake", "--install", built, "--prefix", prefix, cwd=prefix)
    scripts = [file.read_text() for file in prefix.rglob("*.cmake")]
    assert scripts
    assert not any(str(ROOT) in script for script in scripts), "the build may be removed"
    return prefix


def test_the_examples_of_the_readme_use_the_installed_kit(prefix: Path, tmp_path: Path) -> None:
    examples = re.findall(
        r"^```cpp\n(.*?)^```$", (KIT.folder / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    bots = [f"bot{number}" for number in range(len(examples))]
    assert len(bots) == 4
    for bot, example in zip(bots, examples, strict=True):
        (tmp_path / f"{bot}.cpp").write_text(example)
    (block,) = blocks("clients/cpp/README.md", "cmake")
    linked = "".join(block.content.replace("my-bot", bot) for bot in bots)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(bots=" ".join(bots), linked=linked))
    execute("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    execute("cmake", "--build", "build", "--parallel", "2", cwd=tmp_path)
    programs = [str(tmp_path / "build" / bot) for bot in bots]
    printed = execute(
        sys.executable, "-m", "asara_server.cli", "match", *programs, "--seed", "1", cwd=tmp_path
    )  # four seats, in the sandbox
    assert "prestige" in printed
    assert "forfeit" not in printed
