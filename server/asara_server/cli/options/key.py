"""The option --key."""

from pathlib import Path
from typing import Annotated

import typer

KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Private key that signs the replays; created if it does not exist.",
        show_default="asara/referee.key in the user's configuration directory",
    ),
]
