"""Arguments that specify a bot: the name of a built-in bot, a path, a command line, or `guest`.

A built-in bot or a folder may be followed by options, which are appended to the bot's command.
"""

import difflib
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from asara_server import bundled
from asara_server.cli.options.common import readable_paths
from asara_server.text import plain
from asara_server.tournament.config.commands import (
    CommandError,
    check_command,
    search_path,
    split_command,
)
from asara_server.tournament.config.entry_folders import (
    BOT_FILE,
    built_in_bots,
    has_bot_file,
    read_entry_folder,
)
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.config.validation_errors import describe
from asara_server.user_error import UserError

FETCH = "fetch.sh"
"""Program in a bot's folder that downloads the packages needed to build the bot."""
_MAIN = (("main.py", ("python", "main.py")), ("main.go", ("go", "run", ".")))
"""Files that make a folder a bot, with the commands that start the bot in that folder."""

_USUAL = ("my_bot.py", "bot.py")
"""Common names for a bot's file."""
GUEST: Final = "guest"
"""Argument for a bot that the user starts, for example in a debugger."""
_Table = dict[str, Any]
"""A bot as a table of `entries` in a tournament file, with absolute paths."""


def find_bots(
    arguments: list[str], readable: Iterable[Path] | None = None, *, guests: bool = False
) -> list[Entry]:
    """Return the bots for these arguments; a second `random` gets the name `random-2`.

    Bots with the same name in different folders, such as copies, are named after their folders. The
    directory of a bot given as a command is the current folder. `readable` is the value of
    --readable. With `guests`, `guest` is a remote entry whose token has the entry's name. Raises
    UserError.
    """
    further = readable_paths(readable)
    found = [
        {"name": GUEST} if guests and argument == GUEST else _find_bot(argument)
        for argument in arguments
    ]
    places = {(table["name"].casefold(), table.get("directory")) for table in found}
    folders = Counter(name for name, _ in places)
    seen: Counter[str] = Counter()
    bots = []
    for table in found:
        name, folder = table["name"], table.get("directory")
        if folder and folders[name.casefold()] > 1 and has_bot_file(Path(folder)):
            name = _entry_name(Path(folder).name)
        seen[name.casefold()] += 1
        if (number := seen[name.casefold()]) > 1:
            name = f"{name}-{number}"
        paths = [*table.get("readable", ()), *further]
        more = {"readable": paths} if folder else {"token": name}
        bots.append(_entry({**table, "name": name, **more}))
    return bots


def _entry(table: _Table) -> Entry:
    try:
        return Entry.model_validate(table, context={"base": Path("/")})
    except ValidationError as error:
        faults = describe(error, Entry)
        text = "\n".join(f"bot {table['name']!r}: {fault}" for fault in faults)
        raise UserError(text) from None


def is_built_in(folder: Path) -> bool:
    """Return True for the folder of a built-in bot."""
    return folder.parent == bundled.path("bots").resolve()


