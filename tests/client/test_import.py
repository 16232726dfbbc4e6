"""The import of the package, which every start of a bot waits for."""

from __future__ import annotations

import subprocess
import sys

import asara

SELDOM_USED = {
    "asara.text",
    "asara.transport",
    "hmac",
    "pathlib",
    "platform",
    "queue",
    "random",
    "secrets",
    "sysconfig",
    "urllib.parse",
}


def test_what_few_bots_use_is_imported_when_it_is_used() -> None:
    # without site-packages' own start-up files, some of which import pathlib
    program = f"import sys; sys.path[:0] = {sys.path!r}; import asara; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert not SELDOM_USED & set(done.stdout.split())


def test_every_public_name_exists() -> None:
    assert all(hasattr(asara, name) for name in asara.__all__)
    assert asara.format_action(asara.Action(decline=asara.Decline())) == "decline"
    assert not hasattr(asara, "format_actions")
