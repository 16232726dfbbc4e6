"""Warnings about what went wrong in a run: forfeits, entries that are out, interrupted matches."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from asara_codec.results import Termination
from asara_server.cli.display.console import warn
from asara_server.cli.display.quantities import count
from asara_server.text import on_one_line, plain_words
from asara_server.tournament.bots.error_output import output_of, without_output
from asara_server.tournament.bots.remedies import remedy
from asara_server.tournament.config.tournament_file import Entry, Tournament
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.sandbox.filesystem_view import too_large_before_building
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome

_MOST_LINES = 8
_MOST_IN_FULL = 4


def warn_of_faults(
    end: RunEnd, log: Path | None, entries: Iterable[Entry] = (), *, in_full: bool = False
) -> None:
    """Print all faults of a run; `log` is the run's log file if it is kept.

    With `in_full`, what a bot printed is shown line by line, and followed by advice.
    """
    if in_full:
        commands = {entry.name: entry.command for entry in entries}
        for result, seat in _first_forfeits(end.results)[:_MOST_IN_FULL]:
            _warn_in_full(result, seat, commands.get(seat.entry, ()))
        forfeits = fault_lines(end.results)[_MOST_IN_FULL:]
    else:
        forfeits = fault_lines(end.results)
    out = (f"{entry} is out: {reason}" for entry, reason in end.unstartable.items())
    suspended = (f"{entry} was {reason}" for entry, reason in end.suspended.items())
    for line in (*forfeits, *out, *suspended, *end.unfinished):
        warn(line)
    if void := end.standings.matches.void:
        details = "add --out DIR to keep the log" if log is None else f"see {log}"
        warn(f"{count(void, 'match')} without a result, because the referee failed; {details}")


def warn_of_large_entries(tournament: Tournament, file: Path) -> None:
    """Warn of entries whose directories will be too large for the sandbox."""
    too_large = too_large_before_building(
        tournament.entries,
        tournament.limits,
        hidden=[file.resolve()],
        shared=file.resolve().parent,
    )
    for entry, reason in too_large.items():
        warn(f"{entry} will be out in the sandbox: {reason}")


def fault_lines(results: Iterable[MatchResult]) -> list[str]:
    """Describe the first forfeit of each entry and kind, in at most nine lines."""
    lines = [
        f"{_forfeit(result, seat)}: {on_one_line(seat.detail)}"
        for result, seat in _first_forfeits(results)
    ]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES} more kinds of faults"]
    return lines


def _first_forfeits(results: Iterable[MatchResult]) -> list[tuple[MatchResult, SeatOutcome]]:
    """Return the first forfeit of each entry and kind."""
    first: dict[tuple[str, Termination], tuple[MatchResult, SeatOutcome]] = {}
    for result in sorted(results, key=lambda result: result.match_id):
        for seat in result.forfeits:
            first.setdefault((seat.entry, seat.termination), (result, seat))
    return list(first.values())


def _forfeit(result: MatchResult, seat: SeatOutcome) -> str:
    kind = plain_words(seat.termination.name)
    return f"{seat.entry} forfeits {result.match_id} ({kind})"


def _warn_in_full(result: MatchResult, seat: SeatOutcome, command: Sequence[str]) -> None:
    """Print a forfeit, the lines that the bot printed, and what to do about it."""
    printed = output_of(seat.detail)
    if printed:
        warn(f"{_forfeit(result, seat)}: {without_output(seat.detail)}; it printed:")
    else:
        warn(f"{_forfeit(result, seat)}: {seat.detail}")
    for line in printed:
        warn(f"    {line}", words=False)
    if advice := remedy(seat.termination, seat.detail, command):
        warn(f"What to do: {advice}")
