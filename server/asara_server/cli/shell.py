"""Makes what a shell gives a command usable: standard streams and address space.

A stream that was closed (`>&-`) is None in Python, and the next opened file takes its number. An
encoding that lacks a printed character would end a command in the middle of a line. Beyond the
address space that `ulimit -v` permits, any library may fail at any point with its own message, and
threads do not start.
"""

import os
import sys
from io import TextIOWrapper
from typing import Final

from asara_server.user_error import UserError

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

_NEEDED_MB: Final = 2_048
"""On two cores, a tournament uses half of this. Libraries reserve more for each further core."""


def check_streams() -> None:
    """Make the standard streams usable; raises UserError if standard output is closed."""
    closed = sys.stdout is None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the lowest free number is the one that it had
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    if closed:
        raise UserError("standard output is closed: open it, or discard it by >/dev/null", status=1)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def discard_output() -> None:
    """Discard standard output's buffer, because writing it at exit would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def check_address_space() -> None:
    """Raise UserError if the program may use less address space than it needs."""
    if resource is None:
        return
    permitted = resource.getrlimit(resource.RLIMIT_AS)[0]
    if permitted != resource.RLIM_INFINITY and permitted < _NEEDED_MB << 20:
        raise UserError(
            f"`ulimit -v` permits {permitted >> 20:,} MiB of address space, and asara needs "
            f"{_NEEDED_MB:,}; raise it in this shell by `sudo prlimit --pid $$ --as=unlimited`"
        )
