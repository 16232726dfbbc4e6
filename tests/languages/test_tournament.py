"""The starters of all languages and the bots behind the bridge play one sandboxed tournament."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from asara_server.tournament.standings.match_result import read_results
from tests.cli.command import asara_process
from tests.languages.kits import BRIDGES, KITS, Kit, build_starter, entry_of, missing
from tests.tournament.sample_bots import SEED
from tests.tournament.sandbox_config import sandbox_or_skip

CUP = f"""
title = "Every language"
seed = "{SEED}"
seats = [2, 3]
rules = ["basic", "pro+gifts+genie"]
blocks_per_entry = 1
blocks = "independent"
deals = "joint"
jobs = 2
clocks = {{ start_up_s = 120, time_bank_s = 600, reconnect_s = 60 }}
"""

LIMIT_S = 1_800
"""Seconds for a command."""

pytestmark = pytest.mark.languages


def ready(kit: Kit, report: Callable[[str], None]) -> bool:
    """Build the starter of a kit; return False, and say so, if its toolchain is missing."""
    if lacking := missing(kit):
        report(f"{kit.language} is left out: {lacking}")
        return False
    if kit not in BRIDGES:
        build_starter(kit)
    return True


def table(kit: Kit) -> str:
    """Return the `entries` table of a starter that lies built in its folder."""
    entry = entry_of(kit.starter_folder, kit.starter, built=True)
    lines = [
        "[[entries]]",
        f"name = {json.dumps(entry.name)}",
        f"directory = {json.dumps(str(kit.starter_folder))}",
        f"command = {json.dumps(list(entry.command))}",
        f"readable = {json.dumps([str(path) for path in entry.readable])}",
    ]
    return "\n".join(lines)


def test_all_languages_play_a_sound_tournament(
    tmp_path: Path, report: Callable[[str], None]
) -> None:
    sandbox_or_skip()
    asara = partial(asara_process, cwd=tmp_path, timeout_s=LIMIT_S)
    kits = [kit for kit in (*KITS, *BRIDGES) if ready(kit, report)]
    (tmp_path / "cup.toml").write_text("\n\n".join([CUP, *map(table, kits)]))
    words = ("tournament", "run", "cup.toml", "--out", "run", "--sandbox", "bubblewrap")
    done = asara(*words)
    assert done.returncode == 0, done.stderr
    results = list(read_results(tmp_path / "run/results.jsonl"))
    seats = [seat for result in results for seat in result.seats]
    assert {seat.entry for seat in seats} == {kit.starter for kit in kits}
    assert [seat for seat in seats if seat.termination.forfeit] == []
    audited = asara("audit", "run")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert f"Audited {len(results)} replays: {len(results)} passed, 0 failed." in audited.stdout
    report(f"tournament of {len(kits)} bots: {audited.stdout.splitlines()[-1]}")
