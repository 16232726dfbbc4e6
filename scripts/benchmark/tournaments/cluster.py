"""Compares two Dask workers with one worker, each with one process and one thread.

Both clusters take turns playing the same tournament: two-player matches of equal cost, in which
bots burn processor time for a fixed number of decisions. Bots think one at a time, so one worker
needs about one core, and two workers need two free cores. Two bots use the processor at the same
time only while they start, even with one worker; matches are long enough to make this negligible.
The time is taken from the first block given out to the standings. It includes starting bots but not
starting the cluster.
"""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from asara_server.logs import configure
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import (
    MatchSettings,
    Tournament,
    load_tournament,
)
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import Runner, RunSetup
from asara_server.tournament.schedule.schedule import planned_matches
from asara_server.tournament.workers.dask_workers import dask_workers
from asara_server.tournament.workers.worker_executor import RunSettings, WorkerExecutor
from scripts.benchmark.figures import Bar, BenchError, Figure, compare

BAR: Final = Bar(1.8)
_START_S: Final = 30.0

_BOT: Final = """
import sys, time
import asara
class Bot(asara.Bot):
    thoughts = 20
    def decide(self, decision):
        if self.thoughts:
            self.thoughts -= 1
            end = time.thread_time() + float(sys.argv[1])
            while time.thread_time() < end:
                pass
        return decision.legal_actions[0]
asara.run(Bot)
"""

_FILE: Final = """
seats = 2
rules = "basic"
rounds = {rounds}
blocks = "independent"
seed = "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549"

[clocks]
time_bank_s = 3_600

[[entries]]
name = "a"
command = ["python", "bot.py", "{cost_s}"]

[[entries]]
name = "b"
command = ["python", "bot.py", "{cost_s}"]
"""


def cluster(quick: bool) -> list[Figure]:
    """Measure matches per minute with two workers and with one."""
    blocks, cost_s, rounds = (2, 0.02, 1) if quick else (4, 0.15, 3)
    configure("error")
    found = []
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as name:
        folder = Path(name)
        (folder / "bot.py").write_text(_BOT, encoding="utf-8")
        file = folder / "bench.toml"
        file.write_text(_FILE.format(rounds=blocks, cost_s=cost_s), encoding="utf-8")
        tournament = load_tournament(file)
        for number in range(rounds):
            two, one = (_rate(tournament, folder / f"{number}", workers) for workers in (2, 1))
            found.append((two, one))
    return [compare("cluster, 2 workers", found, unit="matches/min", peer="1 worker", bar=BAR)]


def _rate(tournament: Tournament, folder: Path, workers: int) -> float:
    """Return matches per minute. No other cluster runs: an idle one takes a twentieth of a core."""
    folder = folder / str(workers)
    folder.mkdir(parents=True)
    with (
        _cluster(folder, workers) as address,
        dask_workers(address, RunSettings(MatchSettings.of(tournament, None, {}), None)) as backend,
        closing(RunDirectory.create(folder / "run")) as directory,
    ):
        matches, key = planned_matches(tournament), SigningKey.new()
        executor = WorkerExecutor(backend)
        runner = Runner(RunSetup(tournament, matches, directory, key, executor=executor))
        began = time.perf_counter()
        end = asyncio.run(runner.run())
        seconds = time.perf_counter() - began
    if not end.standings.complete or any(result.forfeits for result in end.results):
        raise BenchError(f"the matches of the cluster at {address} did not end well")
    return 60 * len(end.results) / seconds


@contextmanager
def _cluster(folder: Path, workers: int) -> Iterator[str]:
    """Start a scheduler with this many workers, each a separate process; yield its address."""
    with ExitStack() as stack:
        told = folder / "scheduler.log"
        common = ("--host", "127.0.0.1", "--no-dashboard")
        stack.enter_context(_dask(told, "scheduler", "--port", "0", *common))
        address = _wait_for(told, r"tcp://[\d.]+:\d+", 1)
        for number in range(workers):
            name = f"worker-{number}"
            own = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder / name))
            log = folder / f"{name}.log"
            stack.enter_context(_dask(log, "worker", address, *own, *common))
        _wait_for(told, r"Register worker", workers)
        yield address


def _wait_for(log: Path, words: str, times: int) -> str:
    """Wait until a log contains this pattern a number of times; return the last occurrence."""
    deadline = time.monotonic() + _START_S
    while len(found := re.findall(words, log.read_text(encoding="utf-8"))) < times:
        if time.monotonic() > deadline:
            raise BenchError(f"Dask does not start: {log} lacks {words!r}")
        time.sleep(0.05)
    return str(found[-1])


@contextmanager
def _dask(log: Path, what: str, *options: str) -> Iterator[None]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *options],
            stdout=file,
            stderr=file,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()
