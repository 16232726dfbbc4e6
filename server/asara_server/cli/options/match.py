"""Options of the commands that play matches: rules, seed, clocks, and series of matches."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from asara_game.rules import parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.errors import UserError
from asara_server.cli.options.sandbox import SandboxChoice
from asara_server.match.spec import ClockSettings

_MOST_SECONDS = 86_400
_CLOCKS = ClockSettings()

START_UP_S = _CLOCKS.start_up_s


class Clock(NamedTuple):
    """The value of --clock, in seconds."""

    time_bank_s: float
    increment_s: float = _CLOCKS.increment_s

    def __str__(self) -> str:
        return f"{self.time_bank_s:g}+{self.increment_s:g}"


USUAL_CLOCK = Clock(_CLOCKS.bank_s)


def parse_clock(text: str | Clock) -> Clock:
    """Return the clock for a text such as `60` or `60+0.5`; raises BadParameter."""
    if isinstance(text, Clock):  # a default
        return text
    bank, plus, increment = text.partition("+")
    try:
        clock = Clock(float(bank), float(increment)) if plus else Clock(float(bank))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time; give a number of seconds, such as 60 or 60+0.5"
        ) from None
    if not (
        0.001 <= clock.time_bank_s <= _MOST_SECONDS and 0 <= clock.increment_s <= _MOST_SECONDS
    ):
        raise typer.BadParameter(
            f"the time of {text!r} must be 0.001 to {_MOST_SECONDS} seconds, "
            f"and the increment 0 to {_MOST_SECONDS}"
        )
    return clock


RulesOption = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="RULES",
        help="Rules of the match, such as pro+gifts; `asara rules` lists all choices.",
    ),
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of matches to play in parallel."),
]
SeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar="TEXT",
        help="Any text; the same text repeats the same deals. Bots could guess it, so use it only "
        "with your own bots.",
        show_default="different deals each time",
    ),
]
ClockOption = Annotated[
    Clock,
    typer.Option(
        "--clock",
        metavar="TIME[+INCREMENT]",
        parser=parse_clock,
        help="Seconds each bot has for a whole match, and seconds added per decision.",
    ),
]
StartUpOption = Annotated[
    float,
    typer.Option(
        "--start-up",
        metavar="SECONDS",
        min=0.001,
        max=_MOST_SECONDS,
        help="Seconds a bot has to start and connect.",
    ),
]


def rule_sets(text: str) -> frozenset[RuleSet]:
    """Return the rule sets given with --rules."""
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
    """Maximum number of concurrent matches; None for one per CPU core."""
    clock: Clock
    start_up: float
    out_directory: Path | None
    """Run directory; None if the run is not kept."""
    sandbox: SandboxChoice
    readable: tuple[str, ...] = ()
    """Paths that the bots may read in the sandbox in addition to their own files."""
