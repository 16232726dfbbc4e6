"""Command lines of bots, checked and resolved before anything runs."""

import difflib
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from asara_server import bundled

OWN_PYTHON = frozenset({"python", "python3"})
"""Programs that are replaced by asara's own interpreter, so that bots find the client."""

INTERPRETERS = {
    ".awk": "awk -f",
    ".cjs": "node",
    ".jar": "java -jar",
    ".js": "node",
    ".lua": "lua",
    ".mjs": "node",
    ".php": "php",
    ".pl": "perl",
    ".py": "python",
    ".rb": "ruby",
    ".sh": "sh",
    ".tcl": "tclsh",
}
"""Programs that run files, by file extension."""

_SCRIPT_FIRST = frozenset({"bash", "lua", "node", "perl", "php", "ruby", "sh"})
"""Programs whose first argument is a script unless the argument starts with a dash."""

_PYTHON_FLAGS = frozenset({"-B", "-E", "-I", "-O", "-OO", "-P", "-s", "-S", "-u", "-v"})
"""Python options without a value, which the script may follow."""


_SHELL_SYNTAX = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>"})

_MOST_BESIDE = 1_000
"""Maximum number of files in a directory that are searched for a similar name."""

_LONGEST_COMMAND = 100_000
"""Maximum characters of all words together; Linux allows 128 KiB for one word."""


class CommandError(ValueError):
    """Raised if a command cannot start a bot; the text gives the reason."""


def search_path() -> str:
    """Return the PATH of bots, with this interpreter's directory first.

    A script whose first line specifies `python3` thus finds the client too. The JDK in JAVA_HOME is
    found if PATH has none.
    """
    found = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    if java := os.environ.get("JAVA_HOME"):
        found.append(str(Path(java) / "bin"))
    return os.pathsep.join(found)


def command_words(value: object) -> tuple[str, ...]:
    """Return the words of a command, given as a line or as a list; raise CommandError."""
    if isinstance(value, str):
        return split_command(value)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return _check_words(value)
    raise CommandError("must be a command line or a list of arguments")


def _check_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command; raise CommandError if no process could receive them."""
    if any("\0" in word for word in words):
        raise CommandError("contains a zero byte")
    if sum(map(len, words)) > _LONGEST_COMMAND:
        raise CommandError(f"has more than {_LONGEST_COMMAND:,} characters")
    return tuple(words)


def split_command(text: str) -> tuple[str, ...]:
    """Split a command line into words like a POSIX shell, ignoring all other shell syntax."""
    _check_words([text])  # splitting takes quadratic time
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise CommandError(f"cannot be split into words: {error}".lower()) from None
    if sign := next(filter(_SHELL_SYNTAX.__contains__, words), None):
        raise CommandError(
            f"has {sign!r}, but no shell reads it: put the line into a file, and write 'sh FILE'"
        )
    if not words:
        raise CommandError("is empty; write what starts the bot, such as 'python bot.py'")
    return words


def check_command(words: tuple[str, ...], directory: Path) -> None:
    """Raise CommandError if this command clearly cannot start in this directory."""
    program = words[0]
    if program in OWN_PYTHON:
        _check_script(_python_script(words), directory)
        return
    if words[:3] == ("asara", "bridge", "--") and words[3:]:
        check_command(words[3:], directory)
        return
    if "/" in program:
        path = directory / program
        _check_file(program, directory)
        if shutil.which(str(path)) is None:
            interpreter = INTERPRETERS.get(path.suffix, "python")
            raise CommandError(
                f"{program!r} is not executable; make it so with chmod +x, "
                f"or put its interpreter first, such as '{interpreter} {path.name}'"
            )
        return
    if shutil.which(program, path=search_path()) is None:
        beside = directory / program
        found = os.path.isfile(beside)  # noqa: PTH113
        hint = f"; for the file next to it write './{program}'" if found else ""
        if not found and re.fullmatch(r"(python|pypy)[\d.]*", program):
            hint = f"; 'python' is Python {platform.python_version()}, which runs asara"
        if not found:
            is_built_in = os.path.isfile(bundled.path("bots", program, "bot.toml"))  # noqa: PTH113
            own = f"; for the built-in bot write bot = {shlex.join(words)!r}" if is_built_in else ""
            hint = hint or own
        raise CommandError(f"no program {program!r} on PATH{hint}")
    if program in _SCRIPT_FIRST and len(words) > 1:
        _check_script(words[1], directory)


def resolve_command(words: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the command with its program as an absolute path, or replaced by this interpreter.

    Arguments are unchanged, because the process starts in `directory`.
    """
    program = words[0]
    if program in OWN_PYTHON:
        return (sys.executable, *words[1:])
    if "/" in program:
        return (str(directory / program), *words[1:])
    return words


def _python_script(words: tuple[str, ...]) -> str:
    for word in words[1:]:
        if word not in _PYTHON_FLAGS:
            return word
    raise CommandError(f"{' '.join(words)!r} names no script; write it after the interpreter")


def _check_script(script: str, directory: Path) -> None:
    if script.startswith("-"):
        return  # -m and -c are not followed by a file
    if not os.path.isfile(directory / script / "__main__.py"):  # noqa: PTH113
        _check_file(script, directory)


def _check_file(name: str, directory: Path) -> None:
    path = directory / name
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir, it takes a text of any length
        raise CommandError(f"{name!r} is a folder; write the program in it")
    if os.path.exists(path):  # noqa: PTH110
        return
    try:
        beside = [other.name for other in islice(path.parent.iterdir(), _MOST_BESIDE)]
    except OSError:
        beside = []
    if path.name in beside:
        raise CommandError(f"{name!r} is a link that leads to no file; put the file itself there")
    close = difflib.get_close_matches(path.name, beside, n=1)
    hint = f"; did you mean {str(Path(name).with_name(close[0]))!r}?" if close else ""
    raise CommandError(f"no such file {name!r} in {directory}{hint}")
