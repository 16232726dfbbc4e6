"""Compares the journal of a run with its results and replays before the run is resumed.

The journal stores everything first, so it knows each result and each replay that the other files
have. If it does not, it was damaged or removed, and the run would play matches again that are over.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from asara_server.bounded_file import MIB, open_ordinary
from asara_server.eventlog.journal_check import CheckedJournal, check_journal
from asara_server.eventlog.journal_format import position_path, replay_checksum
from asara_server.eventlog.replay import ReplayError
from asara_server.eventlog.running_log import log_path
from asara_server.replay.file import read_file
from asara_server.text import plain
from asara_server.tournament.standings.match_result import MatchResult

_NAMED = 5
"""Number of matches that an error names."""


@dataclass(frozen=True, slots=True)
class ResumeCheck:
    """The outcome of the check."""

    fault: str
    """Why the run cannot be resumed and what can be done; "" if it can."""
    warnings: tuple[str, ...]
    """Damage to other files that does not keep the run from being resumed, in words."""


def check_resumable(directory: Path, journal: Path) -> ResumeCheck:
    """Check the files of a run that is not being played, and change none.

    Raises JournalError if the journal is damaged, and OSError.
    """
    checked = check_journal(journal)
    unknown, changed = _compare_results(directory / "results.jsonl", checked)
    names = {file.stem: f"replays/{file.name}" for file in (directory / "replays").glob("*.asara")}
    unknown |= {name: where for name, where in sorted(names.items()) if name not in checked.ended}
    fault = _fault(journal, checked, unknown) if unknown or checked.missing_commits else ""
    warnings = []
    if changed:
        warnings.append(
            f"{directory / 'results.jsonl'}: {_some(changed)} differed from the journal, from "
            "which the file was written again"
        )
    lost = list(_lost_replays(directory / "replays", checked))
    if lost:
        warnings.append(
            f"{directory / 'replays'}: {_some(lost)}; the journal holds none of these replays any "
            "more: restore them from a backup, or `asara audit` will name them"
        )
    return ResumeCheck(fault, tuple(warnings))


def _compare_results(path: Path, checked: CheckedJournal) -> tuple[dict[str, str], list[str]]:
    """Compare `results.jsonl` with the results in the journal.

    Return, by name, the matches that the journal does not know, each with its place, and the lines
    that differ from those in the journal.
    """
    unknown: dict[str, str] = {}
    changed: list[str] = []
    unreadable: list[str] = []
    absent = set(checked.ended)
    known = [line.encode() for line in checked.ended.values()]
    try:
        with open_ordinary(path) as file:
            lines = file.read(sum(map(len, known)) + len(known) + MIB).split(b"\n")
    except FileNotFoundError:
        return unknown, changed
    for index, line in enumerate(lines):
        here = known[index] if index < len(known) else b""
        last = index == len(lines) - 1
        if last and (not line or (here.startswith(line) and line != here)):
            break  # the file ends here, or its last line was never written to its end
        place = f"line {index + 1}"
        name = _name_in(line)
        if line != here:
            changed.append(place)
        if not name:
            unreadable.append(f"{place} of results.jsonl")
        elif name not in checked.ended:
            unknown[name] = place
        absent.discard(name)
    if unreadable and not absent:  # so they are no lines that the journal has, too
        unknown |= dict.fromkeys(unreadable, "")
    return unknown, changed


def _name_in(line: bytes) -> str:
    """Return the name of the attempt in a line; "" if it cannot be read."""
    try:
        return MatchResult.model_validate_json(line).played_as
    except ValidationError:
        return ""


def _lost_replays(folder: Path, checked: CheckedJournal) -> Iterable[str]:
    """Yield the replays that were written, and are missing or changed."""
    for name, checksum in checked.replays.items():
        try:
            data = read_file(folder / f"{name}.asara")
        except ReplayError:
            gone = not (folder / f"{name}.asara").exists()
            yield f"{name}.asara is {'missing' if gone else 'damaged'}"
            continue
        if replay_checksum(data) != checksum:
            yield f"{name}.asara is damaged"


def _fault(journal: Path, checked: CheckedJournal, unknown: dict[str, str]) -> str:
    faults = [checked.loss] if checked.loss else []
    if unknown:
        names = _some([f"{name} ({place})" if place else name for name, place in unknown.items()])
        faults.append(f"does not know matches that results.jsonl or replays have: {names}")
    log, position = log_path(journal).name, position_path(journal).name
    removed = [f"delete {position}"] if checked.loss else []
    if unknown:
        removed.append("move these lines and replays out of the directory")
    return (
        f"{journal}: {' and '.join(faults)}. This run is not resumed, lest it play again what is "
        f"over: restore {journal.name}, {journal.name}-wal, {log} and {position} from a backup, or "
        f"start the run again in another folder; to have all that is missing played again, "
        f"{' and '.join(removed)}"
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(plain(name, longest=100) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown
