"""`asara conformance`: run the protocol's conformance cases against a client."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from asara_server.conformance.case import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformance:
    """Test a client against the protocol.

    Starts the bot for every test case, without a sandbox, and kills its process group afterwards.
    Most test cases accept any legal action. The exit status is 0 if all cases pass, or fail as
    listed in --known-failing, and 1 otherwise.
    """

    session: ClassVar = "conformance:run_selected"

    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT",
            help="The bot to test: its file or folder, as for `asara match`, or a command after "
            "--.",
            show_default=False,
        ),
    ] = None
    level: Annotated[
        Level | None,
        typer.Option(
            "--level",
            help="protocol tests the protocol only; client adds what users expect of a client "
            "library; kit also tests that the bot chooses the same actions and writes the same "
            "transcripts as the bots that `asara new` creates.",
            show_default="protocol; with --case, every level",
        ),
    ] = None
    patterns: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="PATTERN",
            help="Run only the cases whose names match PATTERN; * stands for any text.",
        ),
    ] = None
    known_failing: Annotated[
        Path | None,
        typer.Option(
            "--known-failing",
            metavar="FILE",
            help="File with the names of cases that are expected to fail, one per line; if one of "
            "them passes, the exit status is 1.",
        ),
    ] = None
    junit_file: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML."),
    ] = None
    jobs: Annotated[
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
    ] = None
    list_cases: Annotated[
        bool,
        typer.Option(
            "--list", help="List the cases and what each one tests, without running them."
        ),
    ] = False
