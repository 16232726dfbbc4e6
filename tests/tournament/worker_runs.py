"""Runs that workers play, and what is compared of them."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from asara_server.eventlog.resimulate import resimulated_steps
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.standings.match_result import read_results
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament

#: Kills who started it, in one block.
KILLS_ITS_WORKER = """
import os, signal
import asara
def decide(decision, match):
    if match.match_id.startswith("r1-basic-0002"):
        os.kill(os.getppid(), signal.SIGKILL)
    return decision.legal_actions[0]
asara.run(decide)
"""

HEADER = """
title = "Cup"
seats = 2
rule_sets = "basic"
seed = "spring"
concurrency = 2
"""

#: Nobody's clock runs out, however busy the machine is.
PATIENT = """
[clocks]
start_up_s = 300
bank_s = 3_600
reconnect_s = 300
"""


def played_cup(folder: Path) -> Path:
    """This folder, with a tournament and the run of it that a referee in one process played."""
    file = write_tournament(folder, {"ann": STEADY, "bob": STEADY, "cid": STEADY}, HEADER, PATIENT)
    play(file, folder / "local")
    return folder


def outcome(run: Path) -> tuple[list[dict[str, Any]], dict[str, list[Any]], bytes]:
    """Results without times, what was played by match, and the standings.

    Every replay holds to the last byte.
    """
    results = sorted(
        (
            result.model_dump(exclude={"started", "seconds"})
            for result in read_results(run / "results.jsonl")
        ),
        key=lambda result: (result["match_id"], result["attempt"]),
    )
    played = {}
    for path in (run / "replays").iterdir():
        replay = read_replay(path)
        list(resimulated_steps(replay))
        replies = [record for record in replay.records if isinstance(record, ReplyRecord)]
        played[path.name] = [(reply.seat, reply.actions) for reply in replies]
    return results, played, (run / "standings.json").read_bytes()


def slow(file: Path, pause_s: float = 0.01) -> Path:
    """The same tournament, of bots that pause before every decision."""
    setting = f'environment = {{ PAUSE_S = "{pause_s}" }}\n'
    text = file.read_text().replace("[[entries]]\n", f"[[entries]]\n{setting}")
    path = file.with_name(f"slow-{file.name}")
    path.write_text(text)
    return path


def living_in(folder: Path) -> list[int]:
    """Processes that work in a folder, which is where bots are started."""
    return [pid for pid in _processes() if _link(pid) == folder]


def children(pid: int, mark: str) -> list[int]:
    """Those of a process whose command line has the mark."""
    found = []
    for other in _processes():
        try:
            parent = int(Path(f"/proc/{other}/stat").read_text().rpartition(")")[2].split()[1])
            words = Path(f"/proc/{other}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if parent == pid and mark in words:
            found.append(other)
    return found


def wait_until(what: str, holds: Any, most_s: float = 120.0) -> Any:
    """Until this gives something true; which is returned."""
    deadline = time.monotonic() + most_s
    while not (found := holds()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.05)
    return found


def wait_until_gone(pids: Iterable[int], folder: Path) -> None:
    """No bot of the folder is left, and none of these processes."""
    known = set(pids)
    wait_until(
        "no process is left",
        lambda: not living_in(folder) and not known & set(_processes()),
    )


def interrupt_group(process: "subprocess.Popen[str]") -> None:
    """What Ctrl-C in a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def _processes() -> list[int]:
    """Those that are not only waited for."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _link(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None
