"""Plans, prepares, plays or resumes a tournament, and prints its standings."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from asara_server.bounded_file import read_bounded
from asara_server.cli.commands.tournament import Plan, Run
from asara_server.cli.display.console import notify, out, warn
from asara_server.cli.display.faults import (
    warn_of_earlier_exclusions,
    warn_of_faults,
    warn_of_folders,
    warn_of_views,
)
from asara_server.cli.display.plan import heading, show_keys, show_plan
from asara_server.cli.display.results import show_standings
from asara_server.cli.options.common import SandboxChoice
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.run import notify_run_directory, play_run, prepare_run
from asara_server.cli.sessions.setup import (
    check_freezer,
    chosen_executor,
    chosen_sandbox,
    key_of_run,
    signing_key,
)
from asara_server.cli.sessions.web import check_page_address, page_of_run, stay
from asara_server.network.addresses import ServeError
from asara_server.network.grpc_server import check_address
from asara_server.replay.signing import default_key_path
from asara_server.text import count
from asara_server.tournament.config.tournament_file import LARGEST_FILE, Tournament, load_tournament
from asara_server.tournament.run.directory import RunDirectory, has_run
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.runner import RunEnd, RunSetup
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.cgroups import WITHOUT_CGROUPS, Cgroups
from asara_server.tournament.sandbox.resources import ReservedPaths
from asara_server.tournament.schedule.layout import Layout, balance, seat_orders
from asara_server.tournament.schedule.schedule import (
    MOST_MATCHES,
    Estimate,
    estimate,
    looks_at,
    planned_matches,
)
from asara_server.tournament.standings.intervals_and_ranks import blocks_for, error_of
from asara_server.tournament.standings.standings import block_variance
from asara_server.user_error import UserError


def load(file: Path) -> tuple[Tournament, Estimate]:
    """Return a tournament that is small enough to be listed, and its estimate."""
    tournament = load_tournament(file)
    expected = estimate(tournament)
    if expected.matches > MOST_MATCHES:
        raise UserError(
            f"{file.name}: {expected.matches:,} matches are too many (at most {MOST_MATCHES:,}); "
            "set blocks_per_entry, or reduce rounds, rules or seats"
        )
    return tournament, expected


def plan(options: Plan, _log: LogOptions) -> None:
    """Print the matches of the tournament, or its settings, and what would go wrong."""
    tournament, expected = load(options.file)
    if options.explain and options.precision is not None:
        raise UserError("--explain and --precision show different things; use one of them")
    if options.explain:
        show_keys(tournament)
        return
    if options.pilot is not None and options.precision is None:
        raise UserError("--pilot is for --precision; give the precision as well")
    show_plan(tournament, expected)
    if options.precision is not None:
        _show_precision(tournament, options.precision, options.pilot)
    if Cgroups.find() is None:
        warn(WITHOUT_CGROUPS)
    warn_of_folders(tournament)
    path = options.file.resolve()
    warn_of_views(tournament.entries, tournament.limits, ReservedPaths((path,), (path.parent,)))
    check = shlex.join(["asara", "tournament", "check", str(options.file)])
    notify(f"To see which bots work: {check}", words=False)


def play_tournament(options: Run, log: LogOptions) -> int:
    """Prepare, play or resume the tournament; return the exit status."""
    tournament, _ = load(options.file)
    _check_options(tournament, options)
    if options.jobs is not None:
        tournament = tournament.model_copy(update={"jobs": options.jobs})
    options = replace(options, key=key_of_run(options.key, options.out_directory))
    matches = planned_matches(tournament)
    check_remote(tournament, options.file)
    sandbox = tournament_sandbox(tournament, options.sandbox, options.file, options.key)
    if not tournament.ponder:
        check_freezer(sandbox, f"{options.file.name}: ponder = false")
    warn_of_folders(tournament)
    if sandbox is not None:
        warn_of_views(tournament.entries, tournament.limits, sandbox.reserved)
    if options.prepare:
        key = signing_key(options.key)
        with _run_directory(options) as directory:
            prepare_run(RunSetup(tournament, matches, directory, key, sandbox))
        return 0
    with ExitStack() as stack:
        executor, at_once = stack.enter_context(chosen_executor(options, tournament, sandbox))
        if options.web is not None:
            check_page_address(options.web, insecure_remote=options.insecure_remote)
        key = signing_key(options.key, create=not options.resume)
        directory = stack.enter_context(_run_directory(options))
        notify(heading(tournament, len(matches), at_once))
        page = None
        if options.web is not None:
            page = stack.enter_context(
                page_of_run(directory.path, options.web, insecure_remote=options.insecure_remote)
            )
        if directory.record.begun:
            warn_of_earlier_exclusions(directory.info)
        setup = RunSetup(tournament, matches, directory, key, sandbox, executor)
        end, status = play_run(setup, log)
        _show_end(tournament, end, directory)
        if status == 0 and page is not None:
            stay(page)
    return status


def _check_options(tournament: Tournament, options: Run) -> None:
    """Raise UserError for options that conflict with each other or with the tournament."""
    if options.prepare and options.resume:
        raise UserError("--prepare starts a run and --resume continues one; use only one of them")
    if options.workers is None and options.dask is None:
        return
    if options.workers is not None and options.dask is not None:
        raise UserError("--workers is for this machine and --dask for a cluster; use one")
    option = "--dask" if options.workers is None else "--workers"
    if options.jobs is not None:
        raise UserError(f"--jobs is for a single referee; with {option}, remove it")
    if tournament.remote_entries:
        raise UserError(
            f"{option}: the bot of {tournament.remote_entries[0]} is on another machine and "
            f"connects to a single referee; remove {option}"
        )
    if options.metrics is not None:
        raise UserError(
            f"--metrics covers a single referee, but with {option} every worker has its own; "
            "remove one of the two options"
        )


def check_remote(tournament: Tournament, file: Path) -> None:
    """Raise UserError if bots on other machines cannot be served, before anything is written."""
    if tournament.remote is None:
        return
    try:
        check_address(tournament.remote.listen, tournament.remote.tls)
    except ServeError as error:
        raise UserError(f"{file.name}: remote: {error}") from None


def tournament_sandbox(
    tournament: Tournament, choice: SandboxChoice, file: Path, key: Path | None
) -> Sandbox | None:
    """Return a sandbox that hides the tournament file and the referee's secrets."""
    sandbox = chosen_sandbox(
        choice,
        _private_paths(tournament, file, key),
        limits=tournament.limits,
        builds=any(entry.build for entry in tournament.entries),
        transport=tournament.transport,
    )
    if sandbox is not None and not sandbox.has_cgroups:
        warn(WITHOUT_CGROUPS)
    return sandbox


