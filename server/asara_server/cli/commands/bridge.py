"""`asara bridge`: connect any program that uses standard input and output."""

from typing import Annotated

import typer

from asara.bridge.command import play_bridge


def bridge(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND")],
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, max=999_999)] = 1,
) -> None:
    """Connect any program that reads and writes JSON lines."""
    # Only reached if options precede the command: `cli.main` handles plain `asara bridge`.
    play_bridge(command, jobs)
