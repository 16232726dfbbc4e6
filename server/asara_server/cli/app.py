"""All commands of `asara`, and the options that go before them."""

from enum import StrEnum
from importlib.metadata import version
from typing import Annotated

import typer

from asara_server.cli.commands import (
    audit,
    duel,
    match,
    replay,
    report,
    rules,
    serve,
    standings,
    status,
    token,
    tournament,
)
from asara_server.cli.options.log import LogOptions
from asara_server.match import match as match_module


class LogFormat(StrEnum):
    """How a log line is written."""

    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """The least important lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


app = typer.Typer(
    help="Referee, tournaments and replays for bots that play ASARA.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        compiled = " (compiled)" if not match_module.__file__.endswith(".py") else ""
        print(f"asara {version('asara')}{compiled}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(help="Log to the terminal too, from this level on. [default: quiet]"),
    ] = None,
    log_format: Annotated[LogFormat, typer.Option(help="One line per fact, as text or JSON.")] = (
        LogFormat.CONSOLE
    ),
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    context.obj = LogOptions(log_level and log_level.value, log_format.value)


app.add_typer(tournament.app, name="tournament", help="Plan and run a tournament.")
app.command(name="match")(match.match)
app.command(name="duel")(duel.duel)
app.command(name="serve")(serve.serve)
app.add_typer(token.app, name="token", help="Let in bots on other machines.")
app.command(name="status")(status.status)
app.command(name="standings")(standings.standings)
app.command(name="report")(report.report)
app.command(name="audit")(audit.audit)
app.add_typer(replay.app, name="replay", help="Look at finished matches.")
app.command(name="rules")(rules.rules)
