"""The Rust kit is packaged, and a fresh project away from the checkout uses the package."""

import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from tests.languages.kits import KITS, ROOT, execute, require

pytestmark = pytest.mark.languages

KIT = next(kit for kit in KITS if kit.language == "rust")
_TARGET = ROOT / ".venv" / "rust-target"
"""Compiled crates, which scripts/lib/test_rust.sh has left there."""

_ENVIRONMENT = {"CARGO_TARGET_DIR": str(_TARGET)}

MANIFEST = """\
[package]
name = "mine"
version = "0.1.0"
edition = "2021"

[dependencies]
asara = {{ path = "{package}" }}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The unpacked package of the kit, as cargo downloads it."""
    require(KIT)
    # The tests of the kit build it; --no-verify leaves out a second time.
    command = ("cargo", "package", "--quiet", "--locked", "--allow-dirty", "--no-verify")
    for old in (_TARGET / "package").glob("asara-*.crate"):
        old.unlink()
    execute(*command, cwd=KIT.folder, environment=_ENVIRONMENT)
    (archive,) = (_TARGET / "package").glob("asara-*.crate")
    with tarfile.open(archive) as crate:
        crate.extractall(tmp_path, filter="data")
    return tmp_path / archive.stem


def test_a_fresh_project_plays_with_the_package(package: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(KIT.starter_folder / "src", mine / "src")
    (mine / "Cargo.toml").write_text(MANIFEST.format(package=package))
    shutil.copy(package / "Cargo.lock", mine)  # the versions that are compiled already
    execute("cargo", "build", "--quiet", cwd=mine, environment=_ENVIRONMENT)
    match = [sys.executable, "-m", "asara_server.cli", "match", "--sandbox", "none"]
    played = execute(*match, str(_TARGET / "debug" / "mine"), "random", cwd=mine)
    assert "mine" in played
    assert "forfeit" not in played
