"""A Dask cluster of separate processes on this machine."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.command import environment
from tests.events import wait_until
from tests.tournament.processes import children


@dataclass
class Cluster:
    """A scheduler and its workers, each in a separate process."""

    folder: Path
    address: str = ""
    scheduler: "subprocess.Popen[bytes] | None" = None
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def start(self, workers: int) -> None:
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.scheduler = self._dask("scheduler", *options)
        log = self.folder / "scheduler.log"
        found = wait_until(
            "the scheduler listens", lambda: re.search(r"tcp://[\d.]+:\d+", log.read_text())
        )
        assert found
        self.address = found[0]
        for _ in range(workers):
            self.add_worker()

    def add_worker(
        self,
        nanny: str = "--no-nanny",
        options: Sequence[str] = (),
    ) -> None:
        """Add a worker with one thread. Without a nanny, a worker that dies is not restarted."""
        place = ("--local-directory", str(self.folder / f"worker-{len(self.workers)}"))
        given = ("--nthreads", "1", nanny, "--no-dashboard", "--host", "127.0.0.1", *options)
        self.workers.append(self._dask("worker", self.address, *given, *place))
        log = self.folder / "scheduler.log"
        wait_until(
            "the worker is there",
            lambda: log.read_text().count("Register worker") >= len(self.workers),
        )

    @property
    def living(self) -> "list[subprocess.Popen[bytes]]":
        return [worker for worker in self.workers if worker.poll() is None]

    def _dask(self, what: str, *options: str) -> "subprocess.Popen[bytes]":
        number = len(self.workers) if what == "worker" else ""
        with (self.folder / f"{what}{number}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + what, *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment(),
            )

    def end(self) -> None:
        processes = [*self.workers, *([self.scheduler] if self.scheduler else [])]
        for nanny in processes:
            for pid in children(nanny.pid, "multiprocessing"):
                os.kill(pid, signal.SIGKILL)
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
