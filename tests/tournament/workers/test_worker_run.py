"""A run on a worker: processes that live on over blocks, and a block that comes back."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asara_server.tournament.workers.block_job import BlockJob, BlockResult, RunSettings
from asara_server.tournament.workers.block_player import (
    abandon_blocks,
    begin_run,
    play_block,
    stop_blocks,
)
from asara_server.tournament.workers.worker_executor import WorkerExecutor
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.worker_runs import HEADER, PATIENT
from tests.tournament.workers.test_worker_executor import Scripted, done

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

TELLS = "import os\nprint('process', os.getpid(), flush=True)\n" + STEADY
KEPT = 'blocks = "independent"\nprocess_per = "run"\nrounds = 3\n'


@contextmanager
def jobs(tmp_path: Path) -> Iterator[tuple[RunSettings, list[BlockJob]]]:
    """Yield what a worker of this process gets of a run; its bots end afterwards."""
    file = write_tournament(tmp_path, {"ann": TELLS, "bob": TELLS}, HEADER + KEPT, PATIENT)
    backend = Scripted(done)
    play(file, tmp_path / "run", WorkerExecutor(backend))
    begin_run(backend.settings[0])
    try:
        yield backend.settings[0], backend.jobs
    finally:
        abandon_blocks(30)


def pids(result: BlockResult) -> set[int]:
    logs = b"".join(log.content for log in result.output.bot_logs)
    return {int(number) for number in re.findall(rb"^process (\d+)", logs, re.MULTILINE)}


@pytest.mark.long
def test_a_block_or_a_worker_that_comes_back(tmp_path: Path) -> None:
    with jobs(tmp_path) as (settings, (first, second, third)):
        started = pids(play_block(first))
        assert len(started) == 2
        assert pids(play_block(second)) == set()  # they are kept
        again = pids(play_block(first))
        assert len(again) == 2
        assert not again & started
        stop_blocks(first.run_id, None)  # Dask lost the worker
        assert play_block(third).attempts == ()
        begin_run(settings)  # and found it again
        assert len(play_block(third).attempts) == len(third.block.attempt_names)
