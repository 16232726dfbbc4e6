"""`asara conformance`: play the cases of the protocol against a client."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.conformance.level import Level

CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="The bot to test: its folder or file, as for `asara match`, or a command after --.",
        show_default=False,
    ),
]
LevelOption = Annotated[
    Level | None,
    typer.Option(
        "--level",
        help="What to demand: what the protocol says, also what users expect of a client, or also "
        "the moves and files of the bundled kits.",
        show_default="protocol, or with --run that of each case",
    ),
]
RunOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="PATTERN",
        help="Play only these cases; * stands for any text.",
    ),
]
KnownFailingOption = Annotated[
    Path | None,
    typer.Option(
        "--known-failing",
        metavar="FILE",
        help="Names of cases that fail, one a line; one that passes makes the run fail.",
    ),
]
JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=256,
        help="Number of cases played at once, apart from those that only wait.",
        show_default="two per CPU core",
    ),
]
AgainOption = Annotated[
    bool,
    typer.Option(
        "--again",
        help="Play failed cases once more, one at a time, as on a busy machine; they must pass.",
    ),
]
ListOption = Annotated[
    bool, typer.Option("--list", help="List the cases and what they prove, and play none.")
]


def conformance(
    command: CommandArgument = None,
    level: LevelOption = None,
    run: RunOption = None,
    known_failing: KnownFailingOption = None,
    junit_file: JunitOption = None,
    jobs: JobsOption = None,
    again: AgainOption = False,
    list_cases: ListOption = False,
) -> None:
    """Test a client: play cases of the protocol against a bot.

    For example `asara conformance my-bot`, or `asara conformance -- python my_bot.py`. The bot may
    choose any legal actions, except in the few cases of the published rule. It is started once for
    every case, without a sandbox, with your rights and your environment, and is killed with its
    process group when the case is over. The exit status is 0 if it does all that is expected,
    otherwise 1.
    """
    from asara_server.cli.sessions.conformance import Options, list_all, test_client

    if list_cases:
        list_all(run or [], level)
        return
    options = Options(
        level=level,
        run=run or [],
        known_failing=known_failing,
        junit_file=junit_file,
        jobs=jobs,
        again=again,
    )
    raise typer.Exit(test_client(tuple(command or ()), options))
