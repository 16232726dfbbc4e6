"""A Dask cluster of separate processes: the same run, even if a worker or the runner dies."""

import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.command import asara, refusal
from tests.events import EVENT_S, wait_until
from tests.tournament import worker_runs
from tests.tournament.dask_clusters import Cluster
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.samples import read_results
from tests.tournament.worker_runs import (
    HEADER,
    KILLS_ITS_WORKER,
    PATIENT,
    last_match,
    outcome,
    played_cup,
    playing,
    slow,
    until_stopping,
    wait_until_gone,
)

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers; a test that kills one replaces it."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.start(workers=2)
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played_cup(tmp_path_factory.mktemp("cup"))


def words(cluster: Cluster, file: Path, out: Path, *options: str) -> list[str]:
    run = ("tournament", "run", file, "--out", out, "--key", out.parent / "key")
    return [*map(str, run), "--dask", cluster.address, *options]


def start(cluster: Cluster, file: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    return worker_runs.start(file, out, "--dask", cluster.address, *options)


def busy(
    cluster: Cluster, folder: Path, number: int, runner: "subprocess.Popen[str] | None" = None
) -> list[int]:
    """Wait until this number of workers have bots that play, and return them."""

    def found() -> list[int]:
        assert runner is None or runner.poll() is None, runner.communicate()
        busy = playing([worker.pid for worker in cluster.living], folder)
        return busy if len(busy) >= number else []

    workers: list[int] = wait_until(f"{number} workers play", found)
    return workers


def test_a_cluster_plays_what_one_process_plays(cluster: Cluster, cup: Path) -> None:
    done = asara(*words(cluster, cup / "cup.toml", cup / "dask"))
    assert done.returncode == 0, done.stderr
    assert f"by the workers of {cluster.address}" in done.stderr
    assert outcome(cup / "dask") == outcome(cup / "local")
    logs = sorted(path.name for path in (cup / "dask" / "logs").glob("*/*"))
    assert logs == sorted(path.name for path in (cup / "local" / "logs").glob("*/*"))
    log = (cup / "dask" / "run.log").read_text()
    assert len(set(re.findall(r"worker='worker (tcp://[\d.:]+)'", log))) == 2
    assert asara("audit", cup / "dask").returncode == 0


def test_ctrl_c_keeps_what_is_over(cluster: Cluster, cup: Path) -> None:
    file, gate = cup / "cup.toml", cup / "gate"
    process = start(cluster, slow(file, held=last_match(file), gate=gate), cup / "stopped")
    results = cup / "stopped" / "results.jsonl"
    wait_until("a block is over", lambda: results.stat().st_size)
    process.send_signal(signal.SIGINT)
    until_stopping(process)
    gate.touch()
    _, stderr = process.communicate(timeout=EVENT_S)
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in stderr
    assert read_results(results)
    wait_until_gone([], cup)


def test_a_worker_that_dies_while_it_is_checked_is_a_lost_worker(
    cluster: Cluster, cup: Path, tmp_path: Path
) -> None:
    fatal = tmp_path / "fatal.py"
    fatal.write_text(
        "import os\nfrom asara_server.tournament.workers.worker_executor import RunSettings\n"
        "RunSettings.missing = lambda *_: os._exit(1)\n"
    )
    cluster.add_worker(options=("--preload", str(fatal)))
    victim = cluster.workers[-1]
    done = asara(*words(cluster, cup / "cup.toml", tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert victim.wait() == 1
    assert outcome(tmp_path / "run") == outcome(cup / "local")


def test_where_no_scheduler_is_it_is_said_at_once(cup: Path) -> None:
    run = ("tournament", "run", cup / "cup.toml", "--out", cup / "none")
    for address, why in (
        ("127.0.0.1:1", "Timed out trying to connect"),
        ("nowhere", "missing port number in address 'nowhere'"),
    ):
        said = refusal(*run, "--dask", address)
        assert said.startswith(f"asara: --dask {address}: no Dask scheduler answers there (")
        assert why in said
        assert said.count("\n") == 1
    assert not (cup / "none").exists()


def test_a_block_that_no_worker_survives_has_no_result_and_the_others_do(tmp_path: Path) -> None:
    made = Cluster(tmp_path)
    folder = tmp_path / "cup"
    folder.mkdir()
    file = write_tournament(
        folder, dict.fromkeys(("ann", "bob", "cid"), KILLS_ITS_WORKER), HEADER, PATIENT
    )
    try:
        made.start(workers=0)
        for _ in range(2):
            made.add_worker("--nanny")
        done = asara(*words(made, file, folder / "run"))
    finally:
        made.end()
    assert done.returncode == 1, done.stderr
    results = read_results(folder / "run" / "results.jsonl")
    assert {result.block for result in results if result.void} == {"r1-basic-0002"}
    assert sum(not result.void for result in results) == 4
    assert "match r1-basic-0002-1 is given up without a result: its worker died" in done.stderr
    wait_until_gone([], folder)


def test_runners_workers_and_schedulers_that_are_killed_many_times_lose_nothing(
    tmp_path: Path,
) -> None:
    dice = random.Random("duplicate")
    names = ["ann", "bob", "cid", "dot"]
    header = f'{HEADER}blocks = "duplicate"\nblocks_per_entry = 12\n'
    file = write_tournament(tmp_path, dict.fromkeys(names, STEADY), header, PATIENT)
    play(file, tmp_path / "calm")
    run, gate = tmp_path / "run", tmp_path / "gate"
    file = slow(file, pause_s=0.02, held=last_match(file), gate=gate)
    made = process = None
    killed: Counter[str] = Counter()
    try:
        while True:
            if made is None:
                made = Cluster(tmp_path / f"cluster-{killed.total()}")
                made.folder.mkdir()
                made.start(workers=2)
            if process is None:
                options = ["--resume"] if (run / "run.json").exists() else []
                process = start(made, file, run, *options)
                busy(made, tmp_path, 1, process)
            if killed.total() == 6:
                gate.touch()
                break
            with suppress(subprocess.TimeoutExpired):
                process.wait(dice.uniform(0, 3))
                pytest.fail(f"over after {killed}: {process.communicate()}")
            victim = dice.choice(["runner", "worker", "worker", "scheduler"])
            killed[victim] += 1
            if victim == "worker":
                worker = dice.choice(made.living)
                worker.kill()
                worker.wait()
                made.add_worker()
                continue
            gone = f"the scheduler at {made.address} has gone"
            if victim == "scheduler":
                made.end()
                made = None
            else:
                process.kill()
            _, stderr = process.communicate(timeout=EVENT_S)
            if victim == "scheduler":
                assert process.returncode == 1
                assert gone in stderr
                assert "Traceback" not in stderr, stderr
            process = None
            wait_until_gone([], tmp_path)
            assert made is None or len(made.living) == 2
        _, stderr = process.communicate(timeout=EVENT_S)
    finally:
        if process is not None:
            process.kill()
            process.communicate()
        if made is not None:
            made.end()
    about = f"killed {killed}"
    assert set(killed) == {"runner", "worker", "scheduler"}
    assert process.returncode == 0, f"{about}: {stderr}"
    assert outcome(run) == outcome(tmp_path / "calm"), about
    audited = asara("audit", run)
    assert audited.returncode == 0, f"{about}: {audited.stdout}"
