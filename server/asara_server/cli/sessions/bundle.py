"""Writes the bundles of a run."""

from pathlib import Path

from asara_server.cli.display.console import notify, warn
from asara_server.cli.display.quantities import count
from asara_server.cli.errors import UserError
from asara_server.tournament.run.bundle import BundleWriter, check_names
from asara_server.tournament.run.directory import BUNDLES
from asara_server.tournament.run.read_run import RecordedRun, RunError, read_run, run_standings
from asara_server.tournament.standings.standings import by_schedule

_MATCHES_NAMED = 3


def write_bundles(directory: Path) -> None:
    """Write a bundle for each entry of a run that has ended."""
    try:
        recorded = read_run(directory)
        check_names(recorded)
    except RunError as error:
        raise UserError(str(error)) from None
    if (directory / BUNDLES).is_symlink():
        raise UserError(f"{directory / BUNDLES}: is a link; remove it")
    info, results = recorded.info, by_schedule(recorded.results)
    if info.state in {"prepared", "running"}:
        raise UserError(
            f"{directory}: this run has not ended, and its deals are secret until "
            "then; wait for the end, or continue it with `asara tournament run … --resume`"
        )
    standings = run_standings(directory, info, results)
    writer = BundleWriter(directory, RecordedRun(info, tuple(results)), standings)
    missing: set[str] = set()
    unproven = ""
    number = 0
    for bundle in writer.write():
        number += 1
        missing |= set(bundle.missing)
        unproven = unproven or bundle.unproven
    if missing:
        names = ", ".join(sorted(missing)[:_MATCHES_NAMED])
        more = f" and {len(missing) - _MATCHES_NAMED:,} more" if len(missing) > 3 else ""
        warn(f"skipped, because they have no replay: {names}{more}")
    if unproven:
        warn(f"the bundles have no proofs that the replays belong to the run: {unproven}")
    notify(f"Wrote {count(number, 'bundle')} to {directory / BUNDLES}")
