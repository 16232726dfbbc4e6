"""Warns about kernel limits that all bots share, because Linux counts per user, not per sandbox."""

from pathlib import Path
from typing import Final

from structlog.typing import FilteringBoundLogger

from asara_server.tournament.sandbox.machine_limits import Ceilings
from asara_server.tournament.sandbox.spec import MIB, OWN_PROCESSES

_WATCHES: Final = Path("/proc/sys/fs/epoll/max_user_watches")
_WATCH_BYTES: Final = 160
"""Minimum kernel memory per descriptor registered with epoll, in bytes; it counts for the bot."""


def warn_of_processes(
    bots: int, processes: int, ceilings: Ceilings, log: FilteringBoundLogger
) -> None:
    """Log a warning if bots could use up all processes that their user may start."""
    permitted = ceilings.get("processes")
    possible = bots * (processes + OWN_PROCESSES)
    if permitted is not None and possible > permitted.value:
        log.warning(
            "one bot could use up the processes of others",
            processes=permitted.value,
            possible=possible,
            cause=permitted.cause,
            remedy=f"{permitted.remedy(possible)}, or lower limits.processes or jobs",
        )


def warn_of_epoll_watches(bots: int, memory_mib: int, log: FilteringBoundLogger) -> None:
    """Log a warning if bots could use up all epoll registrations that their user may make.

    Then no program of this user, including the referee, could register any more.
    """
    try:
        permitted = int(_WATCHES.read_text())
    except (OSError, ValueError):  # not Linux
        return
    possible = bots * memory_mib * MIB // _WATCH_BYTES
    if possible >= permitted:
        log.warning(
            "bots could stop the event loops of all programs of this user",
            epoll_watches=permitted,
            possible=possible,
            remedy=f"sysctl fs.epoll.max_user_watches={possible + permitted}, or lower "
            "limits.memory_mib or jobs",
        )
