"""Every kit passes all cases of `asara conformance`, with its starter as the program."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.languages.kits import Kit, build_starter, every_kit, require

pytestmark = pytest.mark.languages


@every_kit
def test_the_kit_passes_every_case(kit: Kit, report: Callable[[str], None]) -> None:
    require(kit)
    build_starter(kit)
    known_failing = kit.folder / "known_failing.txt"
    command = [
        "conformance",
        "--level",
        "kit",
        "--known-failing",
        str(known_failing),
        str(kit.starter_folder),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "asara_server.cli", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{kit.language}:\n{done.stdout}"
    report(f"{kit.language}: {done.stdout.splitlines()[-1]}")


@every_kit
def test_no_case_is_known_to_fail(kit: Kit) -> None:
    lines = (kit.folder / "known_failing.txt").read_text().splitlines()
    assert [line for line in lines if line.strip() and not line.startswith("#")] == []