def _private_paths(tournament: Tournament, file: Path, key: Path | None) -> ReservedPaths:
    """Return the paths of the referee's secrets, and the folder that belongs to no single entry."""
    remote = tournament.remote
    remote_secrets = () if remote is None else (remote.key, remote.tokens)
    secret = (file, key or default_key_path(), *remote_secrets)
    return ReservedPaths(tuple(path.resolve() for path in secret if path), (file.resolve().parent,))


@contextmanager
def _run_directory(options: Run) -> Iterator[RunDirectory]:
    """Create the run directory, or reopen the directory of a run with the same tournament file."""
    path, file = options.out_directory, options.file
    if not options.resume:
        if has_run(path):
            words = ["asara", "tournament", "run", str(file), "--out", str(path), "--resume"]
            raise UserError(
                f"{path}: already contains a run; choose another folder, or continue the run: "
                f"{shlex.join(words)}"
            )
        with closing(RunDirectory.create(path)) as directory:
            directory.keep_tournament_file(file)
            yield directory
        return
    with closing(RunDirectory.reopen(path)) as directory:
        if not directory.tournament_file.is_file():
            raise UserError(
                f"{path}: this run has no tournament file; only runs of `asara tournament run` "
                "can be resumed"
            )
        if directory.tournament_text != read_bounded(file, LARGEST_FILE):
            raise UserError(
                f"{file}: differs from {directory.tournament_file}, with which the run was "
                "started; restore it, or start another run"
            )
        yield directory


def _show_end(tournament: Tournament, end: RunEnd, directory: RunDirectory) -> None:
    show_standings(end.standings)
    out.print()
    warn_of_faults(end, directory.path / "run.log")
    warn_of_folders(tournament)
    if line := end.costs.sentence:
        notify(line)
    if secret := directory.info.tournament_secret:
        notify("Tournament secret (publish it now, so that others can verify the deals): " + secret)
    notify_run_directory(directory.path)
    if end.standings.complete:
        notify(f"To write a report: asara report {shlex.quote(str(directory.path))}", words=False)
    else:
        notify("To resume this run, repeat the command with --resume.")


def _show_precision(tournament: Tournament, half_width: float, pilot: Path | None) -> None:
    """Print the number of blocks needed, and the tournament file setting for it."""
    variance = _of_equals(tournament) if pilot is None else _of_pilot(tournament, pilot)
    looks = looks_at(planned_matches(tournament)) if tournament.until else ()
    needed = blocks_for(half_width, variance, error_of(looks))
    source = "at equal strength" if pilot is None else f"by the run in {pilot}"
    out.print(
        f"Intervals of ±{half_width:g} take about {count(needed, 'block')} of every entry, "
        f"{source}:\n{_key(tournament, needed)}."
    )
    if pilot is None:
        out.print("This counts no saving by shared deals; --pilot DIR measures it in a run.")


def _key(tournament: Tournament, needed: int) -> str:
    """Return the setting that gives every entry this number of blocks."""
    kinds = len(tournament.rules)
    if tournament.blocks_per_entry is not None:
        return f"blocks_per_entry = {-(-needed // (kinds * len(tournament.seats)))}"
    layout = Layout.of(tournament.teams, tournament)
    planned = sum(balance(layout, seats).blocks_per_entry.least for seats in tournament.seats)
    return f"rounds = {-(-needed * tournament.rounds // max(1, kinds * planned))}"


def _of_equals(tournament: Tournament) -> float:
    """Return the variance of a block score if all ranks are equally likely in every match."""
    matches = {
        seats: 1 if tournament.blocks == "duplicate" else seat_orders(seats, tournament.orders)
        for seats in tournament.seats
    }
    found = [(seats + 1) / (12 * (seats - 1) * matches[seats]) for seats in tournament.seats]
    return sum(found) / len(found)


def _of_pilot(tournament: Tournament, pilot: Path) -> float:
    run = read_run(pilot)
    if run.info.blocks != tournament.blocks:
        raise UserError(
            f"{pilot}: has {run.info.blocks} blocks, and the tournament {tournament.blocks} ones; "
            "choose a run with blocks of the same kind"
        )
    variance = block_variance(run.results)
    if variance is None:
        raise UserError(f"{pilot}: no entry has two blocks; choose a longer run")
    return variance
