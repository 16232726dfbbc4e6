"""`processes.jsonl`: when each bot process began and ended, and which matches it played.

With it, anybody can check what the runner recorded: that between two matches of one deal no bot
process lived on the machine (see `process_check`). A line holds one fact, which `row` names:

group    `blocks`, each with its number of matches, are played together from now on
began    the `process` of an `entry`, on a `machine`
plays    the `process` takes part in the attempt `match`
ended    the `process` and all its children are dead
cleared  on this `machine`, all processes that the run has started are dead
others   bots of other runs live on this `machine`, and could pass on what they are told
alone    these `matches` have deals of their own, because some process could not be ended

A machine is a kernel: it is named by its boot. `at_ns` is the time since that boot, which no change
of the clock affects.
"""

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from asara_server.atomic_file import AppendedFile, replace_file
from asara_server.logs import Fact

PROCESSES: Final = "processes.jsonl"


class ProcessRow(BaseModel):
    """A line of `processes.jsonl`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: Literal["group", "began", "plays", "ended", "cleared", "others", "alone"]
    at_ns: int = 0
    machine: str = ""
    process: str = ""
    entry: str = ""
    match: str = ""
    blocks: dict[str, int] = {}
    matches: tuple[str, ...] = ()


class ProcessRecordError(ValueError):
    """A line of the file cannot be read; the text names it."""


class ProcessRecorder:
    """Records the processes of one machine; `write` receives each line as a fact."""

    def __init__(self, write: Callable[[Fact], None]) -> None:
        self._write = write

    def cleared(self) -> None:
        """No process lives on this machine that the run has started so far."""
        self._write({"row": "cleared", **_now()})

    def others(self) -> None:
        """Bots of other runs live on this machine."""
        self._write({"row": "others", **_now()})

    def began(self, process: str, entry: str) -> None:
        """A process has begun, which is named as no other is on any machine."""
        self._write({"row": "began", **_now(), "process": process, "entry": entry})

    def plays(self, process: str, match: str) -> None:
        """A process takes part in an attempt at a match."""
        self._write({"row": "plays", **_now(), "process": process, "match": match})

    def ended(self, process: str) -> None:
        """A process and all its children are dead."""
        self._write({"row": "ended", **_now(), "process": process})


NO_RECORD: Final = ProcessRecorder(lambda row: None)


class ProcessFile:
    """The open `processes.jsonl` of a run directory. Workers of this machine open it as well."""

    def __init__(self, directory: Path) -> None:
        """Raises OSError. The last line of a runner that was killed may be cut off: it goes."""
        path = directory / PROCESSES
        if path.is_file() and not (content := path.read_bytes()).endswith(b"\n") and content:
            replace_file(path, content[: content.rfind(b"\n") + 1])
        self._file = AppendedFile(path)

    def write(self, row: Fact) -> None:
        """Append a line; raises OSError, which names the file."""
        self._file.append(f"{ProcessRow(**row).model_dump_json(exclude_defaults=True)}\n".encode())

    def write_group(self, blocks: Mapping[str, int]) -> None:
        """Write the blocks of a group, each with its number of matches."""
        self.write({"row": "group", "blocks": dict(blocks)})
        self.flush()

    def write_alone(self, matches: Iterable[str]) -> None:
        self.write({"row": "alone", "matches": tuple(matches)})
        self.flush()

    def flush(self) -> None:
        """Return once all lines are on disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read_processes(content: bytes) -> list[ProcessRow]:
    """Return the lines of a `processes.jsonl` that are whole; raises ProcessRecordError."""
    rows = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            rows.append(ProcessRow.model_validate_json(line))
        except ValidationError:
            raise ProcessRecordError(f"{PROCESSES}: line {number}: cannot be read") from None
    return rows


def read_processes_of(directory: Path) -> list[ProcessRow]:
    """Return the lines of a run directory's file; raises ProcessRecordError."""
    return read_processes((directory / PROCESSES).read_bytes())


def last_group(rows: Iterable[ProcessRow]) -> Mapping[str, int]:
    """Return the blocks of the group that was begun last, each with its number of matches."""
    groups = [row.blocks for row in rows if row.row == "group"]
    return groups[-1] if groups else {}


def last_group_of(directory: Path) -> Mapping[str, int]:
    """Return the same of a run directory, without reading more than the end of its record."""
    with suppress(OSError, ValueError), _mapped(directory) as content:
        start = content.rfind(b'{"row":"group"')
        if start >= 0:
            line = content[start : content.find(b"\n", start)]
            return ProcessRow.model_validate_json(line).blocks
    return {}


def was_beside_others(directory: Path) -> bool:
    """Return True if a leg of a run began while bots of other runs lived on the machine."""
    with suppress(OSError, ValueError), _mapped(directory) as content:
        return content.find(b'{"row":"others"') >= 0
    return False


def _mapped(directory: Path) -> mmap:
    with (directory / PROCESSES).open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def matches_alone(rows: Iterable[ProcessRow]) -> frozenset[str]:
    """Return the matches of blocks with a shared deal that have deals of their own."""
    return frozenset(match for row in rows for match in row.matches)


def legs_beside_others(rows: Iterable[ProcessRow]) -> int:
    """Return the number of legs that began while bots of other runs lived on the machine."""
    return sum(row.row == "others" for row in rows)


def living(rows: Iterable[ProcessRow]) -> list[str]:
    """Return the processes of this machine whose end is not recorded."""
    found: dict[str, None] = {}
    for row in rows:
        if row.row == "began" and row.machine == machine():
            found[row.process] = None
        elif row.row == "ended":
            found.pop(row.process, None)
        elif row.row == "cleared" and row.machine == machine():
            found.clear()
    return list(found)


def _now() -> Mapping[str, Any]:
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # Linux's; others count no time of a suspension
    at_ns = time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)
    return {"at_ns": at_ns, "machine": machine()}


@cache
def machine() -> str:
    """Return the name of this machine since its last start, which all its containers share."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # not Linux
        return platform.node()
