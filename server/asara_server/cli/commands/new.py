"""`asara new`: create a ready-to-run bot in a new folder."""

from typing import Annotated

import typer

LanguageArgument = Annotated[
    str,
    typer.Argument(
        metavar="LANGUAGE",
        help="python, go, typescript, rust, java or cpp; or shell, perl or tcl, whose bots play "
        "through `asara bridge`.",
    ),
]
DirectoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR", help="Folder to create; its last part becomes the name of the bot."
    ),
]
FetchOption = Annotated[
    bool,
    typer.Option("--no-fetch", help="Do not download the packages needed to build the bot."),
]


def new(
    language: LanguageArgument, directory: DirectoryArgument, no_fetch: FetchOption = False
) -> None:
    """Create a ready-to-run bot in a new folder.

    The folder contains a bot that plays random legal actions, the client library for its language,
    a bot.toml, a README, a script that checks the bot, and a GitHub workflow that runs this
    script. If the packages cannot be downloaded, the folder is still created, and the
    exit status is 1.
    """
    from asara_server.cli.sessions.new_bot import make_bot

    raise typer.Exit(make_bot(language, directory, fetch=not no_fetch))
