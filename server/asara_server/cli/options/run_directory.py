"""The option --out, and the argument of the commands that read a run."""

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Keep replays, bot output and other files in DIR, which must be new or empty.",
    ),
]
RunDirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of the run, as passed to --out.")
]
