"""Options of the commands that play matches: rules, seed, clocks, and a series of matches."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from asara_game.rules import parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.errors import UserError
from asara_server.cli.options.sandbox import SandboxChoice
from asara_server.match.spec import ClockSettings

_MOST_SECONDS = 86_400
_CLOCKS = ClockSettings()

BANK_S = _CLOCKS.bank_s
INCREMENT_S = _CLOCKS.increment_s
START_UP_S = _CLOCKS.start_up_s

RulesOption = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="RULES",
        help="Combination of rule sets, such as pro+gifts; `asara rules` lists all.",
    ),
]
SeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="TEXT",
        help="Any text, to repeat the deals; bots could guess it, so use it with your own only.",
        show_default="random",
    ),
]
StrongSeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="HEX",
        help="Seed of all deals, to repeat them: 64 random hexadecimal digits; keep it secret.",
        show_default="random",
    ),
]
BankOption = Annotated[
    float,
    typer.Option(
        "--bank",
        metavar="SECONDS",
        min=0.001,
        max=_MOST_SECONDS,
        help="Time bank of each bot for a whole match.",
    ),
]
IncrementOption = Annotated[
    float,
    typer.Option(
        "--increment",
        metavar="SECONDS",
        min=0,
        max=_MOST_SECONDS,
        help="Time added to the bank with each decision.",
    ),
]
StartUpOption = Annotated[
    float,
    typer.Option(
        "--start-up",
        metavar="SECONDS",
        min=0.001,
        max=_MOST_SECONDS,
        help="Time limit for a bot to start and dial in.",
    ),
]

ShowOutputOption = Annotated[
    bool, typer.Option("--show-output", help="Show what the bots print while they play.")
]
NoPonderOption = Annotated[
    bool, typer.Option("--no-ponder", help="Freeze bots in the sandbox while they are not asked.")
]


class ProcessesChoice(Enum):
    RUN = "run"
    MATCH = "match"


ProcessesOption = Annotated[
    ProcessesChoice,
    typer.Option(
        "--processes",
        help="Lifetime of a bot's process; with run, it plays further matches, with other deals.",
    ),
]


def rule_sets(text: str) -> frozenset[RuleSet]:
    """Return the rule sets that --rules names."""
    try:
        return parse_rule_sets(text)
    except ValueError as error:
        raise UserError(f"--rules {text}: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOptions:
    """The options that `asara match` and `asara duel` share."""

    rules: str
    seed: str | None
    jobs: int | None
    """Number of matches at once; None for one per CPU core."""
    bank: float
    increment: float
    start_up: float
    out_directory: Path | None
    """Run directory; None if the run is not kept."""
    replace: bool
    key: Path | None
    processes: ProcessesChoice
    sandbox: SandboxChoice
    readable: tuple[str, ...] = ()
    """Paths that the bots may read in the sandbox besides their own files."""
    ponder: bool = True
    """False to freeze bots in the sandbox while they are not asked."""