def _find_bot(argument: str) -> _Table:
    bots = built_in_bots()
    if argument in bots:  # ./greedy is a folder
        return _bot_of_folder(argument, bots[argument])
    path = _path(argument)
    if path.is_dir() and has_bot_file(path):
        return _bot_of_folder(argument, path)
    if path.is_dir() and (command := _directory_command(path)):
        folder = path.resolve()
        return _bot(argument, _entry_name(folder.name), command, folder)
    if path.is_file():
        _refuse_settings(argument, path)
        program = path.resolve()
        return _bot(argument, _file_name(path), _file_command(program), program.parent)
    spaces = len(argument.split()) > 1
    if spaces and path.is_dir():
        raise UserError(_no_main_file(argument, path))
    if spaces and not _python_file(path):
        return _bot_with_options(argument) or _command_line(argument)
    if path.is_dir():
        raise UserError(_no_main_file(argument, path))
    if _python_file(path):
        raise UserError(f"bot {argument!r}: no such file; did you mean {argument + '.py'!r}?")
    if path.suffix or len(path.parts) > 1:
        raise UserError(f"bot {argument!r}: no such file{_similar_file(path)}")
    folders = [folder.name for folder in Path().iterdir() if _is_bot_folder(folder)]
    close = difflib.get_close_matches(argument, [*folders, *bots], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    if argument == GUEST:
        hint = "; guests can play only in `asara match`"
    elif bots and not hint:
        hint = f"; built-in bots: {', '.join(bots)}"
    raise UserError(f"bot {argument!r}: no such file, command or built-in bot{hint}")


def _refuse_settings(argument: str, path: Path) -> None:
    """Raise UserError for a file with the settings of a bot or a tournament."""
    if path.name == BOT_FILE:
        raise UserError(f"bot {argument!r}: pass its folder instead")
    if path.suffix == ".toml":
        raise UserError(
            f"bot {argument!r}: this looks like a tournament file; to play it: "
            f"asara tournament run {shlex.quote(argument)} --out run"
        )


def _bot_of_folder(argument: str, path: Path) -> _Table:
    """Return the bot described by the `bot.toml` in a folder."""
    shown = plain(argument.rstrip("/")) or "/"
    try:
        folder = read_entry_folder(path, shown)
    except ValueError as error:
        raise UserError(str(error)) from None
    key = "build" if folder.table.get("build") else "command"
    try:
        check_command(tuple(folder.table[key]), folder.path)
    except CommandError as error:
        raise UserError(f"{folder.shown}: {key}: {error}") from None
    return {**folder.table, "name": folder.name or _entry_name(folder.folder)}


def _python_file(path: Path) -> bool:
    """Return True if the path with `.py` added is a file."""
    try:
        return bool(path.name) and path.with_name(f"{path.name}.py").is_file()
    except OSError:  # the name is too long
        return False


def _no_main_file(argument: str, folder: Path) -> str:
    """Return why a folder is not a bot, and which of its files might be meant."""
    files = f"{BOT_FILE}, {' or '.join(file for file, _ in _MAIN)}"
    programs = sorted(path.name for path in folder.glob("*.py"))
    meant = programs[0] if len(programs) == 1 else next(filter(_USUAL.__contains__, programs), "")
    hint = f"did you mean {str(Path(argument) / meant)!r}?" if meant else "pass the bot's file"
    return f"bot {argument!r}: the folder has no {files}; {hint}"


def _similar_file(path: Path) -> str:
    """Return where a file was looked for, and the name of a similar file there."""
    folder = path.parent.absolute()
    if not folder.is_dir():
        return f"; there is no folder {plain(str(folder))!r} either"
    names = [each.name for each in folder.iterdir() if each.is_file()]
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" in {plain(str(folder))}" + (f"; did you mean {close[0]!r}?" if close else "")


def _path(argument: str) -> Path:
    """Return the argument as a path; raise UserError if the system does not accept it as one."""
    try:
        path = Path(argument).expanduser()
        path.is_file()
    except RuntimeError:
        user = argument.split("/", 1)[0]
        raise UserError(f"bot {argument!r}: {user} names a user who does not exist") from None
    except OSError as error:
        if len(argument.split()) > 1:
            return Path(os.devnull)  # a command line, not a path
        raise UserError(f"bot {plain(argument)!r}: {error.strerror}") from None
    return path


def _bot_with_options(argument: str) -> _Table | None:
    """Return the bot if the first word is a built-in bot or a bot's folder; otherwise None."""
    name, *options = _words(argument)
    bots = built_in_bots()
    if name in bots:
        found = _bot_of_folder(name, bots[name])
    elif _is_bot_folder(Path(name)) and not shutil.which(name, path=search_path()):
        found = _find_bot(name)
    else:
        return None
    return {**found, "command": [*found["command"], *options]}


def _is_bot_folder(path: Path) -> bool:
    try:
        return path.is_dir() and (has_bot_file(path) or bool(_directory_command(path)))
    except OSError:  # the name is too long
        return False


def _words(argument: str) -> tuple[str, ...]:
    try:
        return split_command(argument)
    except CommandError as error:
        raise UserError(f"bot {argument!r}: {error}") from None


def _command_line(argument: str) -> _Table:
    command = _words(argument)
    files = [Path(word) for word in command if os.path.isfile(word)]  # noqa: PTH113 - of any length
    # The bot is named after the program that follows `asara bridge --`.
    program = command[-1] if command[0] == "asara" else command[0]
    name = _file_name(files[-1]) if files else _entry_name(Path(program).name)
    return _bot(argument, name, command, Path.cwd())


def _bot(argument: str, name: str, command: tuple[str, ...], directory: Path) -> _Table:
    """Return a bot after checking that its command can start."""
    try:
        check_command(command, directory)
    except CommandError as error:
        raise UserError(f"bot {argument!r}: {error}") from None
    return {"name": name, "command": list(command), "directory": str(directory)}


def _directory_command(folder: Path) -> tuple[str, ...]:
    return next((command for file, command in _MAIN if (folder / file).is_file()), ())


def _file_command(path: Path) -> tuple[str, ...]:
    if path.suffix == ".py" and not os.access(path, os.X_OK):
        return ("python", path.name)
    return (str(path),)


def _file_name(path: Path) -> str:
    """Return `random` for `bots/random/main.py`, `clever` for `mine/clever.py`."""
    return _entry_name(path.resolve().parent.name if path.stem in {"main", "bot"} else path.stem)


def _entry_name(text: str) -> str:
    """Return the text as a valid name of an entry."""
    plain = "".join(char if char.isalnum() or char in "._+-" else "-" for char in text)
    return plain.lstrip("._+-")[:32] or "bot"
