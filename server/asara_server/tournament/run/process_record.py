"""`processes.jsonl`: when each bot process began and ended, and which matches it played.

With this file, anyone can check the runner's record that no bot process survived from one match of
a deal to the next (see `process_faults`). Each line holds one fact; its `row` is one of:

group `blocks`, each with its number of matches, are played together from now on began the `process`
of an `entry`, on a `machine` plays the `process` takes part in the attempt `match` ended the
`process` and all its children are dead cleared on this `machine`, all processes that the run has
started are dead others bots of other runs live on this `machine`, and could pass on what they are
told alone these `matches` have deals of their own, because some process could not be ended

A machine means a kernel since its last boot. `at_ns` is the time since that boot, which is
unaffected by changes to the clock.
"""

import os
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from math import inf
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from asara_server.atomic_file import AppendedFile, replace_file
from asara_server.logs import Fact
from asara_server.text import plain
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, attempt_name

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
    """Raised if a line of the file cannot be read; the text gives the line."""


class ProcessRecorder:
    """Records the processes of one machine: calls `write` with each line, which states one fact."""

    def __init__(self, write: Callable[[Fact], None]) -> None:
        self._write = write

    def cleared(self) -> None:
        """Record that all processes the run has started on this machine are dead."""
        self._write({"row": "cleared", **_now()})

    def others(self) -> None:
        """Record that bots of other runs live on this machine."""
        self._write({"row": "others", **_now()})

    def began(self, process: str, entry: str) -> None:
        """Record that a process has begun; its name is unique across all machines."""
        self._write({"row": "began", **_now(), "process": process, "entry": entry})

    def plays(self, process: str, match: str) -> None:
        """Record that a process takes part in an attempt at a match."""
        self._write({"row": "plays", **_now(), "process": process, "match": match})

    def ended(self, process: str) -> None:
        """Record that a process and all its children are dead."""
        self._write({"row": "ended", **_now(), "process": process})


NO_RECORD: Final = ProcessRecorder(lambda row: None)


class ProcessFile:
    """The open `processes.jsonl` of a run directory. Local workers open the file as well."""

    def __init__(self, directory: Path) -> None:
        """Raises OSError. A last line cut off by a killed runner is removed."""
        path = directory / PROCESSES
        if path.is_file() and not (content := path.read_bytes()).endswith(b"\n") and content:
            replace_file(path, content[: content.rfind(b"\n") + 1])
        self._file = AppendedFile(path)

    def write(self, row: Fact) -> None:
        """Append a line; raises OSError with the file's name."""
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
    """Return the complete lines of a `processes.jsonl`; raises ProcessRecordError."""
    rows = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            rows.append(ProcessRow.model_validate_json(line))
        except ValidationError:
            raise ProcessRecordError(f"{PROCESSES}: line {number}: cannot be read") from None
    return rows


def read_processes_of(directory: Path) -> list[ProcessRow]:
    """Return the complete lines of a run's `processes.jsonl`; raises ProcessRecordError."""
    return read_processes((directory / PROCESSES).read_bytes())


def last_group(rows: Iterable[ProcessRow]) -> Mapping[str, int]:
    """Return the blocks of the last group that began, each with its number of matches."""
    groups = [row.blocks for row in rows if row.row == "group"]
    return groups[-1] if groups else {}


def last_group_of(directory: Path) -> Mapping[str, int]:
    """Return the last group of a run directory, reading only the end of its record."""
    with suppress(OSError, ValueError), _mapped(directory) as content:
        start = content.rfind(b'{"row":"group"')
        if start >= 0:
            line = content[start : content.find(b"\n", start)]
            return ProcessRow.model_validate_json(line).blocks
    return {}


def was_beside_others(directory: Path) -> bool:
    """Return True if a leg of the run began while bots of other runs lived on the machine."""
    with suppress(OSError, ValueError), _mapped(directory) as content:
        return content.find(b'{"row":"others"') >= 0
    return False


def _mapped(directory: Path) -> mmap:
    with (directory / PROCESSES).open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def matches_alone(rows: Iterable[ProcessRow]) -> frozenset[str]:
    """Return the matches that got deals of their own although their block shares a deal."""
    return frozenset(match for row in rows for match in row.matches)


def legs_beside_others(rows: Iterable[ProcessRow]) -> int:
    """Return the number of legs that began while bots of other runs lived on the machine."""
    return sum(row.row == "others" for row in rows)


def living(rows: Iterable[ProcessRow]) -> list[str]:
    """Return the processes on this machine for which no end is recorded."""
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
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # Linux only; other clocks stop in suspension
    at_ns = time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)
    return {"at_ns": at_ns, "machine": machine()}


@cache
def machine() -> str:
    """Return a name for this machine since its last boot; all containers on it share the name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # not Linux
        return platform.node()


@dataclass(slots=True)
class _Life:
    """The lifetime of a process, on its machine's clock."""

    entry: str
    began_ns: float
    ended_ns: float = inf
    attempts: dict[str, int] = field(default_factory=dict)
    """When the process began to take part in each attempt."""


