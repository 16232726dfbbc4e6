"""One tournament of Python bots, played by `asara tournament run`, and its measurements."""

import json
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.tournament.run.costs import RunCosts
from scripts.benchmark.figures import BenchError
from scripts.benchmark.processor_time import run

BOT: Final = Path(__file__).parents[3] / "bots" / "random"
_TIMEOUT_S: Final = 300.0

_FILE: Final = """
title = "bench"
seats = 2
rules = "basic"
seed = "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549"
rounds = {rounds}
blocks = "{blocks}"
process_per = "{processes}"
{concurrency}
{entries}
"""

_ENTRY: Final = """
[[entries]]
name = "{name}"
directory = {directory}
command = {command}
"""

_SLOW_BOT: Final = """
import sys, time
time.sleep(float(sys.argv[1]))
import asara
thought_s = float(sys.argv[2])
def decide(decision, match):
    end = time.thread_time() + thought_s
    while time.thread_time() < end:
        pass
    return match.random_action(decision)
asara.run(decide, max_matches=16)
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A tournament to play."""

    name: str
    matches: int
    """A multiple of the matches per round; in one round, each pair of entries plays twice."""
    entries: int = 2
    blocks: str = "mirrored"
    processes: str = "run"
    contained: bool = True
    concurrency: int | None = None
    """Matches played in parallel; None if the tournament file does not set it."""
    start_s: float = 0.0
    """Seconds that a bot sleeps before it connects."""
    thought_s: float = 0.0
    """Processor seconds that a bot uses per decision, in addition to its random choice."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """The measurements of a job that was played."""

    matches: int
    decisions: int
    seconds: float
    """Seconds from start to end of the run, as recorded in `run.json`."""
    between_s: float
    """Seconds from the end of the first match to the end of the last match."""
    cpu_s: float
    """Processor seconds of the command and all of its descendants."""
    costs: RunCosts
    """The processor time that the run itself has recorded."""

    @property
    def matches_per_s(self) -> float:
        return self.matches / self.seconds

    @property
    def decisions_per_s(self) -> float:
        return self.decisions / self.seconds

    @property
    def match_ms(self) -> float:
        """Processor milliseconds per match."""
        return self.cpu_s / self.matches * 1e3

    @property
    def decision_us(self) -> float:
        """Processor microseconds per decision."""
        return self.cpu_s / self.decisions * 1e6


def play(job: Job, replays: Path | None = None) -> JobRun:
    """Play a job. If `replays` is given, move the replays to this new folder."""
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as name:
        folder = Path(name)
        file = folder / "bench.toml"
        file.write_text(_tournament(job, folder), encoding="utf-8")
        directory = folder / "run"
        usage = run(
            [
                str(Path(sys.executable).with_name("asara")),
                *("tournament", "run", str(file), "--out", str(directory)),
                *("--key", str(folder / "key")),
                *("--sandbox", "bubblewrap" if job.contained else "none"),
            ],
            timeout_s=_TIMEOUT_S,
        )
        found = _read(directory, job, usage.cpu_s)
        if replays is not None:
            (directory / "replays").rename(replays)
    return found


def _tournament(job: Job, folder: Path) -> str:
    if job.start_s or job.thought_s:
        directory = folder / "bot"
        directory.mkdir()
        (directory / "bot.py").write_text(_SLOW_BOT, encoding="utf-8")
        command = ["python", "bot.py", str(job.start_s), str(job.thought_s)]
    else:
        directory = BOT
        command = ["python", "main.py"]
    entries = "".join(
        _ENTRY.format(name=name, directory=json.dumps(str(directory)), command=json.dumps(command))
        for name in ascii_lowercase[: job.entries]
    )
    round_matches = job.entries * (job.entries - 1)
    return _FILE.format(
        rounds=job.matches // round_matches,
        blocks=job.blocks,
        processes=job.processes,
        concurrency=f"jobs = {job.concurrency}" if job.concurrency else "",
        entries=entries,
    )


def _read(directory: Path, job: Job, cpu_s: float) -> JobRun:
    info: dict[str, Any] = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    lines = (directory / "results.jsonl").read_text(encoding="utf-8").splitlines()
    results = [json.loads(line) for line in lines]
    ended_badly = [
        seat["termination"]
        for result in results
        for seat in result["seats"]
        if seat["termination"] != "completed"
    ]
    if info["state"] != "finished" or len(results) != job.matches or ended_badly:
        raise BenchError(f"{job.name}: {info['state']}, {len(results)} matches, {ended_badly[:3]}")
    ends = [_unix_s(result["started"]) + result["seconds"] for result in results]
    return JobRun(
        matches=len(results),
        decisions=sum(map(_decisions, (directory / "replays").iterdir())),
        seconds=_unix_s(info["ended"]) - _unix_s(info["started"]),
        between_s=max(ends) - min(ends),
        cpu_s=cpu_s,
        costs=RunCosts.model_validate(info["costs"]),
    )


def _decisions(replay: Path) -> int:
    return sum(isinstance(record, ReplyRecord) for record in read_replay(replay).records)


def _unix_s(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
