"""`asara new`: make a folder with a bot that plays at once."""

from typing import Annotated

import typer

LanguageArgument = Annotated[
    str,
    typer.Argument(
        metavar="LANGUAGE",
        help="python, go, typescript, rust, java, cpp, or shell, perl or tcl by `asara bridge`.",
    ),
]
DirectoryArgument = Annotated[
    str, typer.Argument(metavar="DIR", help="Folder to make; its last part is the bot's name.")
]
FetchOption = Annotated[
    bool,
    typer.Option("--no-fetch", help="Do not download the packages that the bot is built with."),
]


def new(
    language: LanguageArgument, directory: DirectoryArgument, no_fetch: FetchOption = False
) -> None:
    """Make a folder with a bot that plays at once.

    It holds the source of a bot that plays random legal actions, the client of its language, a
    bot.toml, a README, a check for your own repository, and a workflow that runs it. The exit
    status is 1 if the folder was made, but the packages could not be downloaded.
    """
    from asara_server.cli.sessions.new_bot import make_bot

    raise typer.Exit(make_bot(language, directory, fetch=not no_fetch))
