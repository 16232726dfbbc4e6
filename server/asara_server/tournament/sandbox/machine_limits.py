"""Limits that this machine sets for everything that this user runs, including bots.

A bot cannot get more than these limits permit, and nobody is at fault for them. Bots and builds
therefore get the smaller value of the organiser's limit and the machine's limit. If the machine
permits less than half of the organiser's limit, the run is refused before anything is played.

Linux counts some resources per user, not per sandbox, so one bot could use up what all bots share.
If that is possible, a warning is logged.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.bounded_file import MIB
from asara_server.logs import logger
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.sandbox.cgroups import CONTROL_GROUPS, own_groups
from asara_server.tournament.sandbox.resources import (
    ADDRESS_SPACE_FACTOR,
    OWN_PROCESSES,
    ResourceLimits,
    hard_limit,
)

_MOST_FILES: Final = Path("/proc/sys/fs/nr_open")
_WATCHES: Final = Path("/proc/sys/fs/epoll/max_user_watches")
_WATCH_BYTES: Final = 160
"""Minimum kernel memory per descriptor registered with epoll, in bytes; it counts for the bot."""
_UNLIMITED: Final = 1 << 62
"""Values above this mean no limit; version 1 of control groups writes slightly less than 2⁶³."""


class Ceiling(NamedTuple):
    """The maximum of a resource that the machine permits to a bot."""

    value: int
    """The maximum, in the unit of the field in `ResourceLimits`."""
    cause: str
    raise_to: str
    """A command that raises the limit, with `{}` for the value in the machine's unit."""
    unit: int = 1
    """The field's unit, expressed in the machine's unit."""
    extra: int = 0
    """Additional amount that the sandbox itself needs."""

    def remedy(self, wanted: int) -> str:
        """Return the command that raises the limit to what a bot needs."""
        return self.raise_to.format(wanted * self.unit + self.extra)


Ceilings = Mapping[str, Ceiling]
"""Ceilings by field of `ResourceLimits`; a missing field has no limit on this machine."""


def find_ceilings(groups: Path = CONTROL_GROUPS) -> Ceilings:
    """Return the maximum that this machine permits to a bot started by this process.

    `groups` is the mount point of the control groups.
    """
    lowest: dict[str, Ceiling] = {}
    for field, ceiling in _ceilings(groups):
        if field not in lowest or ceiling.value < lowest[field].value:
            lowest[field] = ceiling
    return lowest


