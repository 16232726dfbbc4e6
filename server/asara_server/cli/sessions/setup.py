"""Turns options into the objects that a session needs: key, sandbox, logs, metrics, executor."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from asara_server import system
from asara_server.cli.commands.tournament import Run
from asara_server.cli.display.console import notify, warn
from asara_server.cli.options.common import SandboxChoice
from asara_server.cli.options.log import LogOptions
from asara_server.logs import configure, log_left_out
from asara_server.network.addresses import ServeError
from asara_server.referee.referee import Referee
from asara_server.replay.signing import (
    KeyFileError,
    SigningKey,
    can_make_key,
    default_key_path,
    load_key,
    load_or_make_key,
)
from asara_server.text import count
from asara_server.tournament.config.entry_folders import has_bot_file
from asara_server.tournament.config.tournament_file import Limits, MatchSettings, Tournament
from asara_server.tournament.execution.match_runner import Executor, LocalExecutor
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.machine_limits import effective_limits, reductions
from asara_server.tournament.sandbox.probe import (
    USE_NONE,
    SandboxError,
    find_sandbox,
    require_freezer,
)
from asara_server.tournament.sandbox.resources import ReservedPaths
from asara_server.tournament.workers.dask_workers import dask_workers
from asara_server.tournament.workers.process_workers import process_workers
from asara_server.tournament.workers.worker_executor import RunSettings, WorkerError, WorkerExecutor
from asara_server.user_error import UserError


def signing_key(path: Path | None, *, create: bool = True) -> SigningKey:
    """Return the key in this file, or the user's own key; `create` creates a missing key."""
    try:
        return load_or_make_key(path, _notify_key) if create else load_key(path)
    except KeyFileError as error:
        raise UserError(f"--key: {error}" if path else str(error)) from None


def key_of_run(key: Path | None, run: Path | None) -> Path | None:
    """Return the file of the key for a run; None means the user's own key.

    If the user's key can be neither read nor created, the file is next to the run directory, if
    any.
    """
    if key is not None or run is None:
        return key
    own = default_key_path()
    if os.path.exists(own) or can_make_key(own):  # noqa: PTH110 - no errors
        return None
    beside = run.with_name(f"{run.name}.key")
    notify(f"{own.parent} cannot be written, so this run is signed with the key {beside}")
    return beside


def chosen_sandbox(
    choice: SandboxChoice,
    reserved: ReservedPaths,
    *,
    limits: Limits | None = None,
    builds: bool = False,
    transport: Literal["unix", "tcp"] = "unix",
) -> Sandbox | None:
    """Return the chosen sandbox after testing it; None if bots run unconfined.

    The arguments are passed to `find_sandbox`. A warning lists the limits that the machine cannot
    enforce.
    """
    if choice is SandboxChoice.NONE:
        return None
    if transport == "tcp" and system.LINUX:
        raise UserError(
            'transport = "tcp" does not work in the sandbox, which has no network; '
            f"remove it, or {USE_NONE}"
        )
    try:
        limits = limits or Limits()
        sandbox = find_sandbox(limits, reserved, builds=builds)
    except SandboxError as error:
        raise UserError(f"--sandbox bubblewrap: {error}") from None
    for one in reductions(limits, sandbox.tools.ceilings, builds=builds):
        warn(f"{one.text}; {one.remedy}")
    return sandbox


def check_freezer(sandbox: Sandbox | None, setting: str) -> None:
    """Raise UserError if bots cannot be frozen, before anything is written.

    `setting` is the setting that requires it. Nothing else would keep a bot from thinking while its
    opponents decide.
    """
    try:
        require_freezer(sandbox)
    except SandboxError as error:
        remedy = "remove it" if sandbox else "remove it, or run with --sandbox bubblewrap"
        raise UserError(f"{setting}: {error}; {remedy}") from None


def sandbox_of_bots(
    choice: SandboxChoice, directories: Iterable[Path], *, secret: Iterable[Path]
) -> Sandbox | None:
    """Return the chosen sandbox for the bots of a command; see `chosen_sandbox`.

    A folder with a bot.toml belongs to its bot alone, as in a tournament. The directory of any
    other bot may contain its author's other files.
    """
    shared = tuple(folder.resolve() for folder in directories if not has_bot_file(folder))
    return chosen_sandbox(choice, ReservedPaths(shared=shared).with_hidden(secret))


def log_to_terminal(options: LogOptions) -> None:
    """Log to standard error: errors, or from the level that the user chose."""
    configure(options.level or "error")


@contextmanager
def log_to_file(options: LogOptions, path: Path) -> Iterator[None]:
    """Log to a file and, if the user chose a level, also to standard error."""
    file = path.open("a", encoding="utf-8", buffering=1)
    try:
        if options.level is None:
            configure("info", file)
        else:
            configure(options.level, file, to_stderr=True)
        try:
            yield
        finally:
            log_left_out()
            configure("error")
    finally:
        with suppress(OSError):  # the disk is full, which was reported with the first lost line
            file.close()


def _notify_key(path: Path) -> None:
    notify(f"Created the signing key {path}; keep a backup of it.")


@contextmanager
def chosen_executor(
    options: Run, tournament: Tournament, sandbox: Sandbox | None
) -> Iterator[tuple[Executor, str]]:
    """Yield the executor, and the number of matches that it plays concurrently, in words.

    With --metrics, the metrics of its referee are served.
    """
    if options.workers is not None:
        with process_workers(options.workers) as backend:
            yield WorkerExecutor(backend), f"by {count(options.workers, 'worker process')}"
    elif options.dask is not None:
        with _dask_executor(options.dask, tournament, sandbox) as executor:
            yield executor, f"by the workers of {options.dask}"
    else:
        with _metrics_server(options) as watch_referee:
            local = LocalExecutor(watch_referee, notify_address, strangers=True)
            yield local, f"{tournament.jobs} at a time"


@contextmanager
def _metrics_server(options: Run) -> Iterator[Callable[[Referee], None]]:
    """Serve metrics if --metrics is given; yield a function that adds the metrics of a referee."""
    if options.metrics is None:
        yield lambda referee: None
        return
    # Loads prometheus_client, which takes 20 ms and is seldom needed.
    from asara_server.network.metrics import PATH, MetricsServer, watch

    try:
        server = MetricsServer(options.metrics, allow_insecure_remote=options.insecure_remote)
    except ServeError as error:
        raise UserError(f"--metrics: {error}") from None
    with closing(server):
        notify(f"Metrics: http://{server.address}{PATH}")
        yield partial(watch, server.registry)


@contextmanager
def _dask_executor(
    scheduler: str, tournament: Tournament, sandbox: Sandbox | None
) -> Iterator[Executor]:
    settings = MatchSettings.of(tournament, None, {})
    if sandbox is not None:
        limits = effective_limits(settings.limits, sandbox.tools.ceilings)
        settings = replace(settings, limits=limits)
    required = RunSettings(settings, None if sandbox is None else sandbox.reserved)
    with ExitStack() as stack:
        try:
            backend = stack.enter_context(dask_workers(scheduler, required))
        except WorkerError as error:  # the option is wrong, not the run
            raise UserError(str(error)) from None
        yield WorkerExecutor(backend)


def notify_address(address: str) -> None:
    """Print where bots on other machines connect."""
    notify(f"Bots on other machines connect at {address} (TLS)")
