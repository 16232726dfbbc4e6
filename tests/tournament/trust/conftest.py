"""Fixtures of the tests that forge a run."""

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from tests.tournament.played_runs import (
    HEADER,
    KEY,
    OTHER_SEED,
    play_run,
)
from tests.tournament.sample_bots import SEED
from tests.tournament.trust.forged_runs import AGAIN, Played


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("cup")
    run = play_run(folder, void=[AGAIN])
    play_run(folder, HEADER.replace(SEED, OTHER_SEED), run="other-run")
    key = folder / "key.pub"
    key.write_bytes(KEY.public_pem)
    digest = sha256((run / "manifest.json").read_bytes()).hexdigest()
    return Played(run, key, digest)


@pytest.fixture
def run(played: Played, tmp_path: Path) -> Path:
    """A copy of the run, beside another run of the same tournament and the same key."""
    (tmp_path / "other-run").symlink_to(played.run.parent / "other-run")
    return Path(shutil.copytree(played.run, tmp_path / "run"))
