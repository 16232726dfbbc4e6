"""The options --sandbox and --readable."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.errors import UserError
from asara_server.text import plain
from asara_server.tournament.config.fields import exposes_too_much


class SandboxChoice(Enum):
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


SandboxOption = Annotated[
    SandboxChoice,
    typer.Option(
        "--sandbox",
        envvar="ASARA_SANDBOX",
        help="How bots are isolated; with none, they run with your permissions.",
    ),
]
ReadableOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--readable",
        metavar="PATH",
        help="Extra file or folder that bots may read in the sandbox. Can be repeated.",
    ),
]


def readable_paths(paths: Iterable[Path] | None) -> tuple[str, ...]:
    """Return the paths given with --readable as a tournament file has them, without duplicates."""
    found = []
    for path in paths or ():
        option = f"--readable {plain(str(path))}"
        try:
            target = path.expanduser().resolve()
            if not target.exists():
                raise UserError(f"{option}: no such file or folder")
        except RuntimeError:  # an unknown ~user, or a loop of links
            raise UserError(f"{option}: cannot be a path") from None
        except OSError as error:
            raise UserError(f"{option}: {error.strerror}") from None
        if exposes_too_much(target):
            raise UserError(f"{option}: is more than a bot may see; pass only what it needs")
        found.append(str(path))
    return tuple(dict.fromkeys(found))
