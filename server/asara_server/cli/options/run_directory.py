"""The options --out and --replace."""

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Keep standings, replays and logs in DIR."),
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Delete the run that DIR already holds.")
]
