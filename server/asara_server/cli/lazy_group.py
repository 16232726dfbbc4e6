"""The commands of `asara`; the module of a command is imported when the command is used.

Module `asara_server.cli.commands.NAME` defines either a function NAME, or a Typer called `app` if
the command has subcommands.
"""

from collections import UserDict
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

from asara_server.cli.display.help_page import PlainCommand, write_options

GROUPS: Final = {
    "Your bot": {
        "new": "Make a folder with a bot that plays at once.",
        "match": "Play a match between 2 to 4 bots.",
        "play": "Play against bots in a browser.",
        "duel": "Test which of two bots is better.",
        "check": "Check that a bot works, as an organiser would see it.",
        "rules": "Show the edition in force and its sources.",
    },
    "Tournaments": {
        "tournament": "Plan and run tournaments.",
        "token": "Manage tokens of entries on other machines.",
        "serve": "Referee bots that you start yourself.",
    },
    "Results": {
        "status": "Show the progress and the standings of a run.",
        "report": "Write the report of a run as an HTML page.",
        "web": "Show runs and their matches in a browser.",
        "replay": "Inspect replays of finished matches.",
        "audit": "Verify runs and replays by deriving everything again.",
    },
    "For authors of clients": {
        "bridge": "Let a program play that reads and prints lines.",
        "sidecar": "Answer questions of a bot that looks ahead.",
        "conformance": "Test a client: play cases of the protocol against a bot.",
        "proto": "Write the .proto files of the protocol.",
    },
}
"""The first line of each command's help, by reader, in the order of `asara --help`."""

_WIDTH: Final = max(len(name) for group in GROUPS.values() for name in group)


class CommandModules(UserDict[str, Any]):
    """Commands by name; looking one up imports its module."""

    def __init__(self) -> None:
        super().__init__({name: None for group in GROUPS.values() for name in group})

    def __getitem__(self, name: str) -> Any:
        if self.data.get(name, ...) is None:
            self.data[name] = _load_command(name)
        return super().__getitem__(name)


class LazyGroup(TyperGroup):
    """The group of all commands; its own help imports none of them."""

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
        formatter.write("\n`asara help COMMAND` shows the page of a command, with examples.\n")


def _load_command(name: str) -> Any:
    """Return what Typer makes of a command's module: a command or a group."""
    module = import_module(f"asara_server.cli.commands.{name}")
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name)
    else:
        parent.command(name, cls=PlainCommand)(getattr(module, name))
    return typer.main.get_group(parent).commands[name]
