"""Creates the folder of a new bot from a built-in starter, for `asara new`.

The folder is created under a temporary name next to its final place, and renamed when it is
complete. So an interruption leaves nothing that looks like a bot.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from string import Template
from typing import Final

from asara.installing import REQUIREMENT
from asara_server import bundled
from asara_server.cli.commands.new import New
from asara_server.cli.display.console import notify, warn
from asara_server.cli.options.bots import FETCH
from asara_server.cli.options.languages import Language, find_language
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.signals import handlers
from asara_server.text import plain
from asara_server.tournament.config.commands import search_path
from asara_server.tournament.config.entry_folders import built_in_bots
from asara_server.user_error import UserError

_CLIENT: Final = "asara"
"""Name of the folder, inside a bot's folder, for the client's sources."""
_RESULTS: Final = frozenset(
    {".asara-build", ".git", "__pycache__", "build", "dist", "node_modules", "target", "vendor"}
)
"""Folders of build results, caches and downloads, which are not copied. A starter's `.gitignore`
also lists its own."""
_TEMPLATES: Final = Path(__file__).parents[1] / "templates"
_BUILD: Final = """
`match` and `duel` build the bot in this folder by the command in `bot.toml`, without a network.
The next build is quick, as compilers keep their caches.
"""
_LONGEST_NAME: Final = 32
_MODE: Final = 0o644
_MODE_OF_PROGRAMS: Final = 0o755


def make_bot(options: New, _log: LogOptions) -> int:
    """Create a bot's folder; return the exit status, which is 1 if packages are missing."""
    directory, fetch = options.directory, not options.no_fetch
    language = find_language(options.language)
    folder = _new_folder(directory)
    name = package_name(folder.name)
    if name in built_in_bots():
        raise UserError(
            f"{_shown(folder)}: {name} is a built-in bot; choose another name, such as my-{name}"
        )
    with _made_beside(folder) as part:
        _copy_bot(language, name, part)
    shown = _shown(folder)
    notify(f"Created {shown}, a {language.title} bot. Its source is {shown}/{language.source}")
    if name != folder.name:
        notify(f"The bot is called {name}, a name that all package managers accept.")
    status = _fetch(language, folder) if fetch else 0
    argument = shlex.quote(directory)
    steps = {
        f"asara match {argument} greedy": "play a match",
        f"asara check {argument}": "check it the way an organiser would",
    }
    if (folder / FETCH).is_file() and (status or not fetch):
        steps = {shlex.quote(f"{_shown(folder)}/{FETCH}"): "download packages", **steps}
    width = max(map(len, steps))
    lines = [f"  {command:<{width}}    # {does}" for command, does in steps.items()]
    notify("\n".join(["Next steps:", *lines]), words=False)
    return status


