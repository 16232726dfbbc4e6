"""`asara audit`: verify replays without trusting whoever made them."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asara_server.cli.display.console import err, out, say, warn
from asara_server.cli.errors import UserError

if TYPE_CHECKING:
    from asara_server.replay.audit import Verdict

_NOTICE_EVERY = 1000
"""Number of replays between two notices of progress where there is no terminal."""

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Replays, and directories that contain replays."),
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="The referee's public key. [default: referee.pub in the run of the replay]",
    ),
]
CommitmentOption = Annotated[
    str | None,
    typer.Option(
        "--commitment",
        metavar="HEX",
        help="The commitment published before the first match. [default: that in run.json]",
    ),
]
LeaksOption = Annotated[
    bool,
    typer.Option("--leaks", help="Also check that no seat received what it must not know."),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--processes", metavar="N", min=1, help="Number of processes. [default: one per core]"
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
    from asara_server.replay.signing import KeyFileError, read_public_key
    from asara_server.tournament.run.audit_run import AuditError, audit_replays, plan_audit

    if commitment is not None and not re.fullmatch("[0-9a-fA-F]{64}", commitment):
        raise UserError(f"--commitment {commitment}: should have 64 hexadecimal digits")
    try:
        plan = plan_audit(
            paths,
            public_key=None if key is None else read_public_key(key),
            published=commitment and commitment.lower(),
            leaks=leaks,
        )
    except (AuditError, KeyFileError) as error:
        raise UserError(str(error)) from None
    if plan.trusted_key is not None:
        warn(
            f"No --key, and no referee.pub beside the replays: the key {plan.trusted_key.hex()} is "
            "trusted. Compare it with the one that the organiser published."
        )
    unsound = 0
    verdicts = audit_replays(plan.jobs, processes or os.cpu_count() or 1)
    for file, verdict in _with_progress(verdicts, len(plan.jobs)):
        if verdict.fault is not None:
            unsound += 1
            out.print(f"{file}: {verdict.fault}", markup=False, soft_wrap=True)
    for fault in plan.faults:
        out.print(fault, markup=False, soft_wrap=True)
    for line in plan.unchecked:
        say(line)
    sound = len(plan.jobs) - unsound
    out.print(f"audited {len(plan.jobs)} replays: {sound} sound, {unsound} unsound")
    raise typer.Exit(1 if unsound or plan.faults else 0)


def _with_progress(
    verdicts: "Iterable[tuple[Path, Verdict]]", total: int
) -> "Iterator[tuple[Path, Verdict]]":
    """Yield the verdicts, and show progress: a bar on a terminal, else a notice now and then."""
    from rich.progress import track

    if err.is_terminal:
        yield from track(verdicts, "Auditing", total=total, console=err, transient=True)
        return
    for number, verdict in enumerate(verdicts, 1):
        yield verdict
        if number % _NOTICE_EVERY == 0 and number < total:
            say(f"{number:,} of {total:,} replays")
