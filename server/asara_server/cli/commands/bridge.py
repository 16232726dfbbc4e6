"""`asara bridge`: any program plays over standard input and output."""

from typing import Annotated

import typer

from asara.bridge.command import play_bridge


def bridge(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="The program and its arguments.")
    ],
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            max=999_999,
            help="Maximum number of matches at the same time.",
        ),
    ] = 1,
) -> None:
    """Connect any program that speaks JSON lines.

    It reads one line of JSON per message and prints one line per decision, such as the index of
    a legal action.
    """
    # `asara bridge` without options of `asara` before it never gets here: see `cli.main`.
    play_bridge(command, jobs)
