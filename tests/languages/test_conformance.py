"""Every kit passes all cases of `asara conformance`, with its starter as the program."""

import sys
from collections.abc import Callable

import pytest

from tests.languages.kits import Kit, build_starter, entry_of, every_kit, execute, require

pytestmark = pytest.mark.languages


@every_kit
def test_the_kit_passes_every_case(kit: Kit, report: Callable[[str], None]) -> None:
    require(kit)
    build_starter(kit)
    options = ("--level", "kit", "--known-failing", kit.folder / "known_failing.txt")
    command = (sys.executable, "-m", "asara_server.cli", "conformance", *options, "--")
    program = entry_of(kit.starter_folder, built=True).command  # the folder would be built again
    printed = execute(*command, *program, cwd=kit.starter_folder)
    report(f"{kit.language}: {printed.splitlines()[-1]}")


@every_kit
def test_no_case_is_known_to_fail(kit: Kit) -> None:
    lines = (kit.folder / "known_failing.txt").read_text().splitlines()
    assert [line for line in lines if line.strip() and not line.startswith("#")] == []
