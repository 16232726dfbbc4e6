"""Standings of the runs that are looked at, computed beside the event loop."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from asara_server.logs import logger
from asara_server.tournament.run.read_run import run_standings
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings
from asara_server.web.open_run import OpenRun

_REST: Final = 10
"""Times as long as a computation took pass before the next one of the same run."""
_WAIT_S: Final = 1.0
"""Seconds for which a request waits for standings; then it is answered without new ones."""


class StandingsCache:
    """The latest standings of one run.

    100,000 matches take some ten seconds. So one thread computes the standings of all runs, one
    after the other, and requests get those that are there.
    """

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._latest: Standings | None = None
        self._results: object = None
        self._number = -1
        """Results that the latest standings contain."""
        self._again_s = float("-inf")
        self._task: asyncio.Task[None] | None = None

    async def get(self, run: OpenRun) -> Standings | None:
        """Return the standings, which may lack the latest matches; None if there are none yet."""
        if self._task is None and self._is_due(run):
            self._task = asyncio.create_task(self._compute(run))
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_WAIT_S)
        return self._latest

    def _is_due(self, run: OpenRun) -> bool:
        results = run.matches.results
        changed = results is not self._results or len(results) != self._number
        return changed and time.monotonic() >= self._again_s

    async def _compute(self, run: OpenRun) -> None:
        results = run.matches.results
        number = len(results)
        begin_s = time.monotonic()
        found = tuple(results[:number])
        compute = (
            partial(run_standings, run.source.directory, run.status.info, found)
            if run.status
            else partial(compute_standings, "", (), number, found)
        )
        try:
            self._latest = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        except Exception:  # noqa: BLE001 - results of unknown origin; the page shows the rest
            logger("web").error("standings failed", run=run.source.name, exc_info=True)
        finally:
            end_s = time.monotonic()
            self._results, self._number = results, number
            self._again_s = end_s + _REST * (end_s - begin_s)
            self._task = None
