"""Checks the entries of a tournament, and prints which ones work."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from asara_server.cli.commands.tournament import Check
from asara_server.cli.display.console import notify, out, warn
from asara_server.cli.display.entry_check import (
    CheckMeter,
    check_heading,
    check_summary,
    show_check,
)
from asara_server.cli.errors import UserError
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.interruption import until_signal
from asara_server.cli.sessions.setup import log_to_file
from asara_server.cli.sessions.tournament import check_remote, load, tournament_sandbox
from asara_server.event_loop import run
from asara_server.network.addresses import ServeError
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.bots.build.build_cache import BuildCache
from asara_server.tournament.bots.process import MachineError
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.execution.entry_check import CheckedEntry, EntryCheck, Verdict

_OPPONENT = "random"
"""The built-in bot that plays against the entries."""


def check_entries(options: Check, log: LogOptions) -> int:
    """Check the entries; return the exit status: 1 if any entry is broken, otherwise 0."""
    tournament, _ = load(options.file)
    if options.remote and tournament.remote is None:
        raise UserError(
            f"--remote waits for entries on other machines, and {options.file.name} has none"
        )
    if options.remote:
        check_remote(tournament, options.file)
    opponents = _opponents(tournament)
    sandbox = tournament_sandbox(tournament, options.sandbox, options.file, None)
    for note in tournament.notes:
        warn(note)
    with check_folder(options.out_directory) as folder, log_to_file(log, folder / "check.log"):
        check = EntryCheck(
            tournament,
            opponents,
            folder,
            sandbox=sandbox,
            remote=options.remote,
            on_listening=_notify_address,
            cache=BuildCache(),
        )
        notify(check_heading(tournament, _OPPONENT))
        meter = CheckMeter(len(tournament.entries), len(tournament.left_out), check)
        checked = run(play_check(check, meter))
        if options.out_directory is not None:
            keep_replays(checked, folder)
    show_check(checked, tournament)
    out.print()
    out.print(check_summary(checked, tournament))
    if options.out_directory is not None:
        notify(f"Replays, and the output of builds and bots: {options.out_directory}")
    else:
        notify("To keep the replays and the full bot output, repeat the command with --out DIR.")
    broken = any(one.verdict is Verdict.BROKEN for one in checked)
    return 1 if broken or tournament.left_out else 0


class Meter(Protocol):
    """Counts findings, and shows the progress."""

    def add(self, checked: CheckedEntry) -> None: ...

    async def show(self) -> None:
        """Show the progress until cancelled."""


async def play_check(check: EntryCheck, meter: Meter) -> list[CheckedEntry]:
    """Check the entries and show the progress; a signal ends the check with a UserError."""
    showing = asyncio.create_task(meter.show())
    try:
        return await until_signal(
            check.run(meter.add), lambda: "stopped; the check is not complete"
        )
    except ServeError as error:
        raise UserError(f"remote: {error}", status=1) from None
    except MachineError as error:
        raise UserError(str(error), status=1) from None
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


def _opponents(tournament: Tournament) -> list[Entry]:
    """Return bots for the other seats, with names that no entry has."""
    taken = {entry.name.casefold() for entry in tournament.entries}
    numbers = (number for number in range(1, len(taken) + 5))
    names = [name for number in numbers if (name := f"opponent-{number}") not in taken]
    table = {"bot": _OPPONENT}
    return [
        Entry.model_validate({**table, "name": name}) for name in names[: min(tournament.seats) - 1]
    ]


@contextmanager
def check_folder(path: Path | None) -> Iterator[Path]:
    """Create a directory for builds, output and replays; without a path, it is deleted on exit."""
    if path is None:
        folder = Path(tempfile.mkdtemp(prefix="asara-"))
    else:
        folder = path
        if path.exists() and not path.is_dir():
            raise UserError(f"--out {path}: is a file; choose a folder that is new or empty")
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UserError(f"--out {path}: is not empty; choose a folder that is new or empty")
    try:
        yield folder
    finally:
        shutil.rmtree(folder if path is None else folder / "builds", ignore_errors=True)


def keep_replays(checked: Sequence[CheckedEntry], folder: Path) -> None:
    """Write the replays, signed by a key that is not kept, because they count for nothing."""
    key = SigningKey.new()
    (folder / "replays").mkdir()
    for one in checked:
        for replay in one.replays:
            write_replay(folder / "replays" / f"{replay.header.match_id}.asara", replay, key)


def _notify_address(address: str) -> None:
    notify(f"Bots on other machines connect at {address} (TLS)")
