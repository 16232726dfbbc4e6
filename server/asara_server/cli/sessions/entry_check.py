"""Checks the entries of a tournament, and prints which ones work."""

import asyncio
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from itertools import count as count_up
from itertools import islice
from pathlib import Path
from typing import Any

from asara_game.rules import format_rule_sets
from asara_server.cli.commands.tournament import Check
from asara_server.cli.display.console import notify, out, show_line, show_quoted, show_table, warn
from asara_server.cli.display.progress import NAMES_SHOWN, Meter, building_text
from asara_server.cli.display.quantities import duration, listed
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.setup import log_to_file, notify_address
from asara_server.cli.sessions.signals import until_signal
from asara_server.cli.sessions.tournament import check_remote, load, tournament_sandbox
from asara_server.event_loop import run
from asara_server.network.addresses import ServeError
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.text import count
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.execution.entry_check import (
    CheckedEntry,
    EntryCheck,
    Verdict,
    checked_rules,
)
from asara_server.user_error import UserError

OPPONENT = "random"
"""The built-in bot that plays against checked bots."""


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
            on_listening=notify_address,
        )
        notify(check_heading(tournament))
        meter = CheckMeter(len(tournament.entries), len(tournament.left_out), check)
        checked = run(play_check(check, meter.show(), meter.add))
        if options.out_directory is not None:
            keep_replays(checked, folder)
    show_check(checked, tournament)
    out.print()
    out.print(check_summary(checked, tournament))
    if options.out_directory is not None:
        notify(f"Replays, and the output of builds and bots: {options.out_directory}")
    if tournament.left_out or any(one.verdict is Verdict.BROKEN for one in checked):
        if options.out_directory is None:
            notify(
                "To keep the replays and the full bot output, repeat the command with --out DIR."
            )
        return 1
    file = options.file
    words = ["asara", "tournament", "run", str(file), "--out", f"runs/{file.stem}"]
    notify(f"To play the tournament: {shlex.join(words)}", words=False)
    return 0


async def play_check(
    check: EntryCheck,
    show: Coroutine[Any, Any, None],
    add: Callable[[CheckedEntry], None] = lambda found: None,
) -> list[CheckedEntry]:
    """Check the entries, and pass each finding to `add`; a signal ends it with a UserError.

    `show` shows the progress until it is cancelled.
    """
    showing = asyncio.create_task(show)
    try:
        return await until_signal(check.run(add), lambda: "stopped; the check is not complete")
    except ServeError as error:
        raise UserError(f"remote: {error}", status=1) from None
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


