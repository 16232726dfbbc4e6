"""Advice about the exceptions that end a bot in Python."""

import difflib
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from platform import python_version

import asara.v1  # noqa: F401 - loads asara, with whose names those of authors are compared
from asara_server.tournament.bots.output.tracebacks import Frame, frames, last_own


@dataclass(frozen=True, slots=True)
class PythonError:
    """An exception that a bot printed."""

    program: str
    """File name of the program that the bot's command starts."""
    frames: Sequence[Frame]

    @property
    def correct_own_line(self) -> str:
        """Advice to correct the author's own line that led to the exception."""
        own = last_own(self.frames)
        return f"fix {own.place}" if own else "fix the line above the error"


_ENDED = (
    " ended() is called after a match: an exception in it ends the process, and may cost the next "
    "match."
)
_Advice = Callable[[re.Match[str], PythonError], str]

_KEYBOARD = re.compile(r"\binput\(|\bstdin\b")
_NO_KEYBOARD = (
    "a bot has no keyboard, so input() finds nothing, and sys.stdin is empty: choose one of "
    "decision.legal_actions in the program. To play with a program that reads and prints lines, "
    "start it with `asara bridge`."
)
_RUN_AGAIN = re.compile(
    r"in _(?:fixup_main_from_path|check_not_importing_main)$|\bfreeze_support\(\)"
)
"""What a multiprocessing child process prints if the program has no main guard."""
_WITHOUT_GUARD = (
    "a process that multiprocessing starts runs the program once more: put what starts processes, "
    'and asara.run, below `if __name__ == "__main__":`.'
)


def advice(printed: Sequence[str], program: str) -> str:
    """Return advice about the last known error in a program's output, or ""."""
    error = PythonError(program, frames(printed))
    own = last_own(error.frames)
    if own and any(map(_KEYBOARD.search, printed[own.start + 1 : own.end])):
        return _NO_KEYBOARD
    if any(map(_RUN_AGAIN.search, printed)):
        return _WITHOUT_GUARD
    for line in reversed(printed):
        text = line.strip()
        if hiding := _hiding_file(text, error):
            return f"rename your {hiding}, which hides the module {PurePath(hiding).stem}."
        for pattern, advise in _ERRORS:
            if found := re.match(pattern, text):
                return advise(found, error)
    return ""


def other_exception(printed: Sequence[str]) -> str:
    """Return advice about an exception that has no specific advice."""
    error = PythonError("", frames(printed))
    after = any(frame.own and frame.function == "ended" for frame in error.frames)
    return f"{error.correct_own_line}.{_ENDED if after else ''}"


def _missing_module(found: re.Match[str], error: PythonError) -> str:
    name = found[1].partition(".")[0]
    python = shlex.quote(sys.executable)
    if found[1] == "asara":
        return "start the bot with `python`: that is the interpreter which has the package asara."
    if name == "asara":
        return f"{error.correct_own_line}: the package asara has no module {found[1]}."
    return (
        f"if {name} is a file of yours, put {name}.py next to {error.program}. If it is a "
        f"package, check its name, or install it: {python} -m pip install {name}"
    )


def _missing_file(found: re.Match[str], error: PythonError) -> str:
    name = found[1]
    own = last_own(error.frames)
    where = own.place if own else error.program
    if error.frames and error.frames[-1].function == "_execute_child":  # raised by subprocess
        return (
            f"{where} starts the program {name!r}, which is not here. In the sandbox, a bot can "
            "start programs of the system and of its own folder: put it there, and name it with "
            "its path."
        )
    if name.startswith("/tmp/"):  # noqa: S108 - a bot in the sandbox sees another one
        return (
            f"{where} looks for {name}. In the sandbox, /tmp and $HOME are one folder of the "
            "process's own, which is empty when it starts. Put the file next to the program: "
            f'Path(__file__).parent / "{PurePath(name).name}" finds it.'
        )
    if name.startswith("/"):
        return f"check the path in {where}: {name} does not exist."
    return (
        f"check the name {name!r} in {where}. A relative name is looked up in the folder in which "
        "the bot starts: its own, but for a command line the current one. "
        f'Path(__file__).parent / "{name}" is always next to the program.'
    )


def _unknown_attribute(found: re.Match[str], error: PythonError) -> str:
    """Return advice about an attribute that the package asara does not have."""
    close = difflib.get_close_matches(found[1], dir(sys.modules["asara"]), n=1)
    name = close[0] if close else "run"
    ending = "(decide)" if name == "run" else ""
    return f"{error.correct_own_line}: did you mean asara.{name}{ending}?"


def _unknown_import(found: re.Match[str], error: PythonError) -> str:
    """Return advice about a name that the package asara does not have."""
    close = difflib.get_close_matches(found[1], dir(sys.modules["asara"]), n=1)
    hint = f"did you mean {close[0]}?" if close else "`help(asara)` lists what it has."
    return f"{error.correct_own_line}: the package asara has no {found[1]}; {hint}"


def _missing_variable(found: re.Match[str], error: PythonError) -> str:
    if not error.frames or not error.frames[-1].file.endswith(_ENVIRON):
        return ""
    return (
        f"{error.correct_own_line}: a bot gets none of your environment variables. Set the "
        f'variable in bot.toml, such as environment = {{ {found[1]} = "…" }}, or give it a default.'
    )


def _unset_match(_: re.Match[str], error: PythonError) -> str:
    if any(frame.own and frame.function.endswith("__init__") for frame in error.frames):
        return (
            "self.match is set after __init__: move what needs it to a method "
            "`def started(self):`, which is called when the match starts."
        )
    return f"{error.correct_own_line}: only a subclass of asara.Bot has self.match."


