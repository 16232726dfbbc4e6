"""The root of the command line: its help, and the options that precede a command."""

from enum import StrEnum
from typing import Annotated

import typer

from asara_server.cli.lazy_group import LazyGroup
from asara_server.cli.options.log import LogOptions


class LogFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


app = typer.Typer(
    cls=LazyGroup,
    help="Run matches and tournaments between bots that play ASARA, and inspect the results.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from asara_server.cli.version import version_line  # only this option needs it

        print(version_line())
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(
            help="Also log to the terminal, from this level on.",
            show_default="none; in serve: warning",
        ),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option(help="Format of log lines: text or JSON.")
    ] = LogFormat.CONSOLE,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    context.obj = LogOptions(log_level and log_level.value, log_format.value)
