"""`asara check`: check a bot from an organiser's point of view."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from asara_server.cli.options.common import (
    LONG_START_UP_S,
    USUAL_CLOCK,
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
    seat, against the built-in bot `random`, and has to exit without an error. The first four
    seconds of each decision are free, so that a slow bot can finish. It is reported as slow if it
    needs more time than a tournament's default clock allows. If the bot forfeits the first match,
    the second is not played. The exit status is 0 if the bot works, and 1 if it is broken or slow.
    """

    session: ClassVar = "bot_check:check_bot"

    bot: Annotated[str, typer.Argument(metavar="BOT", help="A bot, named as for `asara match`.")]
    rules: RulesOption = "pro+gifts+genie"
    clock: ClockOption = USUAL_CLOCK
    start_up: StartUpOption = LONG_START_UP_S
    out_directory: OutOption = None
    json_file: JsonOption = None
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP
    readable: ReadableOption = None
