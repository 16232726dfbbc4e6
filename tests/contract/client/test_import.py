"""The import of the package, which every start of a bot waits for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("package", ["asara", "asara_server"])
def test_the_installed_grpc_knows_the_experiment_that_is_turned_off(package: str) -> None:
    """Otherwise the setting has no effect any more, and the line that makes it can go."""
    without = {name: os.environ[name] for name in os.environ if not name.startswith("GRPC_")}
    seen = {**without, "ASARA_ADDRESS": "unix:/tmp/socket", "GRPC_VERBOSITY": "ERROR"}
    program = f"import os, {package}, grpc; print(os.environ.get('GRPC_EXPERIMENTS'))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=seen, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("-event_engine_")
    assert done.stderr == ""


def test_a_bot_on_another_machine_keeps_what_grpc_does_by_itself() -> None:
    without = {name: os.environ[name] for name in os.environ if not name.startswith("GRPC_")}
    program = "import os, asara; print(*(name for name in os.environ if name.startswith('GRPC_')))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**without, "ASARA_ADDRESS": "referee.example:443"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "\n"


def test_every_public_name_exists() -> None:
    assert all(hasattr(asara, name) for name in asara.__all__)
    assert asara.format_action(asara.Action(decline=asara.Decline())) == "decline"
    assert not hasattr(asara, "format_actions")
