"""The option --out."""

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Keep standings, replays and logs in DIR, which must be new or empty.",
    ),
]
