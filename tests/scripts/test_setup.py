"""Setting up `.venv`: when it is made again, and what is said if that fails."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout without packages, in a path with a space and a quote."""
    folder = tmp_path / "it's a path"
    (folder / "scripts/lib").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/lib/setup.sh", folder / "scripts/lib")
    (folder / "pyproject.toml").touch()
    return folder


def set_up(checkout: Path, install: str = "true") -> "subprocess.CompletedProcess[str]":
    script = f"""
        source scripts/lib/setup.sh
        install_packages() {{ {install}; }}
        compile_bytecode() {{ true; }}
        setup dev
    """
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_an_environment_is_made_once_wherever_the_checkout_is(checkout: Path) -> None:
    assert set_up(checkout).stdout.startswith("Setting up .venv")
    assert set_up(checkout).stdout == ""


@pytest.mark.long
@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("ERROR: No matching distribution found for hatchling", "PIP_NO_INDEX=1 PIP_FIND_LINKS="),
        ("OSError: [Errno 28] No space left on device", "Free space here: "),
    ],
)
def test_a_failed_installation_says_what_is_needed(checkout: Path, printed: str, said: str) -> None:
    done = set_up(checkout, f"echo '{printed}'; return 1")
    assert done.returncode == 1
    assert said in done.stderr
    assert printed in (checkout / ".venv/setup.log").read_text()
