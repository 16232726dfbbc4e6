"""`asara new`: create a ready-to-run bot in a new folder."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """Create a ready-to-run bot in a new folder.

    The folder contains a bot that plays random legal actions, the client library for its language,
    a bot.toml, a README, a script that checks the bot, and a GitHub workflow that runs this
    script. If the packages cannot be downloaded, the folder is still created, and the
    exit status is 1.
    """

    session: ClassVar = "new_bot:make_bot"

    language: Annotated[
        str,
        typer.Argument(
            metavar="LANGUAGE",
            help="python, go, typescript, rust, java or cpp; or shell, perl or tcl, whose bots "
            "play through `asara bridge`.",
        ),
    ]
    directory: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="Folder to create; its last part becomes the name of the bot."
        ),
    ]
    no_fetch: Annotated[
        bool,
        typer.Option("--no-fetch", help="Do not download the packages needed to build the bot."),
    ] = False
