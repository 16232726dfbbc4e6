"""Words that make no sense: each command refuses them in one line, before it does anything."""

import shlex
from pathlib import Path

import pytest

from tests.cli.command import refusal
from tests.tournament import sample_bots
from tests.tournament.sample_bots import HEADER, write_tournament

NO_RUN = (
    "not the folder of a run; pass the folder that you gave to --out when you started the run\n"
)
REFUSALS = {
    "match random random": {
        "--rules genie": "--rules genie: rule set 'genie' needs 'pro'; write 'pro+genie'\n",
        "--clock -3": "--clock: ",
        "--matches 0": "--matches: ",
        "random random random": "a match needs 2 to 4 bots, not 5",
    },
    "match": {
        "anne.py random": "did you mean 'ann.py'?",
        "bots/mine.py random": "there is no folder ",
        "'python no.py' random": "bot 'python no.py': no such file 'no.py'",
        "'python3.99 ann.py' random": "no program 'python3.99' on PATH; 'python' is Python 3.",
        ". random": "pass the bot's file",
        "cup.toml random": "to play it: asara tournament run cup.toml --out run\n",
        "random": "a match needs 2 to 4 bots, not 1; add an opponent",
        "~nobody-here/bot.py random": "~nobody-here names a user who does not exist",
    },
    "new": {
        "pyton mine": "unknown language 'pyton'; did you mean 'python'?\n",
        "cobol mine": "choose from python, go",
        "php mine": "asara bridge",
    },
    "proto": {"cup.toml": "cup.toml: is a file; choose another folder"},
    "duel random greedy": {
        **dict.fromkeys(
            (f"--margin {bad}" for bad in ("nan", "inf", "0", "-1", "0.7")),
            "--margin: must be 0.001 to 0.",
        ),
        "--margin much": "--margin: must be a number",
        **dict.fromkeys(
            (f"--max-blocks {bad}" for bad in ("0", "-3", "1.5", "many", "100001")), "--max-blocks"
        ),
        "--out .": "is not empty",
    },
    "duel": {"randon greedy": "did you mean 'random'?"},
    "check": {
        "gredy": "bot 'gredy': no such file",
        "random --json nowhere/x": "--json nowhere/x: the folder ",
        "random --out cup.toml": "--out cup.toml: is a file",
        "random --clock 0": "--clock",
        "random --readable /gone": "--readable /gone: no such file or folder",
    },
    "play --no-browser --sandbox none": {
        "random random random --people 2": "need more than 4 seats; pass fewer",
        "random random random random": "1 person and 4 bots need more than 4 seats",
        "--listen 0.0.0.0:0": "--listen: address '0.0.0.0:0' (0.0.0.0) can be reached",
        "random --level 3": "--level 3: leave it out, because you chose your opponents",
        "--people 4 --level 1": "4 people and 1 bot need more",
    },
    "tournament run cup.toml": {
        "--out .": "is not empty; choose a folder that is new or empty",
        "--out cup.toml": "is a file",
    },
    "tournament run cup.toml --out run": {
        "--prepare --resume": "use only one of them",
        "--dask x:1 --workers 2": (
            "--workers is for this machine and --dask for a cluster; use one\n"
        ),
        "--workers 2 -j 2": "--jobs is for a single referee; with --workers, remove it\n",
        "--dask x:1 --metrics 127.0.0.1:0": (
            "--metrics covers a single referee, but with --dask every worker has its own; remove "
            "one of the two options\n"
        ),
    },
    "tournament check cup.toml": {
        "--remote": "--remote waits for entries on other machines, and cup.toml has none\n"
    },
    "web": {
        "--listen 8080": "write host:port",
        "--listen 0.0.0.0:0": "--insecure-remote",
        "--listen 127.0.0.1:99999": "at most 65535",
        "nothing": "no such folder",
        "--embed javascript:x": "write an origin",
    },
    "status": {".": NO_RUN, "none": NO_RUN},
    "report": {".": NO_RUN},
    "bundle": {".": NO_RUN},
    "token": {
        "revoke ann --file none": (
            "none: the token 'ann' does not exist; `asara token list` shows all tokens\n"
        ),
        "new ann --file cup.toml": "cup.toml: is not a token file (",
        "list --file cup.toml": "cup.toml: is not a token file (",
    },
    "conformance": {
        "": "pass the bot to test: its folder, or its command after --",
        "-- no-such-program": "bot 'no-such-program': no such file, command",
        "-- python no_such_bot.py": "bot 'python no_such_bot.py': no such file",
        "-- ./bot.sh": "bot.sh' is not executable; make it so with chmod +x, or put",
        ".": "bot '.': the folder has no bot.toml, main.py or main.go",
        "--case tsl -- true": "--case tsl: no case has such a name; see --list",
        "--case '' -- true": "--case '': no case has such a name; see --list",
        "--case published-rule --level protocol -- true": "--level and --case leave no case",
        "--known-failing none.txt -- true": "--known-failing none.txt: No such file",
        "--known-failing bad.txt -- true": "bad.txt: line 1: there is no case 'tsl'",
        "--known-failing bytes.txt -- true": "bytes.txt: is not a text in UTF-8",
        "--junit none/x.xml -- true": "--junit none/x.xml: the folder",
        "--junit . -- true": "--junit .: is a folder",
    },
}


@pytest.mark.parametrize("command", REFUSALS)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path, command: str) -> None:
    bots = dict.fromkeys(("ann", "bob"), sample_bots.GOOD)
    write_tournament(tmp_path, bots, HEADER).chmod(0o600)
    (tmp_path / "bot.sh").touch(0o644)
    (tmp_path / "bad.txt").write_text("tsl\n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\n")
    (tmp_path / ".none.lock").touch()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for words, said in REFUSALS[command].items():
        error = refusal(*command.split(), *shlex.split(words), cwd=tmp_path)
        assert error.startswith("asara: "), words
        assert said in error, words
        assert error.count("\n") == 1, words
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, words
