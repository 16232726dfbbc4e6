"""Finds runtimes that a user has installed, so that sandboxed programs can start in them.

Version managers (nvm, fnm, volta, sdkman, rustup, pyenv, uv and the like) keep runtimes in a home
directory, which no bot sees. If a command uses a runtime, the runtime is therefore looked up on the
runner's PATH. Its installation directory becomes visible, but nothing around it. A runtime is
recognised by files that each installation has. PATH may lead to a shim, which looks for the real
program in files that the sandbox hides. In this case the shim is run to print the real location. It
runs outside the sandbox, so only programs on PATH are run this way, never a program that a command
gives by its path, which may be the author's own.

A command uses a runtime in its first word, or in the script or Makefile that it runs.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.bounded_file import open_ordinary
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.sandbox.system_mounts import is_of_system, system_paths

_ASK_S: Final = 10.0
"""Seconds that a program may take to print where it is installed."""
_SCRIPT_BYTES: Final = 1 << 16
"""Maximum bytes of a script that are searched for the names of runtimes."""
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")


class _Runtime(NamedTuple):
    """A kind of runtime."""

    programs: str
    """Pattern for the names of the runtime's programs."""
    marks: tuple[str, ...]
    """File patterns; every installation directory has a file that matches one of them."""
    question: tuple[str, ...]
    """Arguments that make `asked`, or the program itself, print a path in its installation."""
    asked: str = ""
    needs: tuple[str, ...] = ()
    """Programs of other runtimes that this runtime starts."""


_RUNTIMES: Final = (
    _Runtime(
        "node|npm|npx|corepack|yarn|pnpm",
        ("include/node/node.h", "lib/node_modules/npm"),
        ("-p", "process.execPath"),
        "node",
    ),
    _Runtime(
        "java|javac|jar",
        ("lib/modules", "lib/rt.jar", "jre/lib/rt.jar"),
        ("-XshowSettings:properties", "-version"),
        "java",
    ),
    _Runtime("mvn", ("bin/m2.conf",), ("--version",), needs=("java", "javac")),
    _Runtime("go|gofmt", ("src/runtime/runtime.go",), ("env", "GOROOT"), "go"),
    _Runtime("cargo|rustc", ("lib/rustlib",), ("--print", "sysroot"), "rustc"),
    _Runtime(
        r"(?:python|pypy)[\d.]*",
        ("pyvenv.cfg", "lib/python3*/os.py", "lib/pypy3*/os.py"),
        ("-c", "import sys; print(sys.base_prefix)"),
    ),
)


@dataclass(frozen=True, slots=True)
class VisiblePrograms:
    """Programs outside the system directories that a command needs."""

    mounts: tuple[tuple[Path, Path], ...] = ()
    """Files and directories, each as its path on this machine and its path in the sandbox."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Directories on PATH, each with the installation directory that replaces it."""

    def search_path(self, path: str) -> list[str]:
        """Return the directories of a PATH, with replacements applied."""
        found: list[str] = []
        for directory in path.split(os.pathsep):
            instead = [new for old, new in self.replaced if old == directory]
            found += instead or [directory]
        return list(dict.fromkeys(found))


def visible_programs(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    content: Path | None = None,
) -> VisiblePrograms:
    """Return the programs that a command needs to see when it starts in a directory.

    `content` is as in `SandboxSpec`. A program given by its path makes neither the directory nor
    the folders around it visible.
    """
    path = environment.get("PATH", os.defpath)
    mounts: dict[Path, Path] = {}
    replaced: list[tuple[str, str]] = []
    for name in _programs(command, content or directory):
        by_path = "/" in name
        found = shutil.which(str(directory / name) if by_path else name, path=path)
        if found is None:
            continue
        prefixes = installation(found, ask=not by_path)
        if by_path:
            prefixes = tuple(one for one in prefixes if not _overlap(one, directory))
        for prefix in prefixes:
            mounts[prefix] = prefix
            programs = prefix / "bin"
            if not is_of_system(Path(found)) and (programs / Path(found).name).exists():
                replaced.append((os.path.dirname(found), str(programs)))  # noqa: PTH120
        if not prefixes and not by_path and not _is_visible(Path(found)):
            mounts[Path(found)] = Path(found).resolve()
    return VisiblePrograms(
        tuple((source, target) for target, source in mounts.items()),
        tuple(dict.fromkeys(replaced)),
    )


