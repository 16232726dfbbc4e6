"""`asara replay`: look at finished matches."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.console import out
from asara_server.cli.errors import UserError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A replay, such as r1-….asara.")],
    seat: Annotated[
        int | None,
        typer.Option(metavar="N", help="Only what this seat could know. [default: everything]"),
    ] = None,
) -> None:
    """Tell a match turn by turn, as the referee or as one seat saw it."""
    from asara_server.replay.file import read_replay
    from asara_server.replay.records import ReplayError
    from asara_server.replay.show import show as lines

    try:
        replay = read_replay(file)
    except ReplayError as error:
        raise UserError(str(error), status=1) from None
    try:
        for line in lines(replay, seat):
            out.print(line, markup=False, soft_wrap=True)
    except ReplayError as error:
        raise UserError(f"{file}: {error}", status=1) from None
