"""The C++ kit is installed, and a fresh project away from the checkout uses it."""

import re
import sys
from pathlib import Path

import pytest

from tests.languages.kits import KITS, execute, require

pytestmark = pytest.mark.languages

KIT = next(kit for kit in KITS if kit.language == "cpp")

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
find_package(asara 0.1 REQUIRED)
foreach(bot {bots})
  add_executable(${{bot}} ${{bot}}.cpp)
  target_link_libraries(${{bot}} PRIVATE asara::asara)
endforeach()
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the kit is installed, built from a copy that exists no longer."""
    require(KIT)
    folder = tmp_path_factory.mktemp("cpp")
    build, prefix = folder / "build", folder / "prefix"
    execute(
        "cmake", "-S", KIT.folder, "-B", build, "-DASARA_DEVELOPER=OFF",
        "-DCMAKE_UNITY_BUILD=ON", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        cwd=folder,
    )  # fmt: skip
    execute("cmake", "--build", build, cwd=folder)
    execute("cmake", "--install", build, cwd=folder)
    build.rename(folder / "elsewhere")
    return prefix


def test_the_examples_of_the_readme_use_the_installed_kit(prefix: Path, tmp_path: Path) -> None:
    examples = re.findall(
        r"^```cpp\n(.*?)^```$", (KIT.folder / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    bots = [f"bot{number}" for number in range(len(examples))]
    assert len(bots) == 4
    for bot, example in zip(bots, examples, strict=True):
        (tmp_path / f"{bot}.cpp").write_text(example)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(bots=" ".join(bots)))
    execute("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    execute("cmake", "--build", "build", cwd=tmp_path)
    programs = [str(tmp_path / "build" / bot) for bot in bots]
    printed = execute(
        sys.executable, "-m", "asara_server.cli", "match", *programs, "--seed", "1", cwd=tmp_path
    )  # four seats, in the sandbox
    assert "prestige" in printed
    assert "forfeit" not in printed
