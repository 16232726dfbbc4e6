"""Warnings about what went wrong in a run: forfeits, entries that are out, interrupted matches."""

import re
from collections.abc import Iterable
from pathlib import Path

from asara_codec.results import Termination
from asara_server.cli.display.console import warn
from asara_server.cli.display.quantities import count
from asara_server.text import plain_words
from asara_server.tournament.bots.build import FailedBuild
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.run.directory import RunInfo
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.sandbox.filesystem_view import too_large_before_building
from asara_server.tournament.standings.match_result import MatchResult

_MOST_LINES = 8

_WANTS_NETWORK = re.compile(
    r"EAI_AGAIN|ENOTFOUND|name resolution|resolve host|Unknown host|dial tcp|unreachable"
    r"|offline mode"
)
"""Words of compilers and package managers that miss the network."""


def warn_of_faults(end: RunEnd, log: Path | None) -> None:
    """Print all faults of a run; `log` is the run's log file if it is kept."""
    out = (f"{entry} is out: {reason}" for entry, reason in end.unstartable.items())
    suspended = (f"{entry} was {reason}" for entry, reason in end.suspended.items())
    for line in (*fault_lines(end.results), *out, *suspended, *end.unfinished):
        warn(line)
    if void := end.standings.matches.void:
        details = "add --out DIR to keep the log" if log is None else f"see {log}"
        warn(f"{count(void, 'match')} without a result, because the referee failed; {details}")


def warn_of_failed_build(failed: FailedBuild, logs: Path) -> None:
    """Print why an entry cannot be built, and the last lines that its build printed."""
    warn(f"{failed.entry} is out: {failed.why}; it printed{':' if failed.printed else ' nothing'}")
    for line in failed.printed:
        warn(f"  | {line}")
    if failed.printed:
        warn(f"  all of it: {logs / f'build-{failed.entry}.log'}")
    if _WANTS_NETWORK.search("\n".join(failed.printed)):
        warn("  builds in the sandbox have no network: put what it downloads into its directory")


def warn_of_earlier_exclusions(run: RunInfo) -> None:
    """Print the entries that were out or suspended when a run was interrupted, and why."""
    for state, reasons in (("out", run.out), ("suspended", run.suspended)):
        for entry, why in reasons.items():
            warn(f"{entry} stays {state} and forfeits its remaining matches: {why}")


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
    first: dict[tuple[str, Termination], str] = {}
    for result in sorted(results, key=lambda result: result.match_id):
        for seat in result.forfeits:
            first.setdefault(
                (seat.entry, seat.termination),
                f"{seat.entry} forfeits {result.match_id} "
                f"({plain_words(seat.termination.name)}): {seat.detail}",
            )
    lines = list(first.values())
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES} more kinds of faults"]
    return lines
