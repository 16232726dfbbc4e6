"""Opens the directory of a run."""

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

from asara.installing import install_command
from asara_server.bounded_file import read_bounded
from asara_server.cli.display.console import notify
from asara_server.cli.errors import UserError
from asara_server.cli.sessions.web import WEB_PACKAGES
from asara_server.tournament.config.tournament_file import LARGEST_FILE
from asara_server.tournament.run.directory import RunDirectory, RunDirectoryError


@contextmanager
def new_run_directory(path: Path) -> Iterator[RunDirectory]:
    """Create a run directory."""
    try:
        directory = RunDirectory.create(path)
    except RunDirectoryError as error:
        raise UserError(str(error)) from None
    with closing(directory):
        yield directory


@contextmanager
def kept_or_temporary(path: Path | None) -> Iterator[RunDirectory]:
    """Create a run directory; without a path, it is deleted on exit."""
    if path is not None:
        with new_run_directory(path) as directory:
            yield directory
        return
    folder = Path(tempfile.mkdtemp(prefix="asara-"))
    try:
        with new_run_directory(folder) as directory:
            yield directory
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def resumed_run_directory(path: Path, file: Path) -> Iterator[RunDirectory]:
    """Open the directory of a run to resume; the tournament file must be the same."""
    try:
        directory = RunDirectory.reopen(path)
    except RunDirectoryError as error:
        raise UserError(str(error)) from None
    with closing(directory):
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


def notify_run_directory(path: Path) -> None:
    notify(f"Results, replays and bot output: {path}")
    lacking = any(find_spec(name) is None for name in WEB_PACKAGES)
    first = f"{install_command('web')}, then " if lacking else ""
    notify(f"To watch the matches in a browser: {first}asara web {shlex.quote(str(path))}")
