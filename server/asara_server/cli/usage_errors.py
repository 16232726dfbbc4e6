"""Command line errors, each as one line that also mentions the help page."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import typer

UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""Base class of the parser's errors; Typer exports only some of them."""

_IN_RANGE: Final = re.compile(r"is not in the range (?:(\S+)<=)?x(?:([<>])=(\S+))?$")
_PLAINER: Final = (
    (re.compile(r"is not a valid (?:int|integer)(?: range)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float(?: range)?$"), "is not a number"),
    (re.compile(r"^Value error, "), ""),  # pydantic's own words
    (re.compile(r"^Option '(\S+)' requires an argument$"), r"\1 needs a value"),
    (re.compile(r"^Got unexpected extra argument(?:s|\(s\))? \((.*)\)$"), r"unexpected: \1"),
    (
        re.compile(r"^Input should be (?:greater than or equal to|at least) (\S+)$"),
        r"use at least \1",
    ),
    (re.compile(r"^Input should be less than or equal to (\S+)$"), r"use at most \1"),
    (re.compile(r"^Input should be a valid integer\b.*$"), "must be a whole number"),
    (re.compile(r"^Input should be a valid number\b.*$"), "must be a number"),
    (re.compile(r"^Missing command$"), "the command is missing"),
)


def explain(error: Any, words: Sequence[str] = ()) -> str:
    """Return the line for a parser error, including where the usage is explained.

    `words` are the words of the command line.
    """
    command = error.ctx.command_path if error.ctx else "asara"
    fault = _fault(error, words)
    return f"{fault}{' See' if fault.endswith('?') else '; see'} `{command} --help`"


def is_help(error: Any) -> bool:
    """Return True if the error is the help page of a group that was called without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; " and a question about the most similar known word; "" if none is similar."""
    words = list(known)
    close = [one for one in words if len(word) > 2 and one.startswith(word)]
    close = close or difflib.get_close_matches(word, words, n=1, cutoff=0.7)
    if not close:
        return ""
    return f"; did you mean {close[0] if close[0].startswith('-') else repr(close[0])}?"


def _fault(error: Any, words: Sequence[str]) -> str:
    name = type(error).__name__
    message: str = (error.message or "").rstrip(".")
    if name == "NoSuchOption":
        options = [one for param in error.ctx.command.get_params(error.ctx) for one in param.opts]
        hint = did_you_mean(error.option_name, (one for one in options if one.startswith("--")))
        if error.option_name == "--port" and "--listen" in options:
            hint = f"; did you mean --listen 127.0.0.1:{_port(words)}?"
        return f"unknown option {error.option_name}{hint}"
    if name == "MissingParameter":
        return f"{'' if _place(error).startswith('-') else 'argument '}{_place(error)} is missing"
    if found := re.match(r"No such command '(.*?)'", message):
        hint = did_you_mean(found[1], error.ctx.command.list_commands(error.ctx))
        return f"unknown command {found[1]!r}{hint}"
    for pattern, plainer in _PLAINER:
        message = pattern.sub(plainer, message)
    if found := _IN_RANGE.search(message):
        message = f"{message[: found.start()]}is out of range; {_range(*found.groups())}"
    if found := re.match(r"'(.*)' is not one of (.*)", message):
        message += did_you_mean(found[1], re.findall(r"'(.*?)'", found[2]))
    place = _place(error)
    return f"{place}: {message}" if place else message


def _port(words: Sequence[str]) -> str:
    """Return the port that follows the option --port; "PORT" if there is none."""
    found = re.search(r"(?:^| )--port[ =](\d+)(?: |$)", " ".join(words))
    return found[1] if found else "PORT"


def _place(error: Any) -> str:
    """Return the option or argument that is wrong; "" if there is none."""
    hint = getattr(error, "param_hint", None)
    if hint:
        return str(hint)
    param = getattr(error, "param", None)
    if param is None:
        return ""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    return str(max(param.opts, key=len))


def _range(least: str | None, sign: str | None, most: str | None) -> str:
    if least and most:
        return f"use {least} to {most}"
    return f"use {'at least' if sign == '>' else 'at most'} {most}"
