"""`asara conformance`: run the protocol's conformance cases against a client."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.conformance.level import Level

CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="The bot to test: its file or folder, as for `asara match`, or a command after --.",
        show_default=False,
    ),
]
LevelOption = Annotated[
    Level | None,
    typer.Option(
        "--level",
        help="protocol tests the protocol only; client adds what users expect of a client library; "
        "kit also tests that the bot chooses the same actions and writes the same transcripts as "
        "the bots that `asara new` creates.",
        show_default="protocol; with --case, every level",
    ),
]
CaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        metavar="PATTERN",
        help="Run only the cases whose names match PATTERN; * stands for any text.",
    ),
]
KnownFailingOption = Annotated[
    Path | None,
    typer.Option(
        "--known-failing",
        metavar="FILE",
        help="File with the names of cases that are expected to fail, one per line; if one of them "
        "passes, the exit status is 1.",
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
        help="Number of cases to run in parallel; cases that are just waiting for a timeout do "
        "not count.",
        show_default="two per CPU core",
    ),
]
ListOption = Annotated[
    bool,
    typer.Option("--list", help="List the cases and what each one tests, without running them."),
]


def conformance(
    command: CommandArgument = None,
    level: LevelOption = None,
    case: CaseOption = None,
    known_failing: KnownFailingOption = None,
    junit_file: JunitOption = None,
    jobs: JobsOption = None,
    list_cases: ListOption = False,
) -> None:
    """Test a client against the protocol.

    Starts the bot for every test case, without a sandbox, and kills its process group afterwards.
    Most test cases accept any legal action. The exit status is 0 if all cases pass, or fail as
    listed in --known-failing, and 1 otherwise.
    """
    from asara_server.cli.sessions.conformance import Options, list_all, test_client

    if list_cases:
        list_all(case or [], level)
        return
    options = Options(
        level=level,
        patterns=case or [],
        known_failing=known_failing,
        junit_file=junit_file,
        jobs=jobs,
    )
    raise typer.Exit(test_client(tuple(command or ()), options))
