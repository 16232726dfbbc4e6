"""Until a registry has the package, nothing tells anybody to install it from one."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from asara.installing import REQUIREMENT, install_command
from tests.docs.documents import ROOT

NAMES_THE_PACKAGE = re.compile(
    r"pip install [^`\n]*?(?P<what>['\"]?(?<![\w./-])asara\b[^`'\"\s]*+)(?! @ )"
)
TEXTS = ("*.md", "*.in", "*.py", "*.sh", "*.toml", "*.yml", "*.yaml")


def texts() -> list[Path]:
    command = ["git", "ls-files", "-z", "--", *TEXTS, ":!tests", ":!CHANGELOG.md"]
    listed = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def from_registry(text: str) -> list[str]:
    """Return what a text lets pip install from a registry under the name of this package."""
    return [match["what"] for match in NAMES_THE_PACKAGE.finditer(text)]


@pytest.mark.skipif(REQUIREMENT == "asara", reason="a registry has the package")
def test_no_text_installs_the_package_from_a_registry() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in texts()
        if (names := from_registry(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_a_message_names_the_checkout_that_is_installed() -> None:
    assert install_command("web") == f"pip install -e {shlex.quote(f'{ROOT}[web]')}"
