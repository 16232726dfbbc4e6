"""The option --sandbox: what contains the bots of a run, or why nothing does."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer

from asara_server.cli.errors import UserError
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.probe import USE_NONE, SandboxError, find_sandbox


class SandboxChoice(Enum):
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


SandboxOption = Annotated[
    SandboxChoice,
    typer.Option(
        "--sandbox",
        envvar="ASARA_SANDBOX",
        help="What contains the bots; none: they run with your rights.",
    ),
]


def chosen_sandbox(
    choice: SandboxChoice,
    *,
    secret: Iterable[Path],
    shared: Path,
    transport: Literal["unix", "tcp"] = "unix",
) -> Sandbox | None:
    """What --sandbox asks for, seen to work.

    Bots see nothing of `secret`, and the directory `shared` not as a whole.
    """
    if choice is SandboxChoice.NONE:
        return None
    if transport == "tcp":
        raise UserError(
            'transport = "tcp" does not reach into the sandbox, which has no network; '
            f"leave it out, or {USE_NONE}"
        )
    try:
        return find_sandbox(hidden=secret, shared=[shared])
    except SandboxError as error:
        raise UserError(f"--sandbox bubblewrap: {error}") from None
