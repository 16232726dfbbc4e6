"""Advice for programs whose answers get stuck in their output buffer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

REMEDIES = {
    "awk": "call fflush() after print; mawk must also be started as `mawk -W interactive`",
    "jq": "start it as `jq --unbuffered`",
    "lua": 'begin with io.stdout:setvbuf("line")',
    "perl": "begin with $| = 1;",
    "php": "call fflush(STDOUT) after each line",
    "python": "call print(..., flush=True), or start it as `python -u`",
    "ruby": "begin with $stdout.sync = true",
    "sh": "printf and echo flush, but filters need an option: `jq --unbuffered`, `sed -u`, "
    "`grep --line-buffered`",
    "tclsh": "begin with fconfigure stdout -buffering line",
}
_OTHERS = {
    **dict.fromkeys(("bash", "dash", "ksh", "zsh"), "sh"),
    **dict.fromkeys(("gawk", "mawk"), "awk"),
    "pypy": "python",
}
_GENERAL = (
    "such as by fflush(stdout) in C or $| = 1 in Perl; "
    "some programs do it if they are started by `stdbuf -oL`"
)


def flush_advice(command: Sequence[str]) -> str:
    """Explain how to flush in a command's language, or give general advice if it is unknown."""
    for word in command[:2]:  # the second after `env`
        name = re.sub(r"[\d.]+$", "", PurePath(word).name)
        name = _OTHERS.get(name, name)
        if name in REMEDIES:
            return REMEDIES[name]
    return _GENERAL
