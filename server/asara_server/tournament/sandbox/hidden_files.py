"""Explains to a bot's author that a missing file is a file hidden by the sandbox.

A program usually prints the name of a file that it cannot find. If the sandbox hides this file, its
author would look for the fault in the wrong place. The organiser's messages therefore give the
reason and the remedy. They do not depend on what exists outside the bot's folder. Otherwise, a bot
could ask for files and learn from its logs which of them exist.
"""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asara_server.text import plain
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.sandbox.own_files import (
    OTHER_ENTRY,
    OTHER_PROGRAM,
    REFEREE,
    OwnFiles,
    is_in,
    programs_of,
)
from asara_server.tournament.sandbox.private_copy import is_run_directory
from asara_server.tournament.sandbox.system_mounts import system_paths

_MISSING: Final = re.compile(
    r"no such file|ENOENT|no module named|cannot find module|can(?:no|')t open|NoSuchFile"
    r"|FileNotFound|not found|does not exist",
    re.IGNORECASE,
)
"""Messages about missing files, as printed by Python, Node, Go, Java, C and shells."""
_QUOTED: Final = re.compile(r"""'([^']+)'|"([^"]+)"|`([^`]+)`""")
_PYTHON_MODULE: Final = re.compile(r"No module named '([\w.]+)'")
_MODULE_ENDINGS: Final = (".js", ".mjs", ".cjs", ".json")
_LONGEST_NAME: Final = 1_000
_MOST_NAMES: Final = 50
_IN_EVERY_SANDBOX: Final = tuple(map(Path, ("/dev", "/etc", "/proc", "/sys", "/tmp")))  # noqa: S108


SANDBOX_HID: Final = "the sandbox hid"
"""Beginning of a message about a file that the sandbox hides from a bot."""


def reports_missing_file(printed: str) -> bool:
    """Return True if a program's output mentions a file that could not be found."""
    return _MISSING.search(printed) is not None


@dataclass(frozen=True, slots=True)
class HiddenFiles:
    """The files that the sandbox hides from an entry's bots."""

    entry: Entry
    own: OwnFiles

    def explain(self, printed: str) -> str:
        """Return why the sandbox hid a file from the bot, with the remedy; "" if it hid nothing."""
        for name, path in self._asked_for(printed):
            if reason := self._reason(name, path):
                return f"{SANDBOX_HID} {_shown(path)}: {reason}"
        return ""

    def _asked_for(self, printed: str) -> Iterator[tuple[str, Path]]:
        """Yield the files that a program could not find, by name and path, most recent first."""
        folders = [self.entry.directory, *(p.folder for p in programs_of(self.entry))]
        for line in reversed(printed.splitlines()):
            if not _MISSING.search(line):
                continue
            if module := _PYTHON_MODULE.search(line):
                name = module[1].partition(".")[0]
                for folder in folders:
                    found = filter(_exists, (folder / f"{name}.py", folder / name))
                    yield from ((name, path) for path in found)
                continue
            for name in _names(line):
                for folder in folders:
                    path = Path(os.path.normpath(folder / name))
                    endings = _MODULE_ENDINGS if "Cannot find module" in line else ()
                    found = filter(_exists, (path.with_name(path.name + one) for one in endings))
                    yield from ((name, one) for one in (*found, path))

    def _reason(self, name: str, path: Path) -> str:
        """Return why the sandbox hides a path, with the remedy; "" if the path is visible."""
        if any(is_in(path, one) for one in self.entry.readable):
            return ""
        tops = [top for top in self.own.paths if is_in(path, top)]
        if not tops:
            return self._reason_outside(name, path)
        remedy = f"; {_remedy(path)}"
        for one in (path, *path.parents):
            reason = self.own.hidden.get(one)
            if reason == REFEREE or _holds_run(one):
                return REFEREE
            if reason in (OTHER_PROGRAM, OTHER_ENTRY):
                return f"{reason}; move what both bots need to another file, or {_remedy(path)}"
            if one in self.own.left_out:
                return f"with it, {one.parent} exceeds limits.directory_mib{remedy}"
            if one in tops:
                return ""
            if self.own.shared and one.name.startswith(".") and one.is_dir():
                return f"folders whose names begin with a dot are left out{remedy}"
        return ""

    def _reason_outside(self, name: str, path: Path) -> str:
        for program in programs_of(self.entry):
            if program.file and path.parent == program.folder and exposes_too_much(path.parent):
                return (
                    f"of {path.parent} a bot sees its program alone; move the bot with its files "
                    f"to a folder of their own, or {_remedy(path)}"
                )
        directory = self.entry.directory
        if is_in(path, directory) and not name.startswith("/"):
            seen = " and ".join(map(str, self.own.paths)) or "nothing of it"
            return (
                f"the bot starts in {directory}, but sees {seen}; name the file relative to the "
                f"program, or {_remedy(path)}"
            )
        common = (*system_paths(), *_IN_EVERY_SANDBOX)
        if name.startswith("/") and any(is_in(path, one) for one in common):
            return ""  # the missing file may be the sandbox's own
        return f"it is outside the bot's folder; {_remedy(path)}"


def _names(line: str) -> list[str]:
    """Return possible file names in a line: quoted texts, and words with a dot or slash."""
    quoted = ["".join(groups) for groups in _QUOTED.findall(line)]
    words = (word.strip("():,;[]'\"`") for word in _QUOTED.sub(" ", line).split())
    names = [*quoted, *(word for word in words if "/" in word or "." in word.strip("."))]
    names = [name for name in names if not _MISSING.search(name) and len(name) < _LONGEST_NAME]
    return [name for name in names if "\0" not in name][:_MOST_NAMES]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _holds_run(path: Path) -> bool:
    try:
        return path.is_dir() and is_run_directory({one.name for one in path.iterdir()})
    except OSError:
        return False


def _shown(path: Path) -> str:
    """Return a path in a form that the user can type."""
    here = Path.cwd()
    return plain(str(path.relative_to(here) if is_in(path, here) and path != here else path))


def _remedy(path: Path) -> str:
    name = _shown(path)
    return (
        f"let the bot read it with --readable {shlex.quote(name)} "
        f'(readable = ["{name}"] in a tournament file)'
    )
