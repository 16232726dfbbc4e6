"""The option --sandbox."""

from enum import Enum
from typing import Annotated

import typer


class SandboxChoice(Enum):
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


SandboxOption = Annotated[
    SandboxChoice,
    typer.Option(
        "--sandbox",
        envvar="ASARA_SANDBOX",
        help="Isolation of the bots; with none, they run with your rights.",
    ),
]
