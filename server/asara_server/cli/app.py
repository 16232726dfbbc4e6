"""The root of the command line: its help, and the options that every command has."""

from typing import Annotated

import typer

from asara_server.cli.lazy_group import LazyGroup
from asara_server.cli.options.log import LogOptions

app = typer.Typer(
    cls=LazyGroup,
    help="Play matches between bots for the board game ASARA, run tournaments, and inspect the "
    "results.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _be_quiet(wanted: bool) -> None:
    if wanted:
        from asara_server.cli.display.console import be_quiet  # loads rich

        be_quiet()


def _be_verbose(context: typer.Context, times: int) -> None:
    before = context.obj.verbose if context.obj else 0
    context.obj = LogOptions(before + times)


def _print_version(wanted: bool) -> None:
    if wanted:
        from asara_server.cli.version import version_line  # only this option needs it

        print(version_line())
        raise typer.Exit


@app.callback()
def options(
    _quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            callback=_be_quiet,
            expose_value=False,
            help="Do not print progress or notices.",
        ),
    ] = False,
    _verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            callback=_be_verbose,
            expose_value=False,
            help="Print more: the bots' output in match and check, the referee's log elsewhere. "
            "-vv: even more.",
            show_default=False,
        ),
    ] = 0,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_print_version,
            is_eager=True,
            expose_value=False,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Handle the options before a command; each option has already done its work in a callback."""
