"""Warnings about what went wrong in a run: forfeits, entries that are out, interrupted matches."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from asara_codec.results import Termination
from asara_server.cli.display.console import warn
from asara_server.cli.display.quantities import count
from asara_server.text import plain_words
from asara_server.tournament.bots.build import FailedBuild
from asara_server.tournament.config.tournament_file import Entry, Limits, Tournament
from asara_server.tournament.run.directory import RunInfo
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import preview_views
from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.standings.match_result import MatchResult

_MOST_LINES = 8

_WANTS_NETWORK = re.compile(
    r"EAI_AGAIN|ENOTFOUND|name resolution|resolve host|Unknown host|dial tcp|unreachable"
    r"|ENOTCACHED|offline mode"
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


def warn_of_folders(tournament: Tournament) -> None:
    """Warn of folders that are left out, and of entries with another name than they ask for."""
    for folder in tournament.left_out:
        for line in folder.lines:
            warn(line)
    for note in tournament.notes:
        warn(note)


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


def warn_of_views(
    entries: Sequence[Entry],
    limits: Limits,
    sandbox: Sandbox | SandboxConfig,
    remedy: str = "`readable`",
) -> None:
    """Warn of entries of whose files bots in the sandbox will not see all, or none.

    `remedy` names the setting that lets bots read further files.
    """
    preview = preview_views(entries, limits, hidden=sandbox.hidden, shared=sandbox.shared)
    for entry, reason in preview.too_large.items():
        warn(f"{entry} will be out in the sandbox: {reason}")
    for entry, left_out in preview.left_out.items():
        names = [path.name for path in left_out[:_MOST_LINES]]
        more = len(left_out) - len(names)
        names += [f"{more:,} more"] if more else []
        warn(
            f"{entry} does not see {', '.join(names)}, because {left_out[0].parent} holds more "
            f"than {limits.directory_mb:,} MiB; name what it needs of these with {remedy}"
        )


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
