import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchmark import processor_time
from scripts.benchmark.figures import Bar, BenchError, Figure, compare, show, write_json
from scripts.benchmark.tournaments.job import Job, play
from scripts.benchmark.tournaments.peers import play_floor

ROOT = Path(__file__).parents[2]
NAMES = {"engine", "referee", "concurrency"}
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
@pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None,
    reason="OpenSpiel, the engine's peer, is not installed: it comes with the extra `bench`",
)
def test_the_engine_beside_its_peer(tmp_path):
    rows = quick(tmp_path, "engine")
    assert rows["engine"]["unit"] == "decisions/s"
    assert rows["engine"]["peer"] == "OpenSpiel gin_rummy"


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "found", "peers"),
    [
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
def test_a_client_without_its_tools_is_left_out_by_name(tmp_path):
    for program in ("bash", "dirname"):
        (tmp_path / program).symlink_to(shutil.which(program))
    ran = bench("clients", "--quick", "--language", "go", PATH=str(tmp_path))
    assert ran.returncode == 2
    assert "go is left out: the build in scripts/benchmark/echo_clients/go failed" in ran.stderr
    assert "go: command not found" in ran.stderr
    assert "no language is left" in ran.stderr


@pytest.mark.long
def test_what_viewers_cost_beside_no_viewer(tmp_path):
    rows = quick(tmp_path, "web")
    assert rows["web_rate, 20 viewers"]["peer"] == "no viewer"
    assert rows["web_cpu, 20 viewers"]["peer"] == "no viewer"
    assert rows["web_delay, median"]["value"] <= rows["web_delay, p95"]["value"]


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("pelita") is None,
    reason="Pelita, a peer of tournaments, is not installed: it comes with the extra `bench`",
)
def test_whole_tournaments_beside_their_peers(tmp_path):
    path = tmp_path / "bench.json"
    ran = bench("tournament", "--quick", "--json", str(path), timeout=600)
    assert ran.returncode == 0, ran.stderr
    rows = {row["name"]: row for row in json.loads(path.read_text())}
    assert rows["tournament_kept"]["ratio"] < 2
    assert rows["tournament_fresh"]["ratio"] < 1
    assert rows["tournament_decisions"]["peer"] == "kaggle-environments"
    assert rows["tournament_pelita"]["peer"] == "Pelita"
    assert "independent, fresh" in ran.stdout


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


@pytest.mark.long
def test_the_error_of_a_missing_peer_names_the_remedy(tmp_path):
    (tmp_path / "pyspiel.py").write_text("raise ImportError")
    ran = bench("engine", "--quick", PYTHONPATH=str(tmp_path))
    assert ran.returncode == 2
    assert "OpenSpiel" in ran.stderr
    assert "[bench]" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.long
def test_the_error_of_an_unknown_benchmark_names_the_known_ones():
    ran = bench("engin")
    assert ran.returncode == 2
    assert "'engin'" in ran.stderr
    assert all(name in ran.stderr for name in NAMES)


def test_figures_are_medians_of_rounds():
    figure = compare("x", [(1, 10), (300, 30), (2, 20)], unit="u", peer="p", bar=Bar(0.2))
    assert (figure.value, figure.peer_value, figure.ratio) == (2, 20, 0.1)
    assert not figure.holds


def test_bars_hold_from_below_or_above():
    assert Bar(3).holds(3)
    assert not Bar(3).holds(2.9)
    assert Bar(1.2, most=True).holds(1.2)
    assert not Bar(1.2, most=True).holds(1.3)


def test_json_and_table_say_the_same(tmp_path, capsys):
    figure = Figure("engine", 120.0, "decisions/s", "a peer", 40.0, Bar(3))
    write_json(tmp_path / "bench.json", [figure])
    assert json.loads((tmp_path / "bench.json").read_text()) == [
        {
            "name": "engine",
            "value": 120.0,
            "unit": "decisions/s",
            "peer": "a peer",
            "peer_value": 40.0,
            "ratio": 3.0,
        }
    ]
    show([figure])
    row = next(line for line in capsys.readouterr().out.splitlines() if "engine" in line)
    assert " ".join(row.split()) == "engine, decisions/s 120 40 a peer 3.00 ≥ 3 holds"
