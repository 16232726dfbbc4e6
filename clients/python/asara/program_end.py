"""What the end of a bot's program tells its author: `run` was not reached, or files will be lost.

Only a program that a referee has started prints it.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import time

_begun_s = time.time()
_program = getattr(sys.modules.get("__main__"), "__file__", None) or ""  # gone at the exit

log = logging.getLogger("asara")


def has_played() -> None:
    """Note that the program has called `run` or `play`."""
    atexit.unregister(_report_unreached)


def report_lost_files() -> None:
    """Name a file that a contained bot has written into a folder that is deleted with it."""
    if not os.environ.get("ASARA_CONTAINED"):
        return
    from pathlib import Path

    for folder in {Path.cwd(), Path(_program).parent}:
        try:
            with os.scandir(folder) as found:
                written = sorted(one.name for one in found if _is_new(one))
        except OSError:
            continue
        if written:
            more = f" and {len(written) - 1} more" if written[1:] else ""
            log.warning(
                "asara: %s%s in the bot's folder will be deleted with its process, because the "
                "sandbox gives each process a copy of the folder; print what you want to keep",
                written[0],
                more,
            )
            return


def _is_new(one: os.DirEntry[str]) -> bool:
    return (
        one.is_file(follow_symlinks=False)
        and _begun_s - 1 <= one.stat(follow_symlinks=False).st_mtime <= time.time() + 1
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
