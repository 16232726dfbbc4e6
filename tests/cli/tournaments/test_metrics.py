"""The option --metrics of the commands that run a referee."""

import re
from functools import partial
from pathlib import Path

from asara_server.network.metrics import program_metrics, watch
from asara_server.tournament.execution.match_runner import LocalExecutor
from tests.cli.command import refusal
from tests.tournament import sample_bots
from tests.tournament.runs import play
from tests.tournament.sample_bots import write_tournament


def test_the_referee_of_a_run_is_watched(tmp_path: Path) -> None:
    file = write_tournament(tmp_path, {"a": sample_bots.GOOD, "b": sample_bots.GOOD})
    registry = program_metrics()
    end = play(file, tmp_path / "run", LocalExecutor(partial(watch, registry)))
    counted = registry.get_sample_value("asara_matches_total", {"result": "sound"})
    assert counted == len(end.results) > 0


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
