"""`asara check`: check a bot from an organiser's point of view."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.options.check import GENEROUS_CLOCK, START_UP_S, CheckBotOptions
from asara_server.cli.options.match import ClockOption, RulesOption, StartUpOption
from asara_server.cli.options.run_directory import OutOption
from asara_server.cli.options.sandbox import (
    ReadableOption,
    SandboxChoice,
    SandboxOption,
    readable_paths,
)

BotArgument = Annotated[
    str, typer.Argument(metavar="BOT", help="A bot, named as for `asara match`.")
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write the findings to FILE as JSON."),
]


def check(
    context: typer.Context,
    bot: BotArgument,
    rules: RulesOption = "pro+gifts+genie",
    clock: ClockOption = GENEROUS_CLOCK,
    start_up: StartUpOption = START_UP_S,
    out_directory: OutOption = None,
    json_file: JsonOption = None,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
    readable: ReadableOption = None,
) -> None:
    """Check a bot the way an organiser would.

    Builds the bot in a copy of its folder. Then a single bot process plays two matches, one in each
    seat, against the built-in bot `random`, and has to exit without an error. The bot gets more
    time than in a tournament, so that a slow bot can finish. It is reported as slow if it needs
    more time than a tournament's default clock allows. The exit status is 0 if the bot works, and
    1 if it is broken or slow.
    """
    from asara_server.cli.sessions.bot_check import check_bot

    options = CheckBotOptions(
        bot=bot,
        rules=rules,
        clock=clock,
        start_up=start_up,
        out_directory=out_directory,
        json_file=json_file,
        sandbox=sandbox,
        readable=readable_paths(readable),
    )
    raise typer.Exit(check_bot(options, context.obj))
