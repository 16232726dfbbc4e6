"""Command line errors, each as one line that also mentions the help page."""

import re
from typing import Any, Final

import typer

UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""Base class of the parser's errors; Typer exports only some of them."""

_PLAINER: Final = (
    (r"^No such command ('.*?')\.? Did you mean (.*)\?$", r"unknown command \1; did you mean \2?"),
    (r"^No such command ", "unknown command "),
    # Typer suggests --host, the only similar option.
    (r"^No such option: --port \(.*", "unknown option --port; did you mean --listen HOST:PORT?"),
    (
        r"^No such option: (\S+) \(Possible options: (\S+)\)$",
        r"unknown option \1; did you mean \2?",
    ),
    (r"^No such option: (\S+).*$", r"unknown option \1"),
    (r"^Missing argument '(.*)'$", r"argument \1 is missing"),
    (r"^Missing option '(\S+)'.*$", r"\1 is missing"),
    (r"^Missing command$", "the command is missing"),
    (r"^Option '(\S+)' requires an argument$", r"\1 needs a value"),
    (r"^Got unexpected extra argument(?:s|\(s\))? \((.*)\)$", r"unexpected: \1"),
    (r"^Invalid value for '?(.*?)'?(?: / '-.')?(?: \(env var: .*?\))?: ", r"\1: "),
    (r": Value error, ", ": "),  # pydantic's own words, here and below
    (r"Input should be (?:greater than or equal to|at least) (\S+)$", r"use at least \1"),
    (r"Input should be less than or equal to (\S+)$", r"use at most \1"),
    (r"Input should be a valid integer\b.*$", "must be a whole number"),
    (r"Input should be a valid number\b.*$", "must be a number"),
)
"""The parser's sentences, and the plainer ones that replace them."""


def explain(error: Any) -> str:
    """Return the line for a parser error, including where the usage is explained."""
    command = error.ctx.command_path if error.ctx else "asara"
    fault = error.format_message().rstrip(".")
    for pattern, plainer in _PLAINER:
        fault = re.sub(pattern, plainer, fault)
    return f"{fault}{' See' if fault.endswith('?') else '; see'} `{command} --help`"


def is_help(error: Any) -> bool:
    """Return True if the error is the help page of a group that was called without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"
