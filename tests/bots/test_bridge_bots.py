"""The bots behind `asara bridge` play in the sandbox."""

import shutil

import pytest

from asara_server import bundled
from tests.cli.command import asara
from tests.tournament.sandbox_config import sandbox_or_skip

BOTS = {"shell-bridge": "jq", "perl-bridge": "perl", "tcl-bridge": "tclsh"}
"""Programs that the bots need, besides those of every system."""


@pytest.mark.long
def test_they_play_a_match_in_the_sandbox() -> None:
    sandbox_or_skip()
    bots = [name for name, needed in BOTS.items() if shutil.which(needed)]
    if len(bots) < 2:
        pytest.skip(f"fewer than two of {', '.join(BOTS.values())} are installed")
    done = asara("match", *bots, "--rules", "pro+gifts+genie", "--sandbox", "bubblewrap")
    assert done.returncode == 0, done.stderr
    assert "forfeit" not in done.stdout + done.stderr
    assert all(name in done.stdout for name in bots)


def test_there_are_no_others() -> None:
    folders = bundled.path("bots").glob("*-bridge")
    assert {folder.name for folder in folders} == set(BOTS)
