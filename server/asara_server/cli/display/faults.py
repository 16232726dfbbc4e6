"""Warns about everything that went wrong in a run: forfeits, exclusions, interrupted matches."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from asara_codec.results import Termination
from asara_server.cli.display.console import show_quoted, warn
from asara_server.cli.display.quantities import listed
from asara_server.cli.display.results import kind_of
from asara_server.text import count
from asara_server.tournament.bots.build import FailedBuild
from asara_server.tournament.bots.output import NO_NETWORK, wants_network
from asara_server.tournament.bots.pool import Departure
from asara_server.tournament.config.tournament_file import Entry, Limits, Tournament
from asara_server.tournament.run.run_record import RunInfo
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.sandbox.filesystem_view import preview_views
from asara_server.tournament.sandbox.resources import ReservedPaths
from asara_server.tournament.standings.match_result import (
    MatchResult,
    SeatOutcome,
)

_MOST_LINES = 8
_MOST_IN_FULL = 4


def warn_of_faults(end: RunEnd, log: Path | None) -> None:
    """Print all faults of a run; `log` is the run's log file, if it is kept."""
    for forfeit in _first_forfeits(end.results)[:_MOST_IN_FULL]:
        _warn_in_full(forfeit)
    forfeits = fault_lines(end.results)[_MOST_IN_FULL:]
    out = (f"{entry} is out: {reason}" for entry, reason in end.out.items())
    suspended = (f"{entry} was {reason}" for entry, reason in end.suspended.items())
    for line in (*forfeits, *out, *suspended, *end.unfinished):
        warn(line)
    if end.unfinished:
        warn("A match that was cut has no replay, and does not count.")
    if log is not None and any(one.more for one in _first_forfeits(end.results)):
        command = f"asara status {shlex.quote(str(log.parent))}"
        warn(f"To see how often each entry forfeited: {command}", words=False)
    if void := end.standings.matches.void:
        details = "add --out DIR to keep the log" if log is None else f"see {log}"
        warn(f"{count(void, 'match')} without a result, because the referee failed; {details}")


def warn_of_departures(departures: Iterable[Departure], results: Iterable[MatchResult]) -> None:
    """Print what the first process of each entry did wrong, if it has cost no match so far.

    Entries that have forfeited are left out, because their forfeits were already shown.
    """
    shown = {seat.entry for result in results for seat in result.forfeits}
    for one in departures:
        if one.entry in shown or not (one.sentence or one.printed):
            continue
        shown.add(one.entry)
        if one.sentence:
            warn(f"{one.entry} {one.sentence}{'; it printed:' if one.printed else ''}")
        else:
            warn(f"{one.entry} did not forfeit, but it printed:")
        _warn_of_output(one.printed)


def warn_of_folders(tournament: Tournament) -> None:
    """Warn about folders that are left out, and entries that did not get their chosen name."""
    for folder in tournament.left_out:
        for line in folder.lines:
            warn(line)
    for note in tournament.notes:
        warn(note)


def warn_of_failed_build(failed: FailedBuild, logs: Path) -> None:
    """Print why an entry cannot be built, and the last lines of the build's output."""
    warn(f"{failed.entry} is out: {failed.why}; it printed{':' if failed.printed else ' nothing'}")
    show_quoted(failed.printed, warning=True)
    if failed.printed:
        warn(f"  all of it: {logs / f'build-{failed.entry}.log'}")
    if wants_network(failed.printed):
        warn(f"  {NO_NETWORK}")
    warn(
        f"  {failed.entry} forfeits its matches in this run, even if the run is resumed; correct "
        "the build, test it with `asara tournament check`, and start another run"
    )


def warn_of_earlier_exclusions(run: RunInfo) -> None:
    """Print the entries that were out or suspended when a run was interrupted, with the reasons."""
    for state, reasons in (("out", run.out), ("suspended", run.suspended)):
        for entry, why in reasons.items():
            warn(f"{entry} stays {state} and forfeits its remaining matches: {why}")


def warn_of_views(
    entries: Sequence[Entry],
    limits: Limits,
    reserved: ReservedPaths,
    *,
    own: bool = False,
) -> None:
    """Warn about entries whose bots will see fewer or more files in the sandbox than they should.

    `own` is True if all bots are the user's, given on the command line; they may share folders.
    """
    remedy = "--readable" if own else "`readable`"
    preview = preview_views(entries, limits, reserved)
    for entry, reason in preview.out.items():
        warn(f"{entry} will be out in the sandbox: {reason}")
    for entry, left_out in preview.left_out.items():
        names = listed([path.name for path in left_out], _MOST_LINES)
        warn(
            f"{entry} does not see {names}, because its folder contains more than "
            f"{limits.directory_mib:,} MiB; list the files that it needs with {remedy}"
        )
    for names_together in () if own else preview.together:
        warn(
            f"{listed(names_together, _MOST_LINES)} share a folder: each sees all files in it "
            "except the programs of the others; give each entry its own folder"
        )


def fault_lines(results: Iterable[MatchResult], people: Collection[str] = ()) -> list[str]:
    """Describe the first forfeit for each entry and kind, in at most nine lines.

    `people` are entries whose seats people hold.
    """
    lines = [
        f"{_forfeit(forfeit, people)}: {forfeit.seat.explanation}"
        for forfeit in _first_forfeits(results)
    ]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES} more kinds of faults"]
    return lines


class _Forfeit(NamedTuple):
    """The first forfeit for an entry and kind."""

    result: MatchResult
    seat: SeatOutcome
    more: int
    """Number of later forfeits for the same entry and kind."""


def _first_forfeits(results: Iterable[MatchResult]) -> list[_Forfeit]:
    """Return the first forfeit for each entry and kind."""
    first: dict[tuple[str, Termination], tuple[MatchResult, SeatOutcome]] = {}
    number: Counter[tuple[str, Termination]] = Counter()
    for result in sorted(results, key=lambda result: result.match_id):
        for seat in result.forfeits:
            first.setdefault((seat.entry, seat.termination), (result, seat))
            number[seat.entry, seat.termination] += 1
    return [_Forfeit(*one, number[kind] - 1) for kind, one in first.items()]


def _forfeit(forfeit: _Forfeit, people: Collection[str] = ()) -> str:
    result, seat, more = forfeit
    others = f" and {more:,} more" if more else ""
    forfeits = "forfeit" if seat.entry == "you" else "forfeits"
    reason = kind_of(seat, people)
    return f"{seat.entry} {forfeits} match {result.match_id}{others} (reason: {reason})"


def _warn_in_full(forfeit: _Forfeit) -> None:
    """Print a forfeit and the lines that the bot printed."""
    seat = forfeit.seat
    reason = f"{seat.reason}; it printed:" if seat.printed else seat.explanation
    warn(f"{_forfeit(forfeit)}: {reason}")
    _warn_of_output(seat.printed or ())


def _warn_of_output(printed: Iterable[str]) -> None:
    for line in printed:
        warn(line, indent=4, words=line.startswith("asara: "))
