"""`asara check`: check a bot from an organiser's point of view."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import (
    GENEROUS_CLOCK,
    LONG_START_UP_S,
    ClockOption,
    JsonOption,
    OutOption,
    ReadableOption,
    RulesOption,
    SandboxChoice,
    SandboxOption,
    StartUpOption,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Check a bot the way an organiser would.

    Builds the bot in a copy of its folder. Then a single bot process plays two matches, one in each
    seat, against the built-in bot `random`, and has to exit without an error. The bot gets more
    time than in a tournament, so that a slow bot can finish. It is reported as slow if it needs
    more time than a tournament's default clock allows. The exit status is 0 if the bot works, and
    1 if it is broken or slow.
    """

    session: ClassVar = "bot_check:check_bot"

    bot: Annotated[str, typer.Argument(metavar="BOT", help="A bot, named as for `asara match`.")]
    rules: RulesOption = "pro+gifts+genie"
    clock: ClockOption = GENEROUS_CLOCK
    start_up: StartUpOption = LONG_START_UP_S
    out_directory: OutOption = None
    json_file: JsonOption = None
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    readable: ReadableOption = None
