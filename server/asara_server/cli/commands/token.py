"""`asara token`: manage the tokens with which bots on other machines connect."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.display.console import notify, show_table
from asara_server.cli.display.help_page import PlainCommand
from asara_server.tournament.config.token_store import (
    default_tokens_path,
    new_token,
    read_tokens,
    revoke_token,
)

app = typer.Typer(
    help="Manage tokens for bots on other machines.",
    no_args_is_help=True,
    epilog="Guide: asara help --guide token",
)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the token, as in tournament files.")
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="File in which the tokens are stored.",
        show_default="asara/tokens.json in the user's configuration folder",
    ),
]


@app.command(cls=PlainCommand)
def new(name: NameArgument, file: FileOption = None) -> None:
    """Create a token, which is printed only once.

    Only a hash of the token is stored, so it cannot be shown again.
    """
    path = file or default_tokens_path()
    token = new_token(path, name)
    notify(
        f"Created a token for {name}. Copy it now: it cannot be shown again, because {path} stores "
        "only its hash."
    )
    print(token)


@app.command(name="list", cls=PlainCommand)
def list_(file: FileOption = None) -> None:
    """List all tokens, and when they were created and revoked."""
    path = file or default_tokens_path()
    tokens = read_tokens(path).tokens
    if not tokens:
        notify(f"{path}: no token yet; create one with `asara token new NAME`")
        return
    rows = ((token.name, _minute(token.created), _minute(token.revoked)) for token in tokens)
    show_table(str(path), ("name", "created (UTC)", "revoked (UTC)"), rows)


@app.command(cls=PlainCommand)
def revoke(name: NameArgument, file: FileOption = None) -> None:
    """Revoke a token; tournaments in progress disconnect its bot."""
    path = file or default_tokens_path()
    revoke_token(path, name)
    notify(f"Revoked the token {name}.")


def _minute(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
