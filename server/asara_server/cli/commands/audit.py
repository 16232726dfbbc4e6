"""`asara audit`: verify replays without trusting whoever made them."""

from pathlib import Path
from typing import Annotated

import typer

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Replays, and directories that contain replays."),
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="The referee's public key.",
        show_default="referee.pub in the run of the replay",
    ),
]
CommitmentOption = Annotated[
    str | None,
    typer.Option(
        "--commitment",
        metavar="HEX",
        help="The commitment published before the first match.",
        show_default="that in run.json",
    ),
]
LeaksOption = Annotated[
    bool,
    typer.Option("--leaks", help="Also check that no seat received what it must not know."),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        help="Number of processes.",
        show_default="one per CPU core",
    ),
]


def audit(
    paths: PathsArgument,
    key: PublicKeyOption = None,
    commitment: CommitmentOption = None,
    leaks: LeaksOption = False,
    processes: ProcessesOption = None,
) -> None:
    """Verify replays by playing every match again.

    Compares all actions, clocks, results and every message to a bot. Prints a line for each unsound
    replay, which names the first wrong record. The exit status is 0 only if all replays are sound.
    """
    from asara_server.cli.sessions.audit import audit_paths

    raise typer.Exit(audit_paths(paths, key, commitment, leaks=leaks, processes=processes))
