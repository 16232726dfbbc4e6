"""Makes the standard streams usable for a command, whatever the machine provides.

A stream that was closed (`>&-`) is None in Python, and the next opened file takes its number. An
encoding that lacks a printed character would end a command in the middle of a line.
"""

import codecs
import os
import sys
import unicodedata
from io import TextIOWrapper
from typing import Final

from asara_server.cli.errors import UserError
from asara_server.text import plain

_LOOK_ALIKES: Final = dict(
    zip(
        ["–", "−", "…", "×", "·", "µ", "Σ", "≤", "≥", "±", "¼", "½", "¾", "�"],
        ["-", "-", "...", "x", ".", "u", "sum", "<=", ">=", "+-", ".25", ".5", ".75", "?"],
        strict=True,
    )
)


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
    codecs.register_error("asara-signs", _replace_signs)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="asara-signs")


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an encoding lacks by similar ones, or else by a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    return "".join(map(_look_alike, signs)), error.end


def _look_alike(sign: str) -> str:
    shown = _LOOK_ALIKES.get(sign) or unicodedata.normalize("NFKD", plain(sign))
    return "".join(one for one in shown if one.isascii()) or "?"


def discard_output() -> None:
    """Discard standard output's buffer, because writing it at exit would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