def process_faults(
    rows: Iterable[ProcessRow],
    schedule: Sequence[ScheduledMatch],
    results: Iterable[MatchResult],
    *,
    max_attempts: int,
    remote: frozenset[str],
) -> Iterator[str]:
    """Yield all faults: processes that met a deal again, attempts without their processes, and
    matches played outside their group.

    The record cannot prove its own truth, because the organiser wrote it.

    `remote` are the entries on other machines, whose processes are not recorded.
    """
    deals = {
        attempt_name(match.match_id, number): match.shared_deal
        for match in schedule
        if match.shared_deal
        for number in range(1, max_attempts + 1)
    }
    rows = list(rows)
    if deals:
        yield from _group_faults(rows, schedule)
    machines = _lives(rows)
    played: dict[str, set[str]] = defaultdict(set)
    for lives in machines.values():
        for life in lives:
            for attempt in life.attempts:
                played[attempt].add(life.entry)
        yield from _meetings(lives, deals)
    for result in results:
        if result.played_as in deals:
            seated = {seat.entry for seat in result.seats if not seat.termination.forfeit}
            if missing := seated - remote - played[result.played_as]:
                yield (
                    f"{PROCESSES}: {result.played_as}: no process of {min(missing)} is recorded, "
                    "although it played"
                )


def _group_faults(rows: Iterable[ProcessRow], schedule: Sequence[ScheduledMatch]) -> Iterator[str]:
    """Yield groups that do not follow the schedule, and the first match outside each group."""
    sizes = Counter(match.deal_block for match in schedule)
    block_of = {match.match_id: match.deal_block for match in schedule}
    before: set[str] = set()
    group: Mapping[str, int] = {}
    named = False
    for row in rows:
        if row.row == "group":
            for block in row.blocks:
                if block in before:
                    yield f"{PROCESSES}: block {plain(block)} is in two groups"
                elif row.blocks[block] != sizes[block]:
                    yield (
                        f"{PROCESSES}: block {plain(block)} has {row.blocks[block]} of its "
                        f"{sizes[block]} matches in its group"
                    )
            before.update(row.blocks)
            group, named = row.blocks, False
        elif row.row == "plays" and not named:
            match_id = row.match if row.match in block_of else row.match.rpartition(".")[0]
            if block_of.get(match_id, "") not in group:
                named = True
                yield (
                    f"{PROCESSES}: {plain(row.match)} was played outside its group, whose legs "
                    "were over or had not begun"
                )


def _lives(rows: Iterable[ProcessRow]) -> Mapping[str, Sequence[_Life]]:
    """Return the lifetimes of all processes, by machine, ordered by their beginning."""
    lives: dict[str, _Life] = {}
    machines: dict[str, list[_Life]] = defaultdict(list)
    for row in rows:
        if row.row == "began":
            life = lives[row.process] = _Life(row.entry, row.at_ns)
            machines[row.machine].append(life)
        elif row.row == "cleared":
            for life in machines[row.machine]:
                if life.began_ns < row.at_ns:
                    life.ended_ns = min(life.ended_ns, row.at_ns)
        elif row.process in lives and row.row == "plays":
            lives[row.process].attempts.setdefault(row.match, row.at_ns)
        elif row.process in lives and row.row == "ended":
            lives[row.process].ended_ns = min(lives[row.process].ended_ns, row.at_ns)
    return {name: sorted(found, key=lambda one: one.began_ns) for name, found in machines.items()}


def _meetings(lives: Sequence[_Life], deals: Mapping[str, str]) -> Iterator[str]:
    """Yield each attempt whose deal some process on the machine already knew when it began."""
    for together in _stretches(lives):
        began: dict[str, int] = {}
        for life in together:
            for attempt, at_ns in life.attempts.items():
                began[attempt] = min(at_ns, began.get(attempt, at_ns))
        first: dict[str, str] = {}
        for attempt in sorted(began, key=began.__getitem__):
            deal = deals.get(attempt)
            if deal is None or first.setdefault(deal, attempt) == attempt:
                continue
            alive = [one for one in together if one.began_ns < began[attempt] < one.ended_ns]
            oldest = min(alive or together, key=lambda one: one.began_ns)
            yield (
                f"{PROCESSES}: {attempt} has the deal of {first[deal]}, and some bot process lived "
                f"all along between them; when it began, a process of {oldest.entry} had lived for "
                f"{(began[attempt] - oldest.began_ns) / 1e9:.3f} s"
            )


def _stretches(lives: Sequence[_Life]) -> Iterator[list[_Life]]:
    """Yield the lifetimes between two moments at which no process lived."""
    together: list[_Life] = []
    end_ns = -inf
    for life in lives:
        if life.began_ns >= end_ns and together:
            yield together
            together = []
        together.append(life)
        end_ns = max(end_ns, life.ended_ns)
    if together:
        yield together
