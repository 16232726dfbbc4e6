"""Builds the bots given on the command line, in their own folders, before they play."""

import asyncio
import os
import shlex
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from asara_server import bundled
from asara_server.cli.display.console import notify, show_quoted
from asara_server.cli.display.progress import SLOW_INTERVAL_S
from asara_server.cli.display.quantities import duration
from asara_server.cli.options.bots import FETCH, is_built_in
from asara_server.cli.sessions.signals import until_signal
from asara_server.event_loop import run
from asara_server.text import plain
from asara_server.tournament.bots.build import FailedBuild, build_in_place
from asara_server.tournament.bots.output import NO_NETWORK, missing_module, wants_network
from asara_server.tournament.config.commands import CommandError, check_command
from asara_server.tournament.config.fields import exposes_too_much
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.resources import BUILD_CACHE
from asara_server.user_error import UserError

_PACKAGES: Final = ("lib", "node_modules", "vendor")
"""Folders to which the starters' scripts download packages."""
_SHOWN_S: Final = 1.0
"""Seconds after which a build's duration is shown."""


def built_bots(entries: Sequence[Entry], sandbox: Sandbox | None) -> tuple[Entry, ...]:
    """Build each entry that needs it, in its directory, and return the built entries.

    Raises UserError if a build fails. Entries with the same directory and build command share a
    build.
    """
    done: set[tuple[Path, tuple[str, ...]]] = set()
    shared = {path: path.resolve() for entry in entries for path in entry.readable}
    built = []
    for entry in entries:
        if not entry.build:
            built.append(entry)
            continue
        if (entry.directory, entry.build) not in done:
            _build(entry, sandbox)
            done.add((entry.directory, entry.build))
        # A link in its place could show the bot any file of this user.
        if moved := [path for path in entry.readable if path.resolve() != shared[path]]:
            raise UserError(
                f"bot {entry.name!r}: its build replaced {plain(str(moved[0]))}, which is "
                "`readable`; let it write elsewhere",
                status=1,
            )
        try:
            check_command(entry.command, entry.directory)
        except CommandError as error:
            raise UserError(
                f"bot {entry.name!r}: its build left no program for its command: {error}", status=1
            ) from None
        built.append(entry.model_copy(update={"build": ()}))
    return tuple(built)


def _build(entry: Entry, sandbox: Sandbox | None) -> None:
    _check_place(entry, sandbox)
    notify(f"Building {entry.name}: {shlex.join(entry.build)}", words=False)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="asara-logs-") as folder:
        try:
            failed = run(_build_until_signal(entry, sandbox, Path(folder) / "build.log"))
        except OSError as error:
            raise UserError(
                f"bot {entry.name!r}: its build cannot begin: {error.filename}: {error.strerror}",
                status=1,
            ) from None
    if failed is not None:
        raise _failure(entry, failed, sandbox)
    seconds = time.monotonic() - began
    if seconds >= _SHOWN_S:
        notify(f"Built {entry.name} in {duration(seconds)}")


async def _build_until_signal(
    entry: Entry, sandbox: Sandbox | None, log_file: Path
) -> FailedBuild | None:
    readable = [*entry.readable, *clients_beside(entry.directory)]
    meter = asyncio.create_task(_show_waiting(entry.name))
    building = build_in_place(entry, log_file, sandbox=sandbox, readable=readable, limits=Limits())
    try:
        return await until_signal(building, lambda: f"stopped while building {entry.name}")
    finally:
        meter.cancel()


async def _show_waiting(name: str) -> None:
    """Report now and then that a build is still running, until cancelled."""
    began = time.monotonic()
    while True:
        await asyncio.sleep(SLOW_INTERVAL_S)
        notify(f"Still building {name} after {duration(time.monotonic() - began, whole_s=True)}")


def clients_beside(folder: Path) -> list[Path]:
    """Return the folders outside its own that a built-in bot needs for its build; usually none."""
    if not is_built_in(folder):
        return []
    return [path for part in ("clients", "proto") if (path := bundled.path(part)).is_dir()]


def _check_place(entry: Entry, sandbox: Sandbox | None) -> None:
    """Raise UserError if a build must not or cannot write to its bot's directory."""
    directory = entry.directory
    if is_built_in(directory) and (bundled.is_installed() or not _is_writable(directory)):
        language, ending, _ = directory.name.partition("-random")
        new = shlex.join(["asara", "new", language, "my-bot"])
        advice = f"make your own copy with `{new}`, and name that"
        if not ending:  # not one that `asara new` copies
            advice = "play it in a checkout of your own"
        raise UserError(
            f"bot {entry.name!r}: it must be built, and the folder of the built-in bot "
            f"{directory.name!r} is not yours to write to; {advice}"
        )
    shown = plain(str(directory))
    if not _is_writable(directory):
        raise UserError(f"bot {entry.name!r}: its build cannot write to {shown}; copy the folder")
    if sandbox is not None and exposes_too_much(directory):
        raise UserError(
            f"bot {entry.name!r}: a build must not see all of {shown}; move the bot to a folder of "
            "its own"
        )
    if (directory / BUILD_CACHE).is_symlink():
        raise UserError(f"bot {entry.name!r}: {shown}/{BUILD_CACHE} is a link; remove it")


def _is_writable(directory: Path) -> bool:
    return os.access(directory, os.W_OK)


def _failure(entry: Entry, failed: FailedBuild, sandbox: Sandbox | None) -> UserError:
    """Print the output of a failed build; return the error that ends the command."""
    show_quoted(failed.printed, warning=True)
    text = f"bot {entry.name!r}: its build failed: {failed.why}"
    fetch = entry.directory / FETCH
    fetched = any((entry.directory / folder).is_dir() for folder in _PACKAGES)
    wants = sandbox is not None and wants_network(failed.printed)
    if fetch.is_file() and (wants or missing_module(failed.printed) or not fetched):
        script = plain(shlex.quote(str(fetch)))
        text += (
            f"; run {script} once, which downloads the packages that the bot is built with; it is "
            "not contained, so read it first if it is not yours"
        )
    elif wants:
        text += f"; {NO_NETWORK}"
    return UserError(text, status=1)
