"""Runs that workers play, and how they are compared."""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from asara_server.journal.resimulate import resimulated_steps
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.schedule.schedule import planned_matches
from tests.cli.command import command_line, environment
from tests.events import wait_until
from tests.tournament.processes import children, living_in, running_processes
from tests.tournament.runs import play
from tests.tournament.sample_bots import SEED, STEADY, write_tournament
from tests.tournament.samples import read_results

KILLS_ITS_WORKER = """
import os, signal
import asara
def decide(decision, match):
    if match.match_id.startswith("r1-basic-0002"):
        os.kill(os.getppid(), signal.SIGKILL)
    return decision.legal_actions[0]
asara.run(decide)
"""
"""A bot that kills the process that started it, in one block."""

HEADER = f"""
title = "Cup"
seats = 2
rules = "basic"
seed = "{SEED}"
jobs = 2
"""

PATIENT = """
[clocks]
start_up_s = 300
time_bank_s = 3_600
reconnect_s = 300
"""
"""Clocks that never run out, however busy the machine is."""


def played_cup(folder: Path) -> Path:
    """This folder, with a tournament, and its run as played by a referee in one process."""
    file = write_tournament(folder, {"ann": STEADY, "bob": STEADY, "cid": STEADY}, HEADER, PATIENT)
    play(file, folder / "local")
    return folder


def outcome(run: Path) -> tuple[list[dict[str, Any]], dict[str, list[Any]], bytes]:
    """Results without times and losses, the actions of each match, and the standings."""
    results = sorted(
        (
            asdict(replace(result, started="", seconds=0.0, lost=(), replay_sha256=""))
            for result in read_results(run / "results.jsonl")
        ),
        key=lambda result: (result["match_id"], result["attempt"]),
    )
    return results, played_actions(run), (run / "standings.json").read_bytes()


def played_actions(run: Path) -> dict[str, list[Any]]:
    """Actions by match. Checks that every replay can be repeated to the last byte."""
    played = {}
    for path in (run / "replays").iterdir():
        replay = read_replay(path)
        list(resimulated_steps(replay))
        replies = [record for record in replay.records if isinstance(record, ReplyRecord)]
        played[path.name] = [(reply.seat, reply.actions) for reply in replies]
    return played


def start(file: Path, out: Path, *options: str, **more: Any) -> "subprocess.Popen[str]":
    """Start the command that plays a tournament; `more` are settings of the process."""
    own = ("--out", out, "--key", out.parent / "key")
    return subprocess.Popen(
        command_line("tournament", "run", file, *own, *options),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **more,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """Wait for the end of a run, which must succeed; return what it printed."""
    _, stderr = process.communicate(timeout=900)
    assert process.returncode == 0, stderr
    return stderr


def until_stopping(process: "subprocess.Popen[str]") -> str:
    """Read what a run prints up to the line in which it says that it stops, and return that."""
    assert process.stderr
    line = ""
    while not line.startswith("Stopping"):
        line = process.stderr.readline()
        assert line, "it ended"
    return line


def slow(file: Path, pause_s: float = 0.004, held: str = "none", gate: Path = Path("/")) -> Path:
    """The same tournament with bots that pause before every decision.

    Matches whose names begin with `held` stop at a sixth decision until the file `gate` exists.
    """
    setting = f'environment = {{ PAUSE_S = "{pause_s}", HELD = "{held}", GATE = "{gate}" }}\n'
    text = file.read_text().replace("[[entries]]\n", f"[[entries]]\n{setting}")
    path = file.with_name(f"slow-{file.name}")
    path.write_text(text)
    return path


def sixth_decisions(run: Path) -> Counter[str]:
    """How often the bots of a slow run came to their sixth decision, by the name of the match.

    Whoever has come to it sees the consequences of decisions that are in the journal.
    """
    found: Counter[str] = Counter()
    for path in (run / "logs").glob("*/*.log"):
        found[path.parent.name] += path.read_text().count("sixth decision")
    return found


def last_match(file: Path) -> str:
    """The match that a tournament plays last."""
    return planned_matches(load_tournament(file))[-1].match_id


def playing(workers: Iterable[int], folder: Path) -> list[int]:
    """Those of the worker processes that have a bot of the folder."""
    bots = set(living_in(folder))
    return [pid for pid in workers if bots & set(children(pid, "python"))]


def wait_until_gone(pids: Iterable[int], folder: Path) -> None:
    """Wait until no bot of the folder is left, and none of these processes."""
    known = set(pids)
    wait_until(
        "no process is left",
        lambda: not living_in(folder) and not known & set(running_processes()),
    )


def interrupt_group(process: "subprocess.Popen[str]") -> None:
    """Send the signal that Ctrl-C in a terminal sends."""
    os.killpg(process.pid, signal.SIGINT)
