"""Opens the directory of a run, plays its matches, shows their progress, and stops on signals."""

import asyncio
import errno
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from asara.installing import install_command
from asara_server.cli.display.console import notify, warn
from asara_server.cli.display.faults import warn_of_failed_build
from asara_server.cli.display.progress import RunMeter
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.setup import log_to_file
from asara_server.cli.sessions.signals import on_signals
from asara_server.cli.sessions.web import WEB_PACKAGES
from asara_server.event_loop import run
from asara_server.network.addresses import ServeError
from asara_server.network.open_files import OpenFilesError
from asara_server.process_family import command_of
from asara_server.text import plain
from asara_server.tournament.bots.living_bots import owner_of_others
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, Runner, RunSetup
from asara_server.user_error import UserError


def play_run(setup: RunSetup, log: LogOptions, meter: RunMeter | None = None) -> tuple[RunEnd, int]:
    """Play the matches of a run; return how it ended and the exit status.

    The status is 0, or 1 if the referee failed in a match, or 128 plus the signal that stopped the
    run. A tournament prints the manifest's hash and the commitment to its deals at the start.
    Without a `meter`, a RunMeter shows the progress.
    """
    directory = setup.directory
    meter = meter or RunMeter(len(setup.schedule))
    with _user_errors(directory), log_to_file(log, directory.path / "run.log"):
        runner = Runner(
            setup,
            finished=meter.add_result,
            enough=meter.decided,
            build_failed=lambda failed: warn_of_failed_build(failed, directory.logs),
        )
        meter.start(runner)
        return run(_play(runner, meter, publish=setup.schedule_rule == "groups"))


def prepare_run(setup: RunSetup) -> None:
    """Write everything decided before the first match, and print what should be published."""
    with _user_errors(setup.directory):
        runner = Runner(setup)
        runner.begin(prepare=True)
    _notify_published(runner)
    notify(f"Public key (Ed25519): {setup.key.public.hex()}")
    notify(
        "Nothing has been played yet. To play this run, repeat the command with --resume instead "
        "of --prepare."
    )


def _notify_published(runner: Runner) -> None:
    notify("To let others audit the run, publish:")
    notify(f"Manifest (SHA-256): {runner.manifest_sha256}")
    notify(f"Deal commitment (SHA-256): {runner.deal_commitment}")


@contextmanager
def _user_errors(directory: RunDirectory) -> Iterator[None]:
    """Turn further errors that can occur in a run into a UserError."""
    try:
        yield
    except OpenFilesError:
        raise
    except ServeError as error:
        raise UserError(f"remote: {error}", status=1) from None
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        text = f"{path}{error.strerror or error}{_remedy(error, directory)}"
        raise UserError(text, status=1) from None


def _remedy(error: OSError, directory: RunDirectory) -> str:
    """Return advice for a full disk; only the run of a tournament file can be resumed."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return ""
    resumable = directory.tournament_file.is_file()
    return (
        f": make room on the disk, then repeat the command{' with --resume' if resumable else ''}"
    )


async def _play(runner: Runner, meter: RunMeter, *, publish: bool) -> tuple[RunEnd, int]:
    runner.begin()
    if publish:
        _notify_published(runner)
    if runner.progress.legs and (owner := owner_of_others()) is not None:
        other = plain(command_of(owner)) or f"process {owner}"
        warn(
            f"Bots of another run ({other}) are alive on this machine, and could pass on deals. "
            "To rule this out, play one run at a time."
        )
    run_task = asyncio.create_task(runner.run())
    meter_task = asyncio.create_task(meter.show())
    signals: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        signals.append(number)
        if len(signals) > 1:
            run_task.cancel()
            return
        executor = runner.executor
        if executor.waits or not executor.awaited:  # otherwise the run ends immediately
            notify(
                "Stopping once the pending decisions have been answered. Press Ctrl-C again to "
                "stop immediately."
            )
        runner.stop()

    try:
        with on_signals(stop):
            end = await run_task
    except asyncio.CancelledError:
        text = "stopped immediately; the standings contain the finished matches"
        raise UserError(text, status=128 + signals[0]) from None
    finally:
        meter_task.cancel()
        await asyncio.gather(meter_task, return_exceptions=True)
    if signals:
        return end, 128 + signals[0]
    return end, 1 if end.standings.matches.void else 0


def notify_run_directory(path: Path) -> None:
    notify(f"Results, replays and bot output: {path}")
    lacking = any(find_spec(name) is None for name in WEB_PACKAGES)
    first = f"{install_command('web')}, then " if lacking else ""
    watch = f"{first}asara web {shlex.quote(str(path))}"
    notify(f"To watch the matches in a browser: {watch}", words=False)
