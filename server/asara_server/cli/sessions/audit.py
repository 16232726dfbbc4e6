"""Audits replays, and prints those that are unsound."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.progress import track

from asara_server.cli.display.console import err, notify, out, warn
from asara_server.cli.errors import UserError
from asara_server.replay.audit import Verdict
from asara_server.replay.signing import KeyFileError, read_public_key
from asara_server.tournament.run.audit_run import AuditError, audit_replays, plan_audit

_NOTICE_INTERVAL = 1000
"""Number of replays between two notices of progress if standard error is not a terminal."""


def audit_paths(
    paths: Sequence[Path],
    key: Path | None,
    commitment: str | None,
    *,
    leaks: bool,
    processes: int | None,
) -> int:
    """Audit the replays at these paths; return the exit status."""
    if commitment is not None and not re.fullmatch("[0-9a-fA-F]{64}", commitment):
        raise UserError(f"--commitment {commitment}: must have 64 hexadecimal digits")
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
        notify(line)
    sound = len(plan.jobs) - unsound
    out.print(f"audited {len(plan.jobs)} replays: {sound} sound, {unsound} unsound")
    return 1 if unsound or plan.faults else 0


def _with_progress(
    verdicts: Iterable[tuple[Path, Verdict]], total: int
) -> Iterator[tuple[Path, Verdict]]:
    """Yield the verdicts, and show progress: a bar on a terminal, else a notice now and then."""
    if err.is_terminal:
        yield from track(verdicts, "Auditing", total=total, console=err, transient=True)
        return
    for number, verdict in enumerate(verdicts, 1):
        yield verdict
        if number % _NOTICE_INTERVAL == 0 and number < total:
            notify(f"{number:,} of {total:,} replays")
