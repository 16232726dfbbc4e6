"""`asara token`: by which bots on other machines come in."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.display.console import say, show_table
from asara_server.cli.errors import UserError
from asara_server.tournament.config.token_store import (
    TokenError,
    default_tokens_path,
    new_token,
    read_tokens,
    revoke_token,
)

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What tournament files call it by.")]
File = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="Where tokens are kept, as hashes. "
        "[default: asara/tokens.json in the user's configuration]",
    ),
]


@app.command()
def new(name: Name, file: File = None) -> None:
    """Make a token, and show it this once: FILE keeps a hash of it only."""
    path = file or default_tokens_path()
    try:
        token = new_token(path, name)
    except TokenError as error:
        raise UserError(str(error)) from None
    say(f"The token of {name}, which is not told again; {path} has its hash:")
    print(token)


@app.command(name="list")
def list_(file: File = None) -> None:
    """Show which tokens there are, and when they were made and revoked."""
    path = file or default_tokens_path()
    try:
        found = read_tokens(path).tokens
    except TokenError as error:
        raise UserError(str(error)) from None
    if not found:
        say(f"{path}: no token yet; `asara token new NAME` makes one")
        return
    rows = ((token.name, _moment(token.created), _moment(token.revoked)) for token in found)
    show_table(str(path), ("name", "created (UTC)", "revoked (UTC)"), rows)


@app.command()
def revoke(name: Name, file: File = None) -> None:
    """Let nobody in by this token any more, in runs that go on neither."""
    path = file or default_tokens_path()
    try:
        revoke_token(path, name)
    except TokenError as error:
        raise UserError(str(error)) from None
    say(f"The token of {name} is revoked.")


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
