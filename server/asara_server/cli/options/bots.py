"""What a user may write for a bot: a command line, a path, or the name of a bundled bot."""

import difflib
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import asara.v1
from asara_server.cli.errors import UserError
from asara_server.tournament.config.commands import CommandError, check_command, split_command
from asara_server.tournament.config.tournament_file import ConfigError, Tournament, check_tournament

BUNDLED = Path(asara.v1.__file__).resolve().parents[4] / "bots"
"""Where the bots that come with asara are: in the checkout that the client is of, for this package
may be a compiled copy elsewhere."""

_MAIN = (("main.py", ("python", "main.py")), ("main.go", ("go", "run", ".")))
"""What makes a directory a bot, and what starts it there."""


@dataclass(frozen=True, slots=True)
class BotCommand:
    """A bot ready to be entered."""

    name: str
    command: tuple[str, ...]
    directory: Path

    def table(self) -> dict[str, object]:
        """The bot as a table of a tournament file."""
        return {
            "name": self.name,
            "command": list(self.command),
            "directory": str(self.directory),
        }


def find_bots(texts: list[str]) -> list[BotCommand]:
    """The bots that these texts stand for; the second `random` among them is named `random-2`."""
    bots = [_find_bot(text) for text in texts]
    seen: Counter[str] = Counter()
    named = []
    for bot in bots:
        seen[bot.name.casefold()] += 1
        number = seen[bot.name.casefold()]
        name = f"{bot.name}-{number}" if number > 1 else bot.name
        named.append(BotCommand(name, bot.command, bot.directory))
    return named


def tournament_of(bots: list[str], *, name: str, **table: object) -> Tournament:
    """A tournament of the bots that these texts stand for, and what else a file of it would say.

    `name` is what messages call it.
    """
    entered = find_bots(bots)
    table["title"] = " – ".join(bot.name for bot in entered)
    table["entries"] = [bot.table() for bot in entered]
    try:
        return check_tournament(table, name=name, base=Path.cwd())
    except ConfigError as error:
        raise UserError(str(error)) from None


def bundled_bots() -> dict[str, Path]:
    """Name and directory of each bundled bot."""
    if not BUNDLED.is_dir():
        return {}
    folders = sorted(folder for folder in BUNDLED.iterdir() if folder.is_dir())
    return {folder.name: folder for folder in folders if _start_in(folder)}


def _find_bot(text: str) -> BotCommand:
    path = Path(text).expanduser()
    if path.is_dir() and (command := _start_in(path)):
        folder = path.resolve()
        return BotCommand(_name(folder.name), _checked(text, command, folder), folder)
    if path.is_file():
        return BotCommand(
            _file_name(path), _checked(text, _start_file(path), Path.cwd()), Path.cwd()
        )
    if len(text.split()) > 1:
        return _command_line(text)
    bundled = bundled_bots()
    if text in bundled:
        folder = bundled[text]
        return BotCommand(text, _checked(text, _start_in(folder), folder), folder)
    if path.is_dir():
        files = " or ".join(file for file, _ in _MAIN)
        raise UserError(f"bot {text!r}: the directory holds no {files}; name the bot's file")
    close = difflib.get_close_matches(text, bundled, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    known = f"; bundled are {', '.join(bundled)}" if bundled and not hint else ""
    raise UserError(f"bot {text!r}: neither a file, a command, nor a bundled bot{hint}{known}")


def _command_line(text: str) -> BotCommand:
    try:
        words = split_command(text)
    except CommandError as error:
        raise UserError(f"bot {text!r}: {error}") from None
    _checked(text, words, Path.cwd())
    files = [Path(word) for word in words if Path(word).is_file()]
    name = _file_name(files[-1]) if files else Path(words[0]).name
    return BotCommand(_name(name), words, Path.cwd())


def _start_in(folder: Path) -> tuple[str, ...]:
    return next((command for file, command in _MAIN if (folder / file).is_file()), ())


def _start_file(path: Path) -> tuple[str, ...]:
    if path.suffix == ".py" and not os.access(path, os.X_OK):
        return ("python", str(path))
    return (str(path.resolve()),)


def _checked(text: str, words: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    try:
        check_command(words, directory)
    except CommandError as error:
        raise UserError(f"bot {text!r}: {error}") from None
    return words


def _file_name(path: Path) -> str:
    """`bots/random/main.py` is called random, `mine/clever.py` clever."""
    return _name(path.resolve().parent.name if path.stem in {"main", "bot"} else path.stem)


def _name(text: str) -> str:
    """A name that an entry can have."""
    plain = "".join(char if char.isalnum() or char in "._+-" else "-" for char in text)
    return plain.lstrip("._+-")[:32] or "bot"
