"""The options that several commands share, and what their values mean."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from asara_codec.clocks import Clocks
from asara_game.rules import parse_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.match.spec import SECOND_US
from asara_server.text import plain
from asara_server.tournament.config.fields import MOST_SECONDS, exposes_too_much
from asara_server.user_error import UserError

_CLOCKS: Final = Clocks()
START_UP_S: Final = _CLOCKS.start_up_us / SECOND_US
LONG_START_UP_S: Final = 120.0
"""Start-up limit of the commands with which authors try out a bot."""


# The match


class Clock(NamedTuple):
    """The value of --clock, in seconds."""

    bank_s: float = _CLOCKS.bank_us / SECOND_US
    increment_s: float = _CLOCKS.increment_us / SECOND_US

    def __str__(self) -> str:
        return f"{self.bank_s:g}+{self.increment_s:g}"

    def in_microseconds(self) -> Clocks:
        """Return the usual time limits with these times."""
        bank_us, increment_us = round(self.bank_s * SECOND_US), round(self.increment_s * SECOND_US)
        return Clocks(bank_us=bank_us, increment_us=increment_us)

    def table(self, start_up_s: float) -> dict[str, float]:
        """Return the table `clocks` of a tournament file with these times."""
        return {
            "time_bank_s": self.bank_s,
            "increment_s": self.increment_s,
            "start_up_s": start_up_s,
        }


USUAL_CLOCK: Final = Clock()


def parse_clock(text: str | Clock) -> Clock:
    """Return the clock for a text such as `60` or `60+0.5`; raises BadParameter."""
    if isinstance(text, Clock):  # a default
        return text
    try:
        clock = Clock(*map(float, text.split("+", 1)))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time; give a number of seconds, such as 60 or 60+0.5"
        ) from None
    if not (0.001 <= clock.bank_s <= MOST_SECONDS and 0 <= clock.increment_s <= MOST_SECONDS):
        raise typer.BadParameter(
            f"the time of {text!r} must be 0.001 to {MOST_SECONDS} seconds, "
            f"and the increment 0 to {MOST_SECONDS}"
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
        max=MOST_SECONDS,
        help="Seconds a bot has to start and connect.",
    ),
]


def rule_sets(text: str) -> frozenset[RuleSet]:
    """Return the rule sets given with --rules."""
    try:
        return parse_rule_sets(text)
    except ValueError as error:
        raise UserError(f"--rules {text}: {error}") from None


# The run

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Keep replays, bot output and other files in DIR, which must be new or empty.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write what was found to FILE as JSON."),
]
RunDirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of the run, as passed to --out.")
]


# The page

WebOption = Annotated[
    str | None,
    typer.Option(
        "--web",
        metavar="ADDRESS",
        help="Show the matches in a browser, at host:port; port 0 picks a free port.",
    ),
]
PageAddressOption = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="Address of the page, as host:port; port 0 picks a free port.",
    ),
]


# The sandbox


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


def readable_paths(paths: Iterable[Path] | None) -> list[str]:
    """Return the absolute paths given with --readable, without duplicates; raises UserError."""
    found = []
    for path in paths or ():
        option = f"--readable {plain(str(path))}"
        try:
            absolute = Path.cwd() / path.expanduser()
            target = absolute.resolve()
            if not target.exists():
                raise UserError(f"{option}: no such file or folder")
        except RuntimeError:  # an unknown ~user, or a loop of links
            raise UserError(f"{option}: cannot be a path") from None
        except OSError as error:
            raise UserError(f"{option}: {error.strerror}") from None
        if exposes_too_much(target):
            raise UserError(f"{option}: is more than a bot may see; pass only what it needs")
        found.append(str(absolute))
    return list(dict.fromkeys(found))
