"""The options that choose an executor: which fit together, and the errors if they do not."""

import sys
from pathlib import Path

import pytest

from asara.installing import install_command
from asara_server.tournament.run.read_run import read_run
from tests.cli.command import asara, refusal
from tests.tournament import sample_bots
from tests.tournament.sample_bots import HEADER, write_tournament


@pytest.fixture
def words(tmp_path: Path) -> tuple[str | Path, ...]:
    file = write_tournament(tmp_path, {"ann": sample_bots.GOOD, "bob": sample_bots.GOOD}, HEADER)
    return ("tournament", "run", file, "--out", tmp_path / "run", "--key", tmp_path / "key")


def test_without_the_extra_it_is_said_how_to_install_it(
    words: tuple[str | Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refusal(*words, "--dask", "127.0.0.1:1") == (
        f"asara: --dask needs the package distributed: run {install_command('cluster')}\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_run_of_worker_processes_looks_like_any_other(
    words: tuple[str | Path, ...], tmp_path: Path
) -> None:
    done = asara(*words, "--workers", "1", status=0)
    assert "Cup: 2 entries, 2 matches, by 1 worker process\n" in done.stderr
    run = tmp_path / "run"
    info = read_run(run).info
    assert info.executor == "workers"
    status = asara("status", run)
    assert status.stdout.startswith("Cup: finished\n2 of 2 matches (100%)")
    assert "Audited 2 replays: 2 passed, 0 failed." in asara("audit", run).stdout
    log = (run / "run.log").read_text()
    assert log.count("match over") == 2
    assert log.index("run started") < log.index("match over") < log.index("run ended")
    assert asara("report", run).returncode == 0
