"""The starters of all languages and the bots behind the bridge play one tournament in the sandbox.

The starters are copies that `asara new` makes, built as those of authors are.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import command_line, environment
from tests.languages.kits import KITS, ROOT, bot_file, missing
from tests.tournament.sandbox_config import sandbox_or_skip

BRIDGES = sorted(path.parent for path in (ROOT / "bots").glob("*-bridge/bot.toml"))
CUP = """
title = "Every language"
seats = [2, 3]
rule_sets = ["basic", "pro+gifts+genie"]
blocks_per_entry = 1
blocks = "independent"
deals = "joint"
entries_from = "submissions/*"
concurrency = 2
clocks = { start_up_s = 120, bank_s = 600, reconnect_s = 60 }
limits = { build_s = 1_800 }
"""

LIMIT_S = 3_600
"""Seconds for a command, of which the builds take nearly all."""

pytestmark = pytest.mark.languages


def asara(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line(*words),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def submit_all(folder: Path) -> list[str]:
    """Put a bot of each language and each bridge into a folder of its own; return the names."""
    for kit in KITS:
        if lacking := missing(kit):
            print(f"{kit.language} is left out: {lacking}")
        else:
            made = asara("new", kit.language, folder / f"{kit.language}-bot")
            assert made.returncode == 0, made.stderr
    for bridge in BRIDGES:
        interpreter = bot_file(bridge)["command"].split(" -- ")[1].split()[0]
        if shutil.which(interpreter) is None:
            print(f"{bridge.name} is left out: there is no {interpreter} on PATH")
        else:
            shutil.copytree(bridge, folder / bridge.name)
    return sorted(path.name for path in folder.iterdir())


def test_all_languages_play_a_sound_tournament(tmp_path: Path) -> None:
    sandbox_or_skip()
    assert len(BRIDGES) == 3
    (tmp_path / "submissions").mkdir()
    names = submit_all(tmp_path / "submissions")
    (tmp_path / "cup.toml").write_text(CUP)
    words = ("tournament", "run", "cup.toml", "--out", "run", "--sandbox", "bubblewrap")
    done = asara(*words, cwd=tmp_path)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    results = read_results(tmp_path / "run")
    seats = [seat for result in results for seat in result["seats"]]
    assert {seat["entry"] for seat in seats} == set(names)
    assert [seat for seat in seats if seat["termination"] != "completed"] == []
    audited = asara("audit", "run", cwd=tmp_path)
    print(audited.stdout)
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert f"audited {len(results)} replays: {len(results)} sound, 0 unsound" in audited.stdout


def read_results(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
