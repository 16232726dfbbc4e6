"""Ends the bots that a killed runner or worker left behind, and checks that they have ended.

The orphan reaper ends them too, but nobody can tell when the reaper has finished.
"""

import asyncio
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from asara_server.tournament.bots.orphan_reaper import kill_marked, mark_of
from asara_server.tournament.run.process_record import RunProcesses
from asara_server.tournament.sandbox import cgroup_end

_END_S: Final = 60.0
"""Seconds given to processes to end after SIGKILL."""
_PAUSE_S: Final = 0.02


async def end_recorded(
    processes: RunProcesses, cgroups: Iterable[Path], within_s: float = _END_S
) -> list[int]:
    """End all processes that a run's record lists as possibly alive; return the survivors."""
    survivors = await asyncio.to_thread(end_leftovers, [*processes.living], cgroups, within_s)
    if not survivors:
        processes.note("cleared")
    return survivors


def end_leftovers(
    processes: Iterable[str], cgroups: Iterable[Path], within_s: float = _END_S
) -> list[int]:
    """End these processes, and all control groups whose runner or worker has ended.

    `processes` are names of `BotProcess` objects, and `cgroups` the folders that hold the control
    groups. Return the processes that the kernel does not let end.
    """
    left = cgroup_end.end_groups(partial(cgroup_end.leftovers, tuple(cgroups)), within_s)
    deadline_s = time.monotonic() + within_s
    for name in processes:
        while (found := kill_marked(mark_of(name))) and time.monotonic() < deadline_s:
            time.sleep(_PAUSE_S)
        left += found
    return left
