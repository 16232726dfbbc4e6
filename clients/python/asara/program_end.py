"""Tells authors about problems at the start and end of their bot's program.

The program did not reach `run`, does not end after `run`, or will lose its files. These messages
appear only in programs that a referee has started.
"""

from __future__ import annotations

import atexit
import faulthandler
import logging
import os
import stat
import sys
import time

from asara.standard_error import StandardErrorHandler

_program = getattr(sys.modules.get("__main__"), "__file__", None) or ""  # gone at exit

_SLOW_START_S = 20.0
"""Seconds after which a program that has not called `run` prints its current line."""

_SLOW_END_S = 5.0
"""Seconds after `run` before a program prints its current line; it is killed after ten."""

_STANDARD_ERROR = 2

log = logging.getLogger("asara")


def has_played() -> None:
    """Record that the program has called `run` or `play`."""
    faulthandler.cancel_dump_traceback_later()
    atexit.unregister(_report_unreached)


def expect_end() -> None:
    """Print the stacks of all threads if the program does not end soon."""
    _print_stacks_after(_SLOW_END_S)


def _print_stacks_after(seconds: float) -> None:
    """Print all stacks after this time, if a runner started the bot: `faulthandler` is then on."""
    if faulthandler.is_enabled():
        faulthandler.dump_traceback_later(seconds, file=_STANDARD_ERROR)


def _start_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - bots start faster without pathlib
    except OSError:  # it was deleted
        return ""


_MOST_FILES = 1_000
"""Maximum number of files to look at."""

_folder = _start_folder() if os.environ.get("ASARA_CONTAINED") else ""
_began_ns = time.time_ns()


def _written() -> set[str]:
    """Return the files that the program has written into its folder and into /tmp."""
    written: set[str] = set()
    left = _MOST_FILES
    for top in (_folder, "/tmp"):  # noqa: S108 - in the sandbox it is the process's own
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
            paths = [os.path.join(folder, name) for name in names if name[0] != "."]  # noqa: PTH118
            left -= len(paths)
            if left < 0:
                return written
            written.update(filter(_is_written, paths))
    return written


def _is_written(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:  # it was deleted
        return False
    return stat.S_ISREG(found.st_mode) and found.st_mtime_ns >= _began_ns


def report_lost_files() -> None:
    """Report a file written by a contained bot: it will be deleted with the bot."""
    if not _folder:
        return
    if written := sorted(path.removeprefix(f"{_folder}/") for path in _written()):
        more = f" and {len(written) - 1} more" if written[1:] else ""
        log.warning(
            "asara: %s%s will be deleted with the bot's process, because in the sandbox each "
            "process has its own copy of the folder and its own /tmp, which is also $HOME; print "
            "what you want to keep",
            written[0],
            more,
        )


def _report_unreached() -> None:
    """If the program ended without reaching its call of `run`, print where this call is."""
    if hasattr(sys, "last_type"):  # the exception's traceback says more
        return
    from asara.unreached_call import unreached_call

    if why := unreached_call(_program):
        sys.stderr.write(f"asara: {why}\n")


def _is_worker() -> bool:
    """Return True in a worker process of `multiprocessing`, which never plays.

    A stack printed while other threads run can crash Python, so workers must not print one.
    """
    return "multiprocessing.spawn" in sys.modules


if os.environ.get("ASARA_TOKEN"):
    log.addHandler(StandardErrorHandler())
    if not _is_worker():
        atexit.register(_report_unreached)
        _print_stacks_after(_SLOW_START_S)
