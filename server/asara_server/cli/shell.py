"""Makes the standard streams that a shell gives a command usable.

A stream that was closed (`>&-`) is None in Python, and the next opened file takes its number. An
encoding that lacks a printed character would end a command in the middle of a line.
"""

import os
import sys
from io import TextIOWrapper

from asara_server.user_error import UserError


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
