"""Options that several commands share."""

from typing import Annotated

import typer

from asara_game.rules import parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.errors import UserError
from asara_server.spec import ClockSettings

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


def rule_sets(text: str) -> frozenset[RuleSet]:
    """What --rules names."""
    try:
        return parse_rule_sets(text)
    except ValueError as error:
        raise UserError(f"--rules {text}: {error}") from None
