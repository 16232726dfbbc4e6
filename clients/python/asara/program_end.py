"""What the end of a bot's program tells its author: `run` was not reached, or files will be lost.

Only a program that a referee has started prints it.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys

_program = getattr(sys.modules.get("__main__"), "__file__", None) or ""  # gone at the exit

log = logging.getLogger("asara")


def has_played() -> None:
    """Note that the program has called `run` or `play`."""
    atexit.unregister(_report_unreached)


def _start_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - bots start faster without pathlib
    except OSError:  # it was deleted
        return ""


_folder = _start_folder() if os.environ.get("ASARA_CONTAINED") else ""


def _files() -> dict[str, int]:
    """Return the files in the bot's folder, each with the time at which it was written."""
    try:
        with os.scandir(_folder) as found:
            files = [one for one in found if one.is_file(follow_symlinks=False)]
            return {one.name: one.stat(follow_symlinks=False).st_mtime_ns for one in files}
    except OSError:
        return {}


_before = _files() if _folder else {}


def report_lost_files() -> None:
    """Name a file that a contained bot has written into its folder, which is deleted with it."""
    if not _folder:
        return
    written = sorted(name for name, time_ns in _files().items() if _before.get(name) != time_ns)
    if written:
        more = f" and {len(written) - 1} more" if written[1:] else ""
        log.warning(
            "asara: %s%s in the bot's folder will be deleted with its process, because the "
            "sandbox gives each process a copy of the folder; print what you want to keep",
            written[0],
            more,
        )


def _report_unreached() -> None:
    """Print where the program calls `run` if it has ended without getting there."""
    if hasattr(sys, "last_type"):  # an exception says more
        return
    from asara.unreached_call import unreached_call

    if why := unreached_call(_program):
        sys.stderr.write(f"asara: {why}\n")


if os.environ.get("ASARA_TOKEN"):
    atexit.register(_report_unreached)