_ENVIRON = ("/os.py", "<frozen os>")
"""Path endings of the file that raises KeyError for an unset variable."""

_ERRORS: tuple[tuple[str, _Advice], ...] = (
    (
        r"(TabError|IndentationError):",
        lambda *_: "indent every line of a block with the same number of spaces, and without tabs.",
    ),
    (
        r"SyntaxError: (?:Non-UTF-8 code|.*'utf-8' codec|source code .*null bytes)",
        lambda _, error: f"save {_own_file(error)} in the encoding UTF-8.",
    ),
    (
        r"SyntaxError:",
        lambda *_: (
            f"fix that line. `python` is Python {python_version()} here, which does not know "
            "the syntax of newer versions."
        ),
    ),
    (r"ModuleNotFoundError: No module named '([\w.]+)'", _missing_module),
    (
        r"ImportError: attempted relative import with no known parent package",
        lambda _, error: (
            f"{error.correct_own_line}: a program is no package, so import a file next to it "
            "without the dot, such as `import helper` or `from helper import choose`."
        ),
    ),
    (r"ImportError: cannot import name '(\w+)' from 'asara'", _unknown_import),
    (r"FileNotFoundError: .*: '([^']+)'$", _missing_file),
    (r"KeyError: '(\w+)'$", _missing_variable),
    (
        r"subprocess\.CalledProcessError: .*\bpip\b.*\binstall\b",
        lambda _, error: (
            f"{error.correct_own_line}: in the sandbox a bot has no network and installs nothing. "
            f"Install packages beforehand: {shlex.quote(sys.executable)} -m pip install …"
        ),
    ),
    (
        r"NameError: name 'asara' is not defined",
        lambda _, error: f"add the line `import asara` at the top of {_own_file(error)}.",
    ),
    (
        r"AttributeError: (?:partially initialized )?module 'asara' .*has no attribute '(\w+)'",
        _unknown_attribute,
    ),
    (r"AttributeError: '\w+' object has no attribute 'match'", _unset_match),
    (
        r"EOFError: EOF when reading a line",
        lambda *_: _NO_KEYBOARD,
    ),
    (
        r"NameError: name '__main__' is not defined",
        lambda _, error: f'{error.correct_own_line}: write `if __name__ == "__main__":`.',
    ),
    (
        r"(?:PermissionError|OSError): .*(?:Read-only file system|Permission denied): '([^']+)'",
        lambda found, error: (
            f"{error.correct_own_line}: {found[1]} cannot be written. A bot may write to its own "
            "folder and to /tmp, which is also its $HOME; all of it is deleted with the process. "
            "What it prints is kept."
        ),
    ),
    (
        r"(bdb\.)?BdbQuit",
        lambda *_: (
            "breakpoint() needs a terminal, which this bot does not have: start the bot yourself "
            "against `asara serve`, or remove the call."
        ),
    ),
    (
        r"TypeError: run\(\) missing 1 required positional argument: 'bot'",
        lambda *_: "pass the function or class that decides: asara.run(decide)",
    ),
    (
        r"TypeError: (\w+)\(\) missing \d+ required positional arguments?: '(decision|self)'",
        lambda found, _: f"pass {found[1]} itself, without a call: asara.run({found[1]})",
    ),
)
"""Patterns for the last line of an error, each with its advice."""


def _own_file(error: PythonError) -> str:
    own = last_own(error.frames)
    return PurePath(own.file).name if own else error.program


_IMPORT_FROM_FILE = re.compile(
    r"ImportError: cannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'"
    r" .*\((\S*)\)$"
)
_NOT_A_PACKAGE = re.compile(r"ModuleNotFoundError: No module named '.*'; '(\w+)' is not a package")
_NO_ATTRIBUTE = re.compile(
    r"AttributeError: (partially initialized )?module '(\w+)' .*has no attribute '(\w+)'"
)


def _hiding_file(text: str, error: PythonError) -> str:
    """Return the author's file that shadows a standard module or the package asara, or ""."""
    if re.match(r"[\w.]+(Error|Exception)\b", text) and (hiding := _imported_by_library(error)):
        return hiding
    if found := _IMPORT_FROM_FILE.match(text):
        module, path = found[1].partition(".")[0], found[2]
        mine = path.startswith("/") and Frame(0, 0, path, 1, "").own
        return PurePath(path).name if mine and _is_reserved(module) else ""
    if found := _NOT_A_PACKAGE.match(text):
        return f"{found[1]}.py" if _is_reserved(found[1]) else ""
    if found := _NO_ATTRIBUTE.match(text):
        partial, module, name = found.groups()
        if _is_reserved(module) and (partial or _has(module, name)):
            return f"{module}.py"
        return ""
    return ""


def _imported_by_library(error: PythonError) -> str:
    """Return the author's file that a library has imported instead of a standard module."""
    own = last_own(error.frames)
    if own is None or own.function != "<module>" or not _is_reserved(own.module):
        return ""
    before = [frame for frame in error.frames if frame.start < own.start]
    importers = [frame for frame in before if not frame.file.startswith("<frozen ")]
    return PurePath(own.file).name if importers and not importers[-1].own else ""


def _is_reserved(module: str) -> bool:
    return module == "asara" or module in sys.stdlib_module_names


def _has(module: str, name: str) -> bool:
    """Return True if the real module has an attribute; always False for modules not loaded here."""
    return hasattr(sys.modules.get(module), name)
