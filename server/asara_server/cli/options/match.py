"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from asara_game.rules import parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.errors import UserError
from asara_server.match.spec import ClockSettings
from asara_server.replay.signing import KeyFileError, SigningKey, load_or_make_key

_LONGEST_S = 86_400
_CLOCKS = ClockSettings()

BANK_S = _CLOCKS.bank_s
INCREMENT_S = _CLOCKS.increment_s
START_UP_S = _CLOCKS.start_up_s

Rules = Annotated[
    str,
    typer.Option(
        metavar="RULES", help="Rule sets, such as pro+gifts; `asara rules` lists the combinations."
    ),
]
Seed = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Every deal follows from it. [default: drawn]")
]
Bank = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", min=0.001, max=_LONGEST_S, help="That a bot has for a whole match."
    ),
]
Increment = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0, max=_LONGEST_S, help="Added with every decision."),
]
StartUp = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.001, max=_LONGEST_S, help="That a bot has to dial in."),
]
Key = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Private key that signs the replays; made if missing. "
        "[default: asara/referee.key in the user's configuration]",
    ),
]


def signing_key(path: Path | None) -> SigningKey:
    """The key that --key names, or the user's own."""
    try:
        return load_or_make_key(path)
    except KeyFileError as error:
        raise UserError(f"--key: {error}" if path else str(error)) from None


def rule_sets(text: str) -> frozenset[RuleSet]:
    """What --rules names."""
    try:
        return parse_rule_sets(text)
    except ValueError as error:
        raise UserError(f"--rules {text}: {error}") from None
