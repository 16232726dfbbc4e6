"""The bots behind `asara bridge` pass what the starters of all languages pass."""

import sys
from pathlib import Path

import pytest

from asara_server.event_loop import run
from tests.golden.random_moves import MATCHES
from tests.languages.kits import BRIDGES, ROOT, Kit, execute, require
from tests.languages.test_same_moves import GOLDEN, golden_row, play

pytestmark = pytest.mark.languages

every_bridge = pytest.mark.parametrize("kit", BRIDGES, ids=lambda kit: kit.language)


@every_bridge
def test_the_bot_plays_the_golden_moves(kit: Kit, tmp_path: Path) -> None:
    require(kit)
    played = run(play(kit, tmp_path))
    assert [golden_row(played[match.match_id], match) for match in MATCHES] == GOLDEN


def test_the_bridge_passes_every_case_of_the_conformance() -> None:
    kit = BRIDGES[1]  # one is enough: the connection is the bridge's own
    require(kit)
    command = ("conformance", "--level", "kit", kit.starter_folder)
    execute(sys.executable, "-m", "asara_server.cli", *command, cwd=ROOT)