def _ceilings(groups: Path) -> Iterator[tuple[str, Ceiling]]:
    for field, name, unit, extra in (
        ("open_files", "nofile", 1, 0),
        ("processes", "nproc", 1, OWN_PROCESSES),
        ("cpu_s", "cpu", 1, 1),
        ("disk_mib", "fsize", MIB, 0),
        ("memory_mib", "data", MIB, 0),
        ("memory_mib", "as", MIB * ADDRESS_SPACE_FACTOR, 0),
    ):
        if (hard := hard_limit(name.upper())) is not None:
            command = f"sudo prlimit --pid $$ --{name}={{0}}:{{0}}"
            cause = f"the hard limit `{name}` of this user's processes"
            yield field, Ceiling((hard - extra) // unit, cause, command, unit, extra)
    with suppress(OSError, ValueError):
        files = int(_MOST_FILES.read_text())
        yield "open_files", Ceiling(files, str(_MOST_FILES), "sudo sysctl fs.nr_open={}")
    for folder in own_groups(groups):
        for field, name, unit, extra in (
            ("memory_mib", "memory.max", MIB, 0),
            ("memory_mib", "memory.limit_in_bytes", MIB, 0),
            ("processes", "pids.max", 1, OWN_PROCESSES),
        ):
            file = folder / name
            with suppress(OSError, ValueError):  # "max" is no limit
                if (value := int(file.read_text())) < _UNLIMITED:
                    command = f"echo {{}} | sudo tee {file}"
                    yield field, Ceiling((value - extra) // unit, str(file), command, unit, extra)


def match_limits(limits: Limits, ceilings: Ceilings) -> ResourceLimits:
    """Return the limits of a bot in a match."""
    asked = ResourceLimits(
        memory_mib=limits.memory_mib,
        processes=limits.processes,
        open_files=limits.open_files,
        cpu_s=limits.cpu_s,
        disk_mib=limits.disk_mib,
        cores=limits.cores,
    )
    return _within(asked, ceilings)


def build_limits(limits: Limits, ceilings: Ceilings) -> ResourceLimits:
    """Return the limits of a build."""
    asked = replace(
        match_limits(limits, {}),
        memory_mib=limits.build_memory_mib + limits.build_mib,
        disk_mib=limits.build_mib,
        cores=None,  # compilers use all cores, and no match is played meanwhile
    )
    return _within(asked, ceilings)


def _within(limits: ResourceLimits, ceilings: Ceilings) -> ResourceLimits:
    lower = {
        field: ceiling.value
        for field, ceiling in ceilings.items()
        if ceiling.value < getattr(limits, field)
    }
    return replace(limits, **lower)


def effective_limits(limits: Limits, ceilings: Ceilings) -> Limits:
    """Return the tournament's limits, reduced to what this machine permits."""
    match, build = match_limits(limits, ceilings), build_limits(limits, ceilings)
    build_mib = min(limits.build_mib, build.disk_mib)
    return limits.model_copy(
        update={
            "memory_mib": match.memory_mib,
            "processes": match.processes,
            "open_files": match.open_files,
            "cpu_s": match.cpu_s,
            "disk_mib": match.disk_mib,
            "build_memory_mib": min(limits.build_memory_mib, build.memory_mib - build_mib),
            "build_mib": build_mib,
        }
    )


class Reduction(NamedTuple):
    """A limit that the machine cannot provide in full."""

    asked: int
    ceiling: Ceiling
    text: str
    """What was requested, what the machine permits, and why."""
    name: str
    """Name of the limit in the tournament file."""

    @property
    def remedy(self) -> str:
        """What the organiser can do about it."""
        raised = f"raise it in this shell by `{self.ceiling.remedy(self.asked)}`"
        if self.ceiling.value < 1:
            return raised
        return f"{raised}, or lower {self.name} to {self.ceiling.value}"

    @property
    def too_much(self) -> bool:
        """True if the machine permits less than half of the requested limit."""
        return 2 * self.ceiling.value < self.asked


def reductions(limits: Limits, ceilings: Ceilings, *, builds: bool) -> list[Reduction]:
    """Return the limits of bots, and of any builds, that the machine cannot provide."""
    match, build = match_limits(limits, {}), build_limits(limits, {})
    asked = [(f"limits.{field}", field, getattr(match, field)) for field in ceilings]
    if builds:
        asked.append(("limits.build_mib", "disk_mib", build.disk_mib))
        asked.append(("limits.build_memory_mib + limits.build_mib", "memory_mib", build.memory_mib))
    found = []
    for name, field, value in asked:
        ceiling = ceilings.get(field)
        if ceiling is not None and ceiling.value < value:
            left = max(ceiling.value, 0)
            text = f"{name} is {value:,}, but {ceiling.cause} permits {left:,} to a bot"
            found.append(Reduction(value, ceiling, text, name))
    return found


def warn_of_shared_limits(bots: int, limits: Limits, ceilings: Ceilings) -> None:
    """Log a warning for each resource of this user that so many bots could use up.

    Without epoll registrations, the event loops of all programs of this user stop, including the
    referee's.
    """
    log = logger("sandbox")
    possible = bots * limits.memory_mib * MIB // _WATCH_BYTES
    with suppress(OSError, ValueError):  # not Linux
        if possible >= (permitted := int(_WATCHES.read_text())):
            log.warning(
                "bots could stop the event loops of all programs of this user",
                epoll_watches=permitted,
                possible=possible,
                remedy=f"sysctl fs.epoll.max_user_watches={possible + permitted}, or lower "
                "limits.memory_mib or jobs",
            )
    ceiling = ceilings.get("processes")
    possible = bots * (limits.processes + OWN_PROCESSES)
    if ceiling is not None and possible > ceiling.value:
        log.warning(
            "one bot could use up the processes of others",
            processes=ceiling.value,
            possible=possible,
            cause=ceiling.cause,
            remedy=f"{ceiling.remedy(possible)}, or lower limits.processes or jobs",
        )
