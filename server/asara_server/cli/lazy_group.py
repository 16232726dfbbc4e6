"""The commands of `asara`. The module of a command is imported only when the command is used.

Module `asara_server.cli.commands.NAME` defines the command NAME: either its class (such as `Match`)
or its function, or a Typer called `app` if the command has subcommands. A class is its own help
page: its docstring explains the command, and its fields are the arguments and options. The function
that its `session` names in `asara_server.cli.sessions` receives the values, and returns the exit
status. See `PlainCommand`.
"""

from collections import UserDict
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

from asara_server.cli.display.help_page import PlainCommand, write_options

GROUPS: Final = {
    "Your bot": {
        "new": "Create a ready-to-run bot in a new folder.",
        "match": "Play a match between two to four bots.",
        "play": "Play against bots in your browser.",
        "duel": "Find out which of two bots is better.",
        "check": "Check a bot the way an organiser would.",
        "rules": "Show the choices for --rules, and all costs and other numbers.",
    },
    "Tournaments": {
        "tournament": "Plan, check and run tournaments.",
        "token": "Manage tokens for bots on other machines.",
    },
    "Results": {
        "status": "Show the progress and the standings of a run.",
        "report": "Write a report on a run as an HTML page.",
        "web": "Show runs and their matches in a browser.",
        "replay": "Inspect the replays of finished matches.",
        "analyse": "Show what matches were decided by: decisions and luck.",
        "audit": "Verify runs and replays by playing every match again.",
        "bundle": "Write a zip file for the author of each entry.",
    },
    "Client development": {
        "bridge": "Connect any program that reads and writes JSON lines.",
        "sidecar": "Sample possible game states for a bot that looks ahead.",
        "conformance": "Test a client against the protocol.",
        "proto": "Write the .proto files of the protocol.",
    },
}
"""The first line of each command's help, grouped by reader, in the order of `asara --help`."""

_WIDTH: Final = max(len(name) for group in GROUPS.values() for name in group)


class CommandModules(UserDict[str, Any]):
    """Commands by name. Looking up a command imports its module."""

    def __init__(self) -> None:
        super().__init__({name: None for group in GROUPS.values() for name in group})

    def __getitem__(self, name: str) -> Any:
        if self.data.get(name, ...) is None:
            self.data[name] = _load_command(name)
        return super().__getitem__(name)


class LazyGroup(TyperGroup):
    """The group of all commands. Its own help imports none of their modules."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = CommandModules()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(_WIDTH), line) for name, line in commands.items()])
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        formatter.write(
            "\nExit status: 0 success, 1 something failed, 2 wrong input, 3 inconclusive.\n"
            "`asara help COMMAND` explains a command, and `asara help --guide COMMAND` prints\n"
            "its guide. You can also write -q and -v after the command.\n"
        )


def _load_command(name: str) -> Any:
    """Return the Typer command or group that a command's module defines."""
    module = import_module(f"asara_server.cli.commands.{name}")
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name)
    else:
        asked = getattr(module, name, None) or getattr(module, name.capitalize())
        parent.command(name, cls=PlainCommand)(asked)
    return typer.main.get_group(parent).commands[name]