def _opponents(tournament: Tournament) -> list[Entry]:
    """Return bots for the other seats, with names that no entry has."""
    taken = {entry.name.casefold() for entry in tournament.entries}
    free = (name for number in count_up(1) if (name := f"opponent-{number}") not in taken)
    return [
        Entry.model_validate({"bot": OPPONENT, "name": name})
        for name in islice(free, min(tournament.seats) - 1)
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
        for name, records in one.replays.items():
            write_replay(folder / "replays" / f"{name}.asara", records, key)


class CheckMeter(Meter):
    """Shows how many entries are checked; without a terminal, also a line for each entry.

    Without a terminal, a line every few seconds also lists the entries being built.
    """

    def __init__(self, entries: int, left_out: int, activity: EntryCheck) -> None:
        """`left_out` is the number of folders without an entry, which are counted as well."""
        self._left_out = left_out
        self._broken = 0
        self._activity = activity
        super().__init__(entries + left_out, left_out)

    def add(self, checked: CheckedEntry) -> None:
        """Count a finding."""
        self._done += 1
        self._broken += checked.verdict is Verdict.BROKEN
        self.refresh()
        if self._bar.disable:
            notify(f"{self._done} of {self._total}: {checked.entry}: {checked.verdict.value}")

    def notice(self) -> str:
        return self.summary() if self._activity.building else ""

    def summary(self) -> str:
        """Return how many entries are checked, and which ones are being built or playing."""
        parts = [f"{self._done} of {self._total}, {self._broken} broken"]
        if self._left_out:
            parts[0] += f", {self._left_out} skipped"
        now = time.time()
        if building := self._activity.building:
            parts.append(building_text({name: now - at for name, at in building.items()}, ()))
        if playing := list(self._activity.playing):
            parts.append(f"playing {listed(playing, NAMES_SHOWN)}")
        return "; ".join(parts)


def check_heading(tournament: Tournament) -> str:
    """Return a title and size, how the entries are checked, and what the check leaves out."""
    checked, seats = checked_rules(tournament), min(tournament.seats)
    others = [format_rule_sets(rules) for rules in tournament.rules if rules != checked]
    others += [f"{number} seats" for number in tournament.seats if number != seats]
    return (
        f"{tournament.title}: checking {count(len(tournament.entries), 'entry')} in two matches "
        f"each against the built-in bot `{OPPONENT}` (rules: {format_rule_sets(checked)}, "
        f"{seats} seats{'; not checked: ' if others else ''}{', '.join(others)})"
    )


def show_check(checked: Sequence[CheckedEntry], tournament: Tournament) -> None:
    """Print a table of all entries, what is wrong with broken ones, and their bots' output."""
    folders = {one.name: one.folder.folder for one in tournament.entries if one.folder}
    needless = {
        "folder": all(name == own for name, own in folders.items()),
        ">build": not any(one.build_s for one in checked),
    }
    columns = [
        "entry",
        "folder",
        "state",
        ">build",
        ">start-up",
        ">longest decision",
        ">decisions",
    ]
    rows = [
        [
            one.entry,
            folders.get(one.entry, "–"),
            one.verdict.value,
            seconds_text(one.build_s) or "–",
            seconds_text(one.start_s) or "–",
            seconds_text(one.longest_s) or "–",
            f"{one.decisions:,}" if one.decisions else "–",
        ]
        for one in checked
    ]
    rows += [
        [one.folder if needless["folder"] else "–", one.folder, "skipped", *"––––"]
        for one in tournament.left_out
    ]
    kept = [index for index, column in enumerate(columns) if not needless.get(column)]
    show_table(
        "Entries",
        [columns[index] for index in kept],
        ([row[index] for index in kept] for row in rows),
    )
    _show_faults(checked, tournament)
    if printing := [one for one in checked if one.verdict is Verdict.WORKS and one.printed]:
        _show_title("Last lines printed by working bots")
    for one in printing:
        show_line(one.entry)
        show_quoted(one.printed)


def _show_faults(checked: Sequence[CheckedEntry], tournament: Tournament) -> None:
    faulty = [one for one in checked if one.verdict is not Verdict.WORKS or one.rejected]
    if faulty or tournament.left_out:
        _show_title("Faults")
    for one in faulty:
        show_line(f"{one.entry} {verdict_text(one)}")
        if one.verdict is not Verdict.WORKS:
            show_quoted(one.printed)
    for folder in tournament.left_out:
        for line in folder.lines:
            show_line(line)


def check_summary(checked: Sequence[CheckedEntry], tournament: Tournament) -> str:
    """Return how many entries work, are broken, were left out or were not checked."""
    numbers = {verdict: sum(one.verdict is verdict for one in checked) for verdict in Verdict}
    left_out = len(tournament.left_out)
    parts = [f"{numbers[Verdict.WORKS]} of {count(len(checked) + left_out, 'entry')} work"]
    for number, word in (
        (numbers[Verdict.BROKEN], "broken"),
        (left_out, "skipped"),
        (numbers[Verdict.NOT_CHECKED], "not checked"),
    ):
        if number:
            parts.append(f"{number} {word}")
    return ", ".join(parts)


def _show_title(text: str) -> None:
    out.print(f"\n{text}", style="bold")


def verdict_text(one: CheckedEntry) -> str:
    """Return what follows an entry's name: whether it works, and if not, why."""
    if one.verdict is Verdict.BROKEN:
        return f"is broken: {one.why}"
    if one.verdict is Verdict.NOT_CHECKED:
        return f"was not checked: {one.why}"
    if one.rejected:
        return f"works, but the referee rejected {count(one.rejected, 'reply')}"
    return "works"


def seconds_text(value: float | None) -> str:
    """Return a measured time with its unit; "" if there is none."""
    if value is None:
        return ""
    if value < 0.01:
        return f"{value * 1000:.1f} ms"
    return f"{value * 1000:.0f} ms" if value < 1 else duration(value)