def package_name(text: str) -> str:
    """Return the text as a name that all package managers accept: `My Bot 2` becomes `my-bot-2`."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", ascii_text)[:_LONGEST_NAME].strip("-")
    if not name:
        return "my-bot"
    # The client is called asara, too.
    return name if name[0].isalpha() and name != _CLIENT else f"bot-{name}"


def _new_folder(directory: str) -> Path:
    """Return the path of a folder that can be created; raises UserError."""
    shown = plain(directory) or "''"
    try:
        folder = Path(os.path.abspath(Path(directory).expanduser()))  # noqa: PTH100 - keeps links
    except (RuntimeError, ValueError):  # an unknown ~user, or a zero byte
        raise UserError(f"{shown}: cannot be the path of a folder") from None
    if not directory.strip() or not folder.name:
        raise UserError(f"{shown}: cannot be the path of a new folder; write one, such as my-bot")
    if not plain(folder.name, None) == folder.name:
        raise UserError(f"{shown}: has characters that cannot be seen; choose another name")
    try:
        folder.lstat()
        if not folder.is_dir():
            problem = "exists, and is not a folder; choose another name"
        elif any(folder.iterdir()):
            problem = "already exists and is not empty; choose another name"
        else:
            return folder
    except (FileNotFoundError, NotADirectoryError):
        if folder.parent.is_dir():
            return folder
        problem = f"there is no folder {plain(str(folder.parent))}; create it first"
    except OSError as error:
        problem = str(error.strerror)
    raise UserError(f"{shown}: {problem}")


@contextmanager
def _made_beside(folder: Path) -> Iterator[Path]:
    """Yield a new folder that becomes `folder` on exit; an error or a signal leaves nothing."""
    shown = _shown(folder)
    part = None
    with handlers(signal.default_int_handler):
        try:
            part = Path(tempfile.mkdtemp(prefix=".asara-new-", dir=folder.parent))
            inner = part / "bot"
            inner.mkdir()
            yield inner
            # Replaces nothing but an empty folder.
            inner.rename(folder)
        except OSError as error:
            raise UserError(f"{shown}: cannot be created: {error.strerror}", status=1) from None
        except KeyboardInterrupt:
            raise UserError(f"{shown}: stopped; nothing was created", status=130) from None
        finally:
            if part is not None:
                shutil.rmtree(part, ignore_errors=True)


# The content of the folder


def _copy_bot(language: Language, name: str, folder: Path) -> None:
    """Write all files of a bot with this name to an empty folder; raises OSError."""
    starter = bundled.path("bots", language.starter)
    client = bundled.path("clients", language.name)
    ignored = _ignored(starter)
    texts = {f"../../clients/{language.name}": language.client_path, language.starter: name}
    if language.starter == "random":  # a word, too: only its bot.toml has it as a name
        texts = {f'{key}"random"': f'{key}"{name}"' for key in ("name = ", "bot_name=")}
    _copy(starter, folder, ignored, texts)
    if language.kit:
        (folder / _CLIENT).mkdir()
        _copy(client, folder / _CLIENT, _ignored(client), {})
    fetched = (folder / FETCH).is_file()
    _write_templates(language, name, folder, fetched=fetched)


def _ignored(folder: Path) -> tuple[str, ...]:
    """Return the patterns that a bundled folder's `.gitignore` has for the folder's content."""
    file = folder / ".gitignore"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return tuple(line.strip("/") for line in lines if line and not line.startswith("#"))


def _copy(source: Path, target: Path, ignored: tuple[str, ...], texts: Mapping[str, str]) -> None:
    """Copy a folder, following links, and replace texts in its files; raises OSError."""
    for path in sorted(source.iterdir()):
        if any(fnmatchcase(path.name, pattern) for pattern in ignored):
            continue
        copy = target / path.name
        if path.is_dir():
            if path.name not in _RESULTS:
                copy.mkdir()
                _copy(path, copy, (), texts)
        elif path.suffix != ".pyc":
            _write(copy, _replaced(path.read_bytes(), texts), program=_is_program(path))


def _is_program(path: Path) -> bool:
    """Return True if a file should be executable; an installer may have dropped the permission."""
    return os.access(path, os.X_OK) or path.name == FETCH


def _replaced(content: bytes, texts: Mapping[str, str]) -> bytes:
    for old, new in texts.items():
        content = content.replace(old.encode(), new.encode())
    return content


def _write(path: Path, content: bytes, *, program: bool = False) -> None:
    path.write_bytes(content)
    path.chmod(_MODE_OF_PROGRAMS if program else _MODE)


def _write_templates(language: Language, name: str, folder: Path, *, fetched: bool) -> None:
    """Write the files that all languages have: README.md, check, .gitignore and the workflow."""
    rows = "| `fetch.sh` | downloads the packages that the bot is built with |\n" if fetched else ""
    if language.kit:
        rows += f"| `{_CLIENT}/` | the client that plays for your bot; leave it as it is |\n"
    values = {
        "name": name,
        "title": language.title,
        "source": language.source,
        "rows": rows,
        "guide": _guide(language),
        "build": _BUILD if language.kit else "",
        "install": f"pip install '{REQUIREMENT}[referee]'",
        "fetch_line": "./fetch.sh                                # once: downloads packages\n"
        if fetched
        else "",
        "with_downloads": ", with what `fetch.sh` downloaded" if fetched else "",
        "toolchain": language.workflow,
        "fetch": "      - run: ./fetch.sh\n" if fetched else "",
    }
    own_rules = folder / ".gitignore"
    rules = own_rules.read_bytes() if own_rules.exists() else b""
    _write(own_rules, rules + _filled("gitignore", values))
    _write(folder / "README.md", _filled("README.md", values))
    _write(folder / "check", (_TEMPLATES / "check.in").read_bytes(), program=True)
    workflows = folder / ".github/workflows"
    workflows.mkdir(parents=True)
    _write(workflows / "check.yml", _filled("check.yml", values))


def _filled(template: str, values: Mapping[str, str]) -> bytes:
    text = (_TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()


def _guide(language: Language) -> str:
    if language.kit and bundled.path("clients", language.name, "README.md").is_file():
        return f"The guide of the client is [{_CLIENT}/README.md]({_CLIENT}/README.md)."
    if language.name == "python":
        return (
            "`python -c 'import asara; help(asara)'` shows the client's functions and classes.\n"
            "`asara proto DIR` writes the .proto files, which document every message and field."
        )
    return "`asara bridge --help` shows what a bot reads and prints."


# Downloads


def _fetch(language: Language, folder: Path) -> int:
    """Download the packages of a new bot; if that fails, explain what to do and return 1."""
    shown, script = _shown(folder), folder / FETCH
    missing = [one for one in language.tools if shutil.which(one, path=search_path()) is None]
    then = f", then run {shlex.quote(f'{shown}/{FETCH}')}" if script.is_file() else ""
    if missing:
        warn(f"{', '.join(missing)} not on PATH: install {language.install}{then}")
        return 1
    if not script.is_file():
        return 0
    notify(f"Downloading packages: {shlex.quote(f'{shown}/{FETCH}')}", words=False)
    try:
        status = subprocess.run([f"./{FETCH}"], cwd=folder, check=False).returncode
    except OSError as error:
        warn(f"{shown}/{FETCH} cannot be started: {error.strerror}; run it before the first match")
        return 1
    except KeyboardInterrupt:
        raise UserError(
            f"stopped; {shown} lacks what {FETCH} downloads: run it before the first match", 130
        ) from None
    if status:
        warn(f"{shown}/{FETCH} failed: run it again before the first match")
        return 1
    return 0


def _shown(folder: Path) -> str:
    """Return a path in the form in which a user would write it."""
    here = Path.cwd()
    return plain(str(folder.relative_to(here) if folder.is_relative_to(here) else folder), None)
