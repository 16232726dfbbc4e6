"""The client kits and their starters: what each needs, how it is built, and how it is started."""

import fcntl
import os
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from asara_server.tournament.config.tournament_file import Entry

ROOT = Path(__file__).resolve().parents[2]
BUILT = "ASARA_STARTERS_BUILT"
"""Variable that is set if `scripts/test --languages` has just built the starters."""
_LONGEST_S = 1_800


class Kit(NamedTuple):
    language: str
    """Argument of `asara new`, and name of the folder in `clients`."""
    starter: str
    """Name of the starter's folder in `bots`."""
    programs: tuple[str, ...] = ()
    """Programs of the toolchain, on PATH."""
    libraries: tuple[str, ...] = ()
    """Libraries of the system, as pkg-config names them."""

    @property
    def folder(self) -> Path:
        return ROOT / "clients" / self.language

    @property
    def starter_folder(self) -> Path:
        return ROOT / "bots" / self.starter


KITS = (
    Kit("python", "random"),
    Kit("go", "go-random", ("go",)),
    Kit("typescript", "typescript-random", ("node", "npm")),
    Kit("rust", "rust-random", ("cargo",)),
    Kit("java", "java-random", ("java", "javac", "mvn")),
    Kit("cpp", "cpp-random", ("c++", "cmake", "pkg-config", "protoc"), ("grpc++", "protobuf")),
)

BRIDGES = (
    Kit("shell", "shell-bridge", ("jq",)),
    Kit("perl", "perl-bridge", ("perl",)),
    Kit("tcl", "tcl-bridge", ("tclsh",)),
)
"""Bots behind `asara bridge`; they have no kit of their own."""

every_kit = pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.language)


def missing(kit: Kit) -> str:
    """Return what the toolchain of a language lacks, or ""."""
    programs = [program for program in kit.programs if shutil.which(program) is None]
    if programs:
        return f"there is no {' and no '.join(programs)} on PATH"
    for library in kit.libraries:
        if subprocess.run(["pkg-config", "--exists", library], check=False).returncode:
            return f"pkg-config finds no {library}"
    return ""


def require(kit: Kit) -> None:
    """Skip the test if the toolchain is missing."""
    if lacking := missing(kit):
        pytest.skip(f"{kit.language} is left out: {lacking}")


def bot_file(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "bot.toml").read_text())


def entry_of(folder: Path, name: str = "", *, built: bool) -> Entry:
    """Return the bot of a folder as an entry; one that is `built` lies there ready."""
    table = bot_file(folder)
    readable = [str(folder / path) for path in table.pop("readable", [])]
    if built:
        table.pop("build", None)
    table |= {"name": name or table.get("name", folder.name), "directory": str(folder)}
    return Entry.model_validate({**table, "readable": readable})


_ready: set[str] = set()


def build_starter(kit: Kit) -> None:
    """Download packages and build the starter in place, once and not in two processes at a time."""
    if os.environ.get(BUILT) or kit.starter in _ready:
        return
    folder = kit.starter_folder
    with (folder / "bot.toml").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "fetch.sh").exists():
            execute("./fetch.sh", cwd=folder)
        if build := entry_of(folder, built=False).build:
            execute(*build, cwd=folder)
    _ready.add(kit.starter)


def execute(*command: str | Path, cwd: Path, environment: Mapping[str, str] = {}) -> str:
    """Return what a command prints; the test fails with it if the command fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    if done.returncode:
        line = shlex.join(map(str, command))
        pytest.fail(f"{line}, in {cwd}, failed:\n{done.stdout}", pytrace=False)
    return done.stdout
