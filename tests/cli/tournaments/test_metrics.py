"""The option --metrics of the commands that run a referee."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.command import refusal, started
from tests.events import EVENT_S, wait_until
from tests.tournament import sample_bots
from tests.tournament.processes import children
from tests.tournament.sample_bots import HEADER, write_tournament
from tests.tournament.samples import read_results
from tests.tournament.worker_runs import PATIENT


@contextmanager
def command(*words: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running command, and the URL of its metrics."""
    with started(*words, "--metrics", "127.0.0.1:0") as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"Metrics: (http://127\.0\.0\.1:\d+/metrics)\n", line)
        assert found, line
        yield process, found[1]


def scrape(url: str) -> str:
    with urlopen(url, timeout=EVENT_S) as response:
        text: str = response.read().decode()
        return text


HELD = """
import os, time
import asara
def decide(decision, match):
    while match.match_id.startswith("r2-basic-0003") and not os.path.exists("go-on"):
        open(f"held-by-{os.getppid()}", "w").close()
        time.sleep(0.05)
    return decision.legal_actions[0]
asara.run(decide)
"""
"""A bot that waits in one block until there is a file, and tells which worker plays that block."""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_worker_processes_are_counted_together_even_after_one_was_killed(tmp_path: Path) -> None:
    file = write_tournament(
        tmp_path, dict.fromkeys(("ann", "bob", "cid"), HELD), HEADER + "rounds = 2\n", PATIENT
    )
    words = ("tournament", "run", file, "--out", tmp_path / "run", "--key", tmp_path / "key")
    workers = ("--workers", "2")
    with command(*words, *workers) as (process, url):
        results = tmp_path / "run" / "results.jsonl"
        wait_until("the others are counted", lambda: sound(scrape(url)) == 10)
        wait_until("one block is open", lambda: results.read_bytes().count(b"\n") == 10)
        (held,) = wait_until("it is held", lambda: list(tmp_path.glob("held-by-*")))
        worker = int(held.name.removeprefix("held-by-"))
        assert worker in children(process.pid, "spawn_main")
        os.kill(worker, signal.SIGKILL)
        wait_until("another plays the block", lambda: set(tmp_path.glob("held-by-*")) - {held})
        last = scrape(url)
        (tmp_path / "go-on").touch()
        assert process.wait(EVENT_S) == 0
    assert "its worker process died" in (tmp_path / "run" / "run.log").read_text()
    assert [result.void for result in read_results(results)] == [False] * 12
    assert sound(last) == 10
    assert last.count("asara_build_info{") == 1
    buckets = re.findall(
        r'^asara_decision_seconds_count\{phase="bot"\} ([\d.]+)$', last, re.MULTILINE
    )
    decisions = re.findall(r"^asara_decisions_total ([\d.]+)$", last, re.MULTILINE)
    assert buckets == decisions


def sound(metrics: str) -> int:
    found = re.search(r'^asara_matches_total\{result="sound"\} ([\d.]+)$', metrics, re.MULTILINE)
    return int(float(found[1])) if found else 0


def test_an_address_that_will_not_do_is_refused_before_anything_is_begun(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"a": sample_bots.GOOD, "b": sample_bots.GOOD})
    words = ("tournament", "run", file, "--out", tmp_path / "run", "--key", tmp_path / "key")
    error = refusal(*words, "--metrics", "0.0.0.0:0")
    assert error.startswith("asara: --metrics: address '0.0.0.0:0'")
    assert error.endswith("or pass --insecure-remote\n")
    words = ("tournament", "run", file, "--out", file, "--key", tmp_path / "key")
    error = refusal(*words, "--metrics", "0.0.0.0:0", "--insecure-remote")
    assert re.search(r"^Metrics: http://0\.0\.0\.0:[1-9]\d*/metrics\n", error, re.MULTILINE)
    assert "is a file" in error  # the fault for which it ends
    assert not (tmp_path / "run").exists()
