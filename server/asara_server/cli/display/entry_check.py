"""Shows the findings of `asara tournament check`."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rich.progress import BarColumn, Progress, TextColumn

from asara_game.rules import format_rule_sets
from asara_server.cli.display.console import err, notify, out, show_table, shows_progress
from asara_server.cli.display.progress import LINE_INTERVAL_S, building_text
from asara_server.cli.display.quantities import duration
from asara_server.text import count, plain
from asara_server.tournament.config.tournament_file import FolderEntry, Tournament
from asara_server.tournament.execution.entry_check import CheckedEntry, Verdict, checked_rules

_NAMES_SHOWN = 3


class CheckActivity(Protocol):
    """The current activity of the check."""

    @property
    def building(self) -> Mapping[str, float]:
        """Entries being built, with the start of each build in seconds of the monotonic clock."""

    @property
    def playing(self) -> Collection[str]:
        """Entries that are playing their test match."""


class CheckMeter:
    """Shows how many entries are checked: a bar on a terminal, otherwise a line for each entry.

    Without a terminal, a line every few seconds also lists the entries being built.
    """

    def __init__(self, entries: int, left_out: int, activity: CheckActivity) -> None:
        """`left_out` is the number of folders without an entry, which are counted as well."""
        self._total = entries + left_out
        self._done = self._left_out = left_out
        self._broken = 0
        self._activity = activity
        self.bar = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.description}", markup=False),
            console=err,
            transient=True,
            disable=not shows_progress(),
        )
        self._task = self.bar.add_task(self.summary(), total=self._total, completed=left_out)

    def add(self, checked: CheckedEntry) -> None:
        """Count a finding."""
        self._done += 1
        self._broken += checked.verdict is Verdict.BROKEN
        self._update()
        if self.bar.disable:
            notify(f"{self._done} of {self._total}: {checked.entry} {_verdict(checked)}")

    async def show(self) -> None:
        """Show the progress until cancelled."""
        with self.bar:
            while True:
                await asyncio.sleep(LINE_INTERVAL_S if self.bar.disable else 1.0)
                self._update()
                if self.bar.disable and self._activity.building:
                    notify(self.summary())

    def summary(self) -> str:
        """Return how many entries are checked, and which ones are being built or playing."""
        parts = [f"{self._done} of {self._total}, {self._broken} broken"]
        if self._left_out:
            parts[0] += f", {self._left_out} skipped"
        now = time.monotonic()
        if building := self._activity.building:
            parts.append(building_text({name: now - at for name, at in building.items()}, ()))
        if playing := list(self._activity.playing):
            more = len(playing) - _NAMES_SHOWN
            names = ", ".join(playing[:_NAMES_SHOWN])
            parts.append(f"playing {names}{f' and {more:,} more' if more > 0 else ''}")
        return "; ".join(parts)

    def _update(self) -> None:
        self.bar.update(self._task, completed=self._done, description=self.summary())


def check_heading(tournament: Tournament, opponent: str) -> str:
    """Return a tournament's title and size, and how its entries are checked."""
    rules = format_rule_sets(checked_rules(tournament))
    return (
        f"{tournament.title}: checking {count(len(tournament.entries), 'entry')} in two matches "
        f"each against the built-in bot `{opponent}` (rules: {rules}, "
        f"{min(tournament.seats)} seats)"
    )


def show_check(checked: Sequence[CheckedEntry], tournament: Tournament) -> None:
    """Print a table of all entries, what is wrong with broken ones, and their bots' output."""
    folders = {one.name: one.folder for one in tournament.entries if isinstance(one, FolderEntry)}
    needless = {
        "folder": all(name == own for name, own in folders.items()),
        ">build": not any(one.build_kept or one.build_s for one in checked),
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
            "unchanged" if one.build_kept else _seconds(one.build_s),
            _seconds(one.start_s),
            _seconds(one.longest_s),
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
        _show_line(one.entry)
        _show_printed(one)


def _show_faults(checked: Sequence[CheckedEntry], tournament: Tournament) -> None:
    wrong = [one for one in checked if one.verdict is not Verdict.WORKS]
    rejected = [one for one in checked if one.rejected and one.verdict is Verdict.WORKS]
    if wrong or rejected or tournament.left_out:
        _show_title("Faults")
    for one in wrong:
        _show_line(f"{one.entry} {_verdict(one)}: {one.why}")
        _show_printed(one)
    for folder in tournament.left_out:
        for line in folder.lines:
            _show_line(line)
    for one in rejected:
        replies = count(one.rejected, "reply")
        _show_line(f"{one.entry} works, but the referee rejected {replies}")


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


def _show_line(text: str) -> None:
    out.print(plain(text, longest=None), soft_wrap=True)


def _show_printed(one: CheckedEntry) -> None:
    for line in one.printed:
        _show_line(f"  | {line}")


def _verdict(one: CheckedEntry) -> str:
    return {
        Verdict.WORKS: "works",
        Verdict.BROKEN: "is broken",
        Verdict.NOT_CHECKED: "was not checked",
    }[one.verdict]


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value * 1000:.0f} ms" if value < 1 else duration(value)
