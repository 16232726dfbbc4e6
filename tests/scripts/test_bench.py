import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchmark import processor_time
from scripts.benchmark.figures import BenchError
from scripts.benchmark.tournaments.job import Job, play
from scripts.benchmark.tournaments.peers import play_floor

ROOT = Path(__file__).parents[2]


needs_openspiel = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None,
    reason="OpenSpiel, the engine's peer, is not installed: it comes with the extra `bench`",
)
COLUMNS = {"name", "value", "unit", "peer", "peer_value", "ratio"}


def bench(*arguments, timeout=600, **environment):
    """Run `python -m scripts.benchmark`, which scripts/bench runs after the installation."""
    return subprocess.run(
        [sys.executable, "-m", "scripts.benchmark", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def quick(tmp_path, *names):
    """Run benchmarks with --quick; return the rows of the JSON by name."""
    path = tmp_path / "bench.json"
    ran = bench(*names, "--quick", "--json", str(path))
    assert ran.returncode == 0, ran.stderr
    rows = json.loads(path.read_text())
    assert all(set(row) == COLUMNS for row in rows)
    for row in rows:
        assert row["name"] in ran.stdout
        assert row["value"] > 0
        assert math.isclose(row["ratio"], row["value"] / row["peer_value"], rel_tol=0.01)
    return {row["name"]: row for row in rows}


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "found", "peers"),
    [
        pytest.param(
            ("engine",),
            {"engine", "engine_richest"},
            {"OpenSpiel gin_rummy"},
            marks=needs_openspiel,
        ),
        (("bridge",), {"bridge", "bridge_added"}, None),
        (("referee",), {"referee", "referee_cpu", "referee_alike", "referee_alike_cpu"}, None),
        (("concurrency",), {"concurrency", "memory"}, None),
        (("clients", "--language", "python"), {"client_python"}, {"its bare gRPC echo"}),
        (("python_client",), {"python_client", "python_import"}, None),
        (("cluster",), {"cluster, 2 workers"}, None),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_part_beside_its_peer(tmp_path, names, found, peers):
    rows = quick(tmp_path, *names)
    assert set(rows) == found
    assert peers is None or {row["peer"] for row in rows.values()} == peers


@pytest.mark.long
def test_a_tournament_and_the_bare_loop_play_the_same_matches(tmp_path):
    replays = tmp_path / "replays"
    job = Job("two matches", 2, blocks="independent", contained=False, concurrency=1)
    played = play(job, replays)
    assert played.matches == len(list(replays.iterdir())) == 2
    assert played.decisions > 100
    assert played.seconds > played.between_s > 0
    assert played.cpu_s >= played.costs.bots_cpu_s > 0
    floor = play_floor(replays, 2, 1)
    assert floor.per_s > 0
    assert floor.cpu_s > 0


BURN = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while time.process_time() < 0.3:
            pass
    os._exit(0)
"""


@pytest.mark.skipif(not processor_time.counts_all(), reason="there are no control groups to create")
def test_processor_time_counts_processes_that_nobody_waited_for():
    assert processor_time.run([sys.executable, "-c", BURN], timeout_s=60).cpu_s >= 0.3


def test_a_command_that_fails_is_an_error_with_its_last_lines():
    with pytest.raises(BenchError, match="status 3:\nno such table"):
        processor_time.run(["sh", "-c", "echo no such table >&2; exit 3"], timeout_s=60)
    with pytest.raises(BenchError, match=r"more than 0\.1 s"):
        processor_time.run(["sleep", "5"], timeout_s=0.1)
