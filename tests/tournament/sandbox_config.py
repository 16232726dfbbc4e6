"""The sandbox of this machine, for tests; skipped only where bubblewrap cannot work at all."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from asara_server.tournament.sandbox.bubblewrap import Sandbox, find_sandbox
from asara_server.tournament.sandbox.cgroups import Cgroups

HOSTILE = Path(__file__).parent / "sandbox" / "hostile"
"""Programs of bots that mean harm."""


def sandbox_or_skip(secret: tuple[Path, ...] = (), shared: tuple[Path, ...] = ()) -> Sandbox:
    if shutil.which("bwrap") is None:
        pytest.skip("there is no bubblewrap (bwrap) on PATH")
    bare = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"]
    if subprocess.run(bare, check=False).returncode:
        pytest.skip("this user may not make user name spaces")
    if os.geteuid() == 0 and Cgroups.find() is None:
        pytest.skip("root cannot make control groups here")
    return find_sandbox(secret=secret, shared=shared)


def living(mark: str) -> list[str]:
    """Processes of this machine whose command line has the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if mark in words:
            found.append(path.parent.name)
    return found
