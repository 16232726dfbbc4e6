"""Output files given by the user: checked, so that none overwrites evidence, then written.

Also finds the run that a replay belongs to.
"""

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asara_server.atomic_file import replace_file
from asara_server.tournament.run.directory import RUN_FILES, RUN_FOLDERS, RUN_MARKS
from asara_server.user_error import UserError

_RUN_NAMES = frozenset(RUN_FILES)


def run_of(replay: Path) -> Path | None:
    """Return the run whose `replays` folder contains a file; None if there is none."""
    folder = replay.absolute().parent
    run = folder.parent
    is_run = folder.name == "replays" and any((run / mark).is_file() for mark in RUN_MARKS)
    return run if is_run else None


def check_output(
    option: str,
    path: Path,
    *,
    inputs: Iterable[Path] = (),
    run: Path | None = None,
    outside: Path | None = None,
    allowed: str | None = None,
) -> None:
    """Refuse a file that must not be written; raises UserError.

    Refused are the command's own `inputs`, the files of a run, anything that exists and is not a
    regular file, and files in directories that do not exist. A link to a regular file counts as
    that file. `run` is a directory to which a run will be written. `outside` is a run in which
    nothing may be written. `allowed` is the name of the only file of a run that the command may
    replace.
    """
    target = Path(os.path.realpath(path))
    try:
        problem = (
            _place_problem(target)
            or _input_problem(target, inputs)
            or _run_problem(target, run, outside, allowed)
        )
    except OSError as error:
        problem = f"{error.strerror or error}; choose another file"
    if problem:
        raise UserError(f"{option} {path}: {problem}")


def write_json(path: Path, fields: Mapping[str, Any]) -> None:
    """Write fields as JSON to a file accepted by `check_output`; raises UserError."""
    text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
    write_output(path, text.encode())


def write_output(path: Path, content: bytes) -> None:
    """Write a file accepted by `check_output`, completely or not at all; raises UserError."""
    with writing(path):
        replace_file(Path(os.path.realpath(path)), content)


@contextmanager
def writing(path: Path, remedy: str = "choose another file") -> Iterator[None]:
    """Turn an OSError in the context into a UserError about this file.

    The text ends with the remedy, unless the disk is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "make room on the disk, then repeat the command"
        text = f"{path}: cannot be written: {error.strerror}; {remedy}"
        raise UserError(text, status=1) from None


def _place_problem(target: Path) -> str:
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if target.parent.is_dir():
            return ""
        return f"the folder {target.parent} does not exist; create it first, or choose another file"
    if stat.S_ISDIR(mode):
        return "is a folder; choose a file"
    return "" if stat.S_ISREG(mode) else "is not a regular file; choose another file"


def _input_problem(target: Path, inputs: Iterable[Path]) -> str:
    for path in inputs:
        if target.exists() and path.exists() and target.samefile(path):
            return "is the file that the command reads; choose another file"
    return ""


def _run_problem(target: Path, run: Path | None, outside: Path | None, allowed: str | None) -> str:
    planned, closed = (one and Path(os.path.realpath(one)) for one in (run, outside))
    below = target.name
    for folder in target.parents:
        if folder == planned or any((folder / mark).is_file() for mark in RUN_MARKS):
            alone = folder == target.parent
            if folder == closed or below in (_RUN_NAMES - {allowed} if alone else RUN_FOLDERS):
                return f"belongs to the run in {folder}; choose a file outside it"
        below = folder.name
    return ""
