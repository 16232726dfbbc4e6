"""The search bot in Go plays through the sidecar, in the sandbox, as a tournament would play it."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.command import asara_process
from tests.languages.kits import Kit, build_starter, require
from tests.tournament.sample_bots import SEED
from tests.tournament.sandbox_config import sandbox_or_skip

pytestmark = pytest.mark.languages

BOT = Kit("go", "go-search", ("go",))
CLOCKS = ("--clock", "3600", "--start-up", "120")
_LONGEST_S = 3_600


def test_it_has_less_than_a_hundred_lines() -> None:
    assert len((BOT.starter_folder / "main.go").read_text().splitlines()) < 100


def test_it_plays_in_a_tournament_and_is_checked(tmp_path: Path) -> None:
    """One process of the bot plays several matches, one after the other."""
    require(BOT)
    sandbox_or_skip()
    build_starter(BOT)
    asara = partial(asara_process, cwd=tmp_path, timeout_s=_LONGEST_S)
    random = json.dumps(str(BOT.starter_folder.with_name("random")))
    (tmp_path / "cup.toml").write_text(
        f"""
title = "Search"
seed = "{SEED}"
seats = 2
rules = ["basic", "pro+gifts+genie"]
blocks_per_entry = 1
clocks = {{ start_up_s = 120, time_bank_s = 3600 }}

[[entries]]
name = "go-search"
directory = {json.dumps(str(BOT.starter_folder))}
command = "./go-search -playouts 20"

[[entries]]
name = "random"
directory = {random}
"""
    )
    played = asara("tournament", "run", "cup.toml", "--out", "run", "--sandbox", "bubblewrap")
    assert played.returncode == 0, played.stderr
    lines = (tmp_path / "run/results.jsonl").read_text().splitlines()
    seats = [seat for line in lines for seat in json.loads(line)["seats"]]
    assert {seat["termination"] for seat in seats} == {"completed"}
    own = [seat for seat in seats if seat["entry"] == BOT.starter]
    assert len(own) >= 4  # both seats, both rule sets
    assert sum(seat["rank"] == 1 for seat in own) > 0.8 * len(own)
    options = ("--sandbox", "bubblewrap", *CLOCKS, "--json", tmp_path / "found.json")
    program = "./go-search -playouts 1"  # the folder would be built again
    checked = asara("check", program, *options, cwd=BOT.starter_folder)
    assert (tmp_path / "found.json").exists(), checked.stdout + checked.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["verdict"] in {"works", "slow"}, checked.stdout  # by how busy the machine is
    assert found["rejections"] == []
