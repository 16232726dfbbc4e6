import inspect
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from asara_server import tournament
from asara_server.tournament.sandbox.cgroups import WITHOUT_CGROUPS, Cgroups
from tests.cli.command import asara, on_terminal, refusal, started
from tests.events import EVENT_S, wait_until
from tests.sizes import others_long
from tests.tournament import sample_bots
from tests.tournament.sample_bots import HEADER, write_tournament
from tests.tournament.sandbox_config import sandbox_or_skip
from tests.tournament.worker_runs import until_stopping

GOOD = {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}


def test_the_plan_counts_blocks_and_matches_and_tells_their_balance(tmp_path: Path) -> None:
    header = HEADER.replace("seats = 2", "seats = [2, 3]").replace(
        '"basic"', '["basic", "pro+gifts"]'
    )
    file = write_tournament(
        tmp_path, {**GOOD, "cid": sample_bots.GOOD}, header + "rounds = 2\njobs = 2\n"
    )
    done = asara("tournament", "plan", file, status=0)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert done.stderr.endswith(f"which bots work: asara tournament check {file}\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("Cup: 3 entries, 36 matches, 2 at a time\n")
    assert " ".join(lines[1]) == "rules seats blocks matches blocks per entry blocks per pair"
    assert lines[2:7] == [
        ["basic", "2", "6", "12", "4", "2"],
        ["basic", "3", "2", "6", "2", "2"],
        ["pro+gifts", "2", "6", "12", "4", "2"],
        ["pro+gifts", "3", "2", "6", "2", "2"],
        ["all", "16", "36"],
    ]
    assert " ".join(done.stdout.splitlines()[-6:-4]) == (
        "In a block, the same entries play until each entry has played once in every seat, with a "
        "new deal each time."
    )
    assert done.stdout.splitlines()[-4].startswith("Expected duration: 7 s if bots need 1 ms ")
    assert "0.3 s to start a bot, and 1 ms per decision for the referee" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Maximum duration: ")


MIRRORED = (
    "A block repeats one deal with the same entries until each entry has played once in every "
    'seat. Such blocks are called "mirrored". "Duplicate" blocks (one deal at several tables) need '
    "at least 8 entries for 4 seats; there are only 5. The blocks are played together, in 4 legs; "
    "a leg consists of one match from every block. All bots restart between legs, so that they "
    "cannot remember a deal."
)
DUPLICATE = (
    "In each block, up to 2 tables with different entries play the same deal. Such blocks are "
    'called "duplicate", and are the default if there are enough entries.'
)


@pytest.mark.parametrize(("entries", "said"), [(5, MIRRORED), (8, DUPLICATE)])
def test_the_plan_explains_its_blocks(tmp_path: Path, entries: int, said: str) -> None:
    header = HEADER.replace("seats = 2", "seats = 4").replace('blocks = "independent"\n', "")
    header += "blocks_per_entry = 4\n" if entries > 5 else ""
    file = write_tournament(tmp_path, {f"bot{i}": "" for i in range(entries)}, header)
    assert said in " ".join(asara("tournament", "plan", file).stdout.split())


def test_without_control_groups_the_plan_says_what_is_not_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page about legs has the same sentence."""
    file = write_tournament(tmp_path, dict.fromkeys("abcde", ""), HEADER)
    monkeypatch.setattr(Cgroups, "find", lambda: None)
    said = " ".join(asara("tournament", "plan", file).stderr.split())
    page = Path(inspect.getfile(tournament)).with_name("README.md").read_text()
    assert WITHOUT_CGROUPS in said
    assert WITHOUT_CGROUPS in " ".join(page.split())


def test_the_plan_counts_the_pairs_of_one_team_which_never_meet(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, dict.fromkeys("abcde", ""), HEADER)
    for name in "ab":
        file.write_text(
            file.read_text().replace(f'name = "{name}"', f'name = "{name}"\nteam = "t"')
        )
    done = asara("tournament", "plan", file)
    assert done.stdout.splitlines()[0].startswith("Cup: 5 entries, 18 matches")
    assert done.stdout.splitlines()[2].split() == ["basic", "2", "9", "18", "3–4", "1"]
    assert (
        "1 team with several entries; 1 pair of team-mates never meet. "
        "`blocks per pair` counts only entries from different teams."
    ) in " ".join(done.stdout.split())


def test_more_matches_than_anybody_can_play_are_refused_before_they_are_listed(
    tmp_path: Path,
) -> None:
    programs = {f"bot{i}": "" for i in range(80)}
    file = write_tournament(tmp_path, programs, HEADER.replace("seats = 2", "seats = 4"))
    error = refusal("tournament", "run", file, "--out", tmp_path / "run")
    assert error == (
        "asara: cup.toml: 6,326,320 matches are too many (at most 1,000,000); "
        "set blocks_per_entry, or reduce rounds, rules or seats\n"
    )
    assert refusal("tournament", "plan", file) == error
    assert not (tmp_path / "run").exists()


def test_what_is_wrong_with_the_file_is_said_in_lines(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, GOOD, HEADER + "colour = 'red'\n")
    (tmp_path / "bob.py").unlink()
    (tmp_path / "rob.py").touch()
    assert refusal("tournament", "run", file, "--out", tmp_path / "run") == (
        f"asara: cup.toml: entry 2 'bob': command: no such file 'bob.py' in {tmp_path}; "
        "did you mean 'rob.py'?\n"
        "asara: cup.toml: colour: unknown setting; the settings here are title, seats, rules, "
        "rounds, orders, blocks_per_entry, until, places, seed, jobs, deals, ponder, transport, "
        "clocks, limits, "
        "remote, entries_from, entries, tables, blocks, process_per\n"
    )


@pytest.mark.long
def test_a_terminal_shows_the_scores_while_a_run_goes_on(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, GOOD, HEADER + "rounds = 6\n")
    shown = on_terminal("tournament", "run", file, "--out", tmp_path / "run")
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert re.search(r"# +entry +score so far +matches\s+1 +(ann|bob) +[01]\.\d{3} +\d+", text)


def test_without_a_sandbox_that_works_bots_are_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_tournament(tmp_path, GOOD)
    words = ("tournament", "run", file, "--out", tmp_path / "run")
    assert "--sandbox: " in refusal(*words, "--sandbox", "docker")
    monkeypatch.setenv("ASARA_SANDBOX", "bubblewrap")
    prlimit = shutil.which("prlimit") or "/usr/bin/prlimit"
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    use_none = "use --sandbox none to run bots unconfined, with your permissions\n"
    error = refusal(*words)
    if sys.platform != "linux":
        assert error == f"asara: --sandbox bubblewrap: the sandbox needs Linux; {use_none}"
        return
    assert error.startswith(
        "asara: --sandbox bubblewrap: bubblewrap (bwrap) is not on PATH; install it ("
    )
    assert error.endswith(use_none)
    (tools / "bwrap").write_text(
        "#!/bin/sh\necho bwrap: Unknown option --disable-userns >&2\nexit 1"
    )
    (tools / "bwrap").chmod(0o755)
    assert "prlimit is not on PATH; install util-linux" in refusal(*words)
    (tools / "prlimit").symlink_to(prlimit)
    error = refusal(*words)
    assert "bubblewrap 0.8 or newer is needed" in error or "run asara as an ordinary user" in error
    assert error.endswith(use_none)
    assert not (tmp_path / "run").exists()
    assert refusal("match", "random", "random") == error


def test_a_sandbox_has_no_network_for_bots_that_need_tcp(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, GOOD, HEADER + 'transport = "tcp"\n')
    words = ("tournament", "run", file, "--out", tmp_path / "run")
    assert refusal(*words, "--sandbox", "bubblewrap") == (
        'asara: transport = "tcp" does not work in the sandbox, which has no network; '
        "remove it, or use --sandbox none to run bots unconfined, with your permissions\n"
    )
    assert not (tmp_path / "run").exists()


def processes_of(folder: Path) -> str:
    """Return the processes whose command lines name this folder."""
    found = subprocess.run(
        ["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False
    )
    return found.stdout


@pytest.mark.parametrize("number", others_long([signal.SIGINT, signal.SIGTERM], 2))
def test_a_signal_ends_a_run_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    file = write_tournament(tmp_path, GOOD, HEADER + "rounds = 1000\njobs = 1\n")
    out = tmp_path / "run"
    with started("tournament", "run", file, "--out", out) as process:
        results = out / "results.jsonl"
        wait_until("a result", results.read_text)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 128 + number
        assert "Traceback" not in stderr
        assert "Stopping" in stderr
        standings = json.loads((out / "standings.json").read_text())
        assert standings["complete"] is False
        assert standings["matches"]["played"] == len(results.read_text().splitlines())
        assert "cut in year" in stderr
        assert "\nA match that was cut has no replay, and does not count.\n" in stderr
        assert "Tournament secret" not in stderr  # its deals are still to be played
        assert stdout.startswith(f"Cup: {standings['matches']['played']} of 2,000 matches\n")
        assert processes_of(tmp_path) == ""


@pytest.mark.long
def test_a_second_signal_does_not_wait_for_anybody(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"ann": sample_bots.MUTE, "bob": sample_bots.MUTE}, tables="")
    out = tmp_path / "run"
    with started("tournament", "run", file, "--out", out) as process:
        log = out / "run.log"
        wait_until("a match", lambda: "match started" in log.read_text())
        process.send_signal(signal.SIGINT)
        until_stopping(process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=EVENT_S)
        assert process.returncode == 130
        assert stderr.splitlines()[-1] == (
            "asara: stopped immediately; the standings contain the finished matches"
        )
        assert "Traceback" not in stderr
        assert json.loads((out / "standings.json").read_text())["matches"]["played"] == 0
        assert processes_of(tmp_path) == ""


@pytest.mark.long
def test_living_bots_of_another_run_are_told_of_before_the_first_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-c", "input()", "--out", "runs/other cup"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as other:
        monkeypatch.setattr("asara_server.cli.sessions.run.owner_of_others", lambda: other.pid)
        file = write_tournament(tmp_path, GOOD, HEADER.replace("independent", "mirrored"))
        done = asara("tournament", "run", file, "--out", tmp_path / "run", status=0)
        other.communicate(b"\n")
    assert f"\nBots of another run ({shlex.join(words)}) are alive on this machine" in done.stderr


def test_entries_that_are_too_large_are_named_before_the_first_match(tmp_path: Path) -> None:
    text = HEADER + "[limits]\ndirectory_mib = 2\n"
    for name, build in (("small", ""), ("large", ""), ("built", 'build = "make"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(sample_bots.GOOD)
        (tmp_path / name / "weights").write_bytes(bytes(1000 if name == "small" else 3 << 20))
        text += f'[[entries]]\nname = "{name}"\ndirectory = "{name}"\n{build}'
        text += 'command = "python main.py"\n'
    file = tmp_path / "cup.toml"
    file.write_text(text)
    done = asara("tournament", "plan", file, status=0)
    told = "will be out in the sandbox: its folder contains more than 2 MiB (limits.directory_mib)"
    assert done.stderr.startswith(f"large {told}")
    assert done.stderr.count("will be out") == 1
    sandbox_or_skip()
    options = ("--out", tmp_path / "run", "--key", tmp_path / "referee.key", "--prepare")
    done = asara("tournament", "run", file, *options, "--sandbox", "bubblewrap", status=0)
    assert f"large {told}" in done.stderr
