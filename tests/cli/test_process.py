"""A command in a new process has the same output and status as in the process of the tests."""

from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from tests.cli.command import asara, asara_process
from tests.match.playouts import random_replay
from tests.tournament.samples import mirrored, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with results and a replay."""
    run = write_run(tmp_path / "run", mirrored())
    key = SigningKey.new()
    (tmp_path / "referee.pub").write_bytes(key.public_pem)
    replay = random_replay(RULE_COMBINATIONS[0], 2, seed=1, replies=12)
    write_replay(tmp_path / "m.asara", replay, key)
    return run


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("status run --cross", 0),
        ("audit m.asara", 0),
        ("replay show m.asara", 0),
        ("report run", 0),
        ("status none", 2),
        ("tornament", 2),
    ],
)
def test_a_process_prints_and_ends_as_the_tests_see_it(run: Path, words: str, status: int) -> None:
    one, other = (way(*words.split(), cwd=run.parent) for way in (asara, asara_process))
    assert (one.returncode, one.stdout, one.stderr) == (
        other.returncode,
        other.stdout,
        other.stderr,
    )
    assert one.returncode == status