def installation(program: str, *, ask: bool) -> tuple[Path, ...]:
    """Return the directories of the installation that contains a program.

    A virtual environment has several directories. A system program or a program of an unknown kind
    has none. `ask` is for programs on the runner's PATH: a shim is then run, with the runner's
    rights, to find its installation.
    """
    runtime = _runtime_of(Path(program).name)
    if runtime is None:
        return ()
    path = Path(program)
    # A directory on PATH may be a link, and so may the program.
    places = dict.fromkeys((path.parent.resolve().parent, path.resolve().parent.parent))
    found = [place for place in places if _is_installation(place, runtime)]
    if ask and not found and not any(is_of_system(one) for one in (path.resolve(), *places)):
        found = list(_asked_places(path, runtime))
    return tuple(place for place in found if not _is_visible(place))


def _overlap(place: Path, directory: Path) -> bool:
    """Return True if one of two directories contains the other."""
    own = directory.resolve()
    return place.is_relative_to(own) or own.is_relative_to(place)


def _programs(command: Sequence[str], directory: Path) -> list[str]:
    """Return the names of the programs that a command may start, without duplicates."""
    names = [command[0]]
    files = [word for word in command if len(word) < os.pathconf("/", "PC_PATH_MAX")]
    if Path(command[0]).name in {"make", "gmake"}:
        files += _MAKEFILES
    for file in files:
        names += _named_in(directory / file)
    for name in tuple(names):
        runtime = _runtime_of(Path(name).name)
        names += runtime.needs if runtime else ()
        if runtime and runtime.asked:
            names.append(runtime.asked)
    return list(dict.fromkeys(names))


_ANY_RUNTIME: Final = re.compile(
    rb"(?<![\w./-])(?:" + "|".join(one.programs for one in _RUNTIMES).encode() + rb")(?![\w-])"
)


def _named_in(script: Path) -> list[str]:
    """Return the runtimes' programs mentioned in a text file; none if the file is not a script."""
    try:
        if is_of_system(script) or not script.is_file():
            return []
        with open_ordinary(script) as file:
            text = file.read(_SCRIPT_BYTES)
    except (OSError, ValueError):
        return []
    if not text.startswith(b"#!") and script.suffix != ".sh" and script.name not in _MAKEFILES:
        return []
    if text.startswith(b"#!") and b"sh" not in text.split(b"\n", 1)[0]:
        text = text.split(b"\n", 1)[0]  # programs of other languages only give their interpreter
        text = text.replace(b"/env -S ", b"/env ")
    return [name.decode() for name in _ANY_RUNTIME.findall(text)]


def _runtime_of(program: str) -> _Runtime | None:
    return next((one for one in _RUNTIMES if re.fullmatch(one.programs, program)), None)


def _is_installation(place: Path, runtime: _Runtime) -> bool:
    """Return True if a directory is an installation of the runtime and of nothing else."""
    if exposes_too_much(place) or _is_of_home(place):
        return False
    return any(next(place.glob(mark), None) is not None for mark in runtime.marks)


def _is_of_home(place: Path) -> bool:
    """Return True for directories such as `~/.local`, which hold files of many programs."""
    try:
        home = Path.home()
    except RuntimeError:  # this user has none
        return False
    return place.name.startswith(".") and place.parent in (home, home.resolve())


def _is_visible(place: Path) -> bool:
    """Return True if every sandboxed program can see a directory anyway."""
    return any(place == one or one in place.parents for one in system_paths())


def _asked_places(program: Path, runtime: _Runtime) -> Iterator[Path]:
    """Yield the installation that a shim leads to, if the shim prints it."""
    asked = program.with_name(runtime.asked) if runtime.asked else program
    try:
        printed = _answer(asked, runtime.question, asked.stat().st_mtime_ns)
    except OSError:
        return
    for text in re.findall(r"(?m)(?:^|home = |home: )(/.*)$", printed):
        path = Path(text.strip()).resolve()
        for place in (path, path.parent.parent):
            if _is_installation(place, runtime):
                yield place
                return


@cache
def _answer(program: Path, question: tuple[str, ...], _changed_ns: int) -> str:
    """Return what a program prints; "" if it fails. An answer stays valid until the file changes.

    The program runs in the root directory: in a bot's directory, the bot's author could choose the
    runtime.
    """
    try:
        done = subprocess.run(
            [str(program), *question],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ASK_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace")
