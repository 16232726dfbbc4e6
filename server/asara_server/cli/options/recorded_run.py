"""The argument DIR of the commands that read a run."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.tournament.run.read_run import NoRunError, RunError

RunDirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Run directory: the folder you passed to --out.")
]


def run_error(error: RunError) -> UserError:
    """Return the error for the user: status 2 if there is no run, 1 if it cannot be read."""
    return UserError(str(error), status=2 if isinstance(error, NoRunError) else 1)
