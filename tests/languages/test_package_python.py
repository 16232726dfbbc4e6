"""The Python package, built, installed in empty environments away from the checkout, and used."""

import os
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.languages

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "server/asara_game/",
    "server/asara_codec/",
    "server/asara_search/",
    "server/asara_env/",
    "server/asara_server/",
    "clients/python/asara/",
)
KITS = ("cpp", "go", "java", "rust", "typescript")
GUIDES = ("README.md", "behaviour.md", "bridge/", "debugging.md", "sidecar.md")
DATA = ("bots/", "proto/", *(f"clients/{kit}/" for kit in KITS), *(f"clients/{g}" for g in GUIDES))

CUP = """\
title = "Cup"
seats = [2]
rules = ["basic"]
rounds = 2

[[entries]]
name = "mine"
directory = "mine"

[[entries]]
name = "other"
command = "python other.py"
"""


def run(*words: str | Path, cwd: Path, status: int = 0, path: str = "") -> str:
    """Run a command as a user who has none of our settings; return everything that it printed."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "ASARA_", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env={**environment, "COLUMNS": "80", **({"PYTHONPATH": path} if path else {})},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def tracked() -> Iterator[str]:
    """Yield the paths under version control; a linked folder stands for the files in it."""
    for path in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / path).is_dir():
            inside = (ROOT / path).rglob("*")
            yield from (str(file.relative_to(ROOT)) for file in inside if file.is_file())
        else:
            yield path


def place_in_wheel(path: str) -> str:
    """Return the path in the wheel of a path in the checkout, or "" if the wheel lacks it."""
    if path.startswith(DATA):
        return f"asara_server/data/{path}"
    if path.startswith(PACKAGES):
        return path.removeprefix("server/").removeprefix("clients/python/")
    return ""


def new_environment(folder: Path, requirement: str) -> Path:
    """Make an empty environment, install a requirement in it, and return its `bin`."""
    venv.create(folder, with_pip=True)
    run(folder / "bin/pip", "install", "--quiet", requirement, cwd=folder)
    return folder / "bin"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist and the wheel."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [wheel] = built.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def referee(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` of an environment with the extra `referee`."""
    return new_environment(tmp_path_factory.mktemp("referee"), f"{wheel}[referee]")


def test_the_wheel_has_what_is_under_version_control_and_nothing_that_builds_leave(
    wheel: Path,
) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    assert names == {place for path in tracked() if (place := place_in_wheel(path))}


def test_the_sdist_makes_the_same_wheel(built: Path, wheel: Path, tmp_path: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=folder)
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(tmp_path / wheel.name) as made:
        assert sorted(made.namelist()) == sorted(ours.namelist())


def test_the_client_alone_names_the_extra_that_a_command_needs(wheel: Path, tmp_path: Path) -> None:
    programs = new_environment(tmp_path / "client", str(wheel))
    for words in ((), ("match", "greedy", "random"), ("proto", "out")):
        text = run(programs / "asara", *words, cwd=tmp_path, status=1)
        assert f"pip install '{wheel}[referee]'" in text
        assert text.count("\n") == 1, "a line, and no traceback"
    assert run(programs / "asara", "--version", cwd=tmp_path) == f"asara {version('asara')}\n"
    run(
        programs / "python",
        "-c",
        "import asara_search.playout, asara_search.policies",
        cwd=tmp_path,
    )
    text = run(programs / "python", "-c", "import asara; asara.run(print)", cwd=tmp_path, status=2)
    assert "asara: ASARA_ADDRESS and ASARA_TOKEN are not set" in text
    text = run(programs / "asara", "bridge", cwd=tmp_path, status=2)
    assert text.startswith("asara: "), "the bridge needs the client only"
    for command in (["asara", "sidecar"], ["python", "-m", "asara_search.sidecar"]):
        line = shlex.join([str(programs / command[0]), *command[1:]])
        hello = """echo '{"method":"hello"}' | """
        assert run("sh", "-c", hello + line, cwd=tmp_path).startswith('{"protocol_version":1,')


def test_a_newcomer_plays_in_an_empty_folder(referee: Path, tmp_path: Path) -> None:
    home = tmp_path / "my first cup"
    home.mkdir()
    asara = referee / "asara"
    assert run(asara, "help", "--guide", "new", cwd=home).startswith("# Writing a bot\n")
    assert "greedy" in run(asara, "match", "greedy", "random", cwd=home)
    run(asara, "proto", "protocol", cwd=home)
    assert (home / "protocol/asara/v1/play.proto").is_file()
    run(asara, "new", "python", "mine", cwd=home)
    run(asara, "check", "mine", cwd=home)
    assert "mine" in run(asara, "match", "mine", "greedy", cwd=home)
    (home / "other.py").write_text(
        "import asara\nasara.run(lambda decision, match: decision.legal_actions[0])\n"
    )
    (home / "cup.toml").write_text(CUP)
    run(asara, "tournament", "run", "cup.toml", "--out", "runs/cup", cwd=home)
    assert "4 passed, 0 failed" in run(asara, "audit", "runs/cup", cwd=home)
    assert sorted(path.name for path in home.iterdir()) == [
        "cup.toml",
        "mine",
        "other.py",
        "protocol",
        "runs",
    ]
