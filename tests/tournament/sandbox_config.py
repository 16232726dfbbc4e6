"""The sandbox of this machine for tests, which are skipped if bubblewrap cannot work at all."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.cgroups import Cgroups
from asara_server.tournament.sandbox.probe import find_sandbox
from asara_server.tournament.sandbox.resources import ReservedPaths

HOSTILE = Path(__file__).parent / "sandbox" / "hostile.py"
"""Program of the malicious bots."""


def sandbox_or_skip(hidden: tuple[Path, ...] = (), shared: tuple[Path, ...] = ()) -> Sandbox:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap (bwrap) is not on PATH")
    bare = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"]
    if subprocess.run(bare, check=False).returncode:
        pytest.skip("this user may not create user namespaces")
    if os.geteuid() == 0 and Cgroups.find() is None:
        pytest.skip("root cannot create control groups here")
    return find_sandbox(reserved=ReservedPaths(hidden, shared))


def living(mark: str) -> list[str]:
    """Return the processes of this machine with the mark as a word of their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if mark in words:
            found.append(path.parent.name)
    return found
