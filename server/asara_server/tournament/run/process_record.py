"""The record of bot processes in the journal: when each began and ended, and what it played.

With the record, anyone can check that no bot process survived from one match of a deal to the next
(see `Lives`). The README of `eventlog` lists the kinds of its lines.

A machine means a kernel since its last boot. The time of a line is the time since that boot, which
is unaffected by changes to the clock. A worker's lines can come twice, if the worker returned a
block and the runner was killed before it removed the block's journal.
"""

import platform
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asara_server.eventlog.journal import Fact, JournalError
from asara_server.text import plain
from asara_server.tournament.run.run_record import DOCUMENTS, GIVEN, RUN
from asara_server.tournament.schedule.schedule import ScheduledMatch, attempt_name
from asara_server.tournament.standings.match_result import MatchResult

_OTHER_FACTS: Final = frozenset({GIVEN, RUN, *DOCUMENTS})
"""Kinds of the other facts in a journal."""


class ProcessRow(BaseModel):
    """A line of the record."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: Literal["group", "began", "plays", "ended", "cleared", "others", "alone"]
    at_ns: int = Field(default=0, ge=0, lt=1 << 63)
    machine: str = ""
    process: str = ""
    entry: str = ""
    match: str = ""
    blocks: dict[str, int] = {}
    matches: tuple[str, ...] = ()


def fact_now(kind: str, **values: object) -> Fact:
    """Return a line about this machine and moment."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # Linux only; other clocks stop in suspension
    at_ns = time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)
    return Fact(kind, {"at_ns": at_ns, "machine": machine(), **values})


def process_rows(facts: Iterable[Fact], path: Path) -> Iterator[ProcessRow]:
    """Yield the lines of the record among the facts of a journal; raises JournalError."""
    for kind, values in facts:
        if kind not in _OTHER_FACTS:
            try:
                yield ProcessRow(**values, row=kind)
            except (TypeError, ValidationError):
                raise JournalError(f"{path}: has a line that cannot be read: {kind}") from None


class RunProcesses:
    """The record of a run that is being played."""

    def __init__(self, rows: Iterable[ProcessRow], write: Callable[[Fact], None]) -> None:
        """`rows` are the lines of earlier sessions; `write` adds a line to the journal."""
        self.alone: set[str] = set()
        """Matches that got deals of their own although their block shares a deal."""
        self.living: dict[str, None] = {}
        """The processes on this machine for which no end is recorded."""
        self._write = write
        for row in rows:
            self._add(row)

    def _add(self, row: ProcessRow) -> None:
        match row.row:
            case "alone":
                self.alone.update(row.matches)
            case "began" if row.machine == machine():
                self.living[row.process] = None
            case "ended":
                self.living.pop(row.process, None)
            case "cleared" if row.machine == machine():
                self.living.clear()

    def note(self, kind: str, **values: object) -> None:
        """Add a line about this machine and moment."""
        self.take(fact_now(kind, **values))

    def take(self, *facts: Fact) -> None:
        """Add lines to the journal; an error of the journal is raised by its next commit."""
        for row in process_rows(facts, Path("a worker")):
            self._add(row)
        for fact in facts:
            with suppress(JournalError):
                self._write(fact)


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


class Lives:
    """The lives of a run's bots, from the lines of the record, which are not kept."""

    def __init__(self) -> None:
        self.alone: dict[str, None] = {}
        """Matches that got deals of their own although their block shares a deal."""
        self.beside_others = 0
        """Number of legs that began while bots of other runs lived on the machine."""
        self.groups: list[Mapping[str, int]] = []
        """The blocks of each group, each with its number of matches."""
        self._lives: dict[str, _Life] = {}
        self._machines: dict[str, list[_Life]] = defaultdict(list)
        self._in_group: dict[tuple[str, int], None] = {}
        """Attempts that were played, each with the number of groups that had begun."""

    def add(self, row: ProcessRow) -> None:
        """Add the next line."""
        life = self._lives.get(row.process)
        match row.row:
            case "group":
                self.groups.append(row.blocks)
            case "alone":
                self.alone |= dict.fromkeys(row.matches)
            case "others":
                self.beside_others += 1
            case "began" if life is None:
                life = self._lives[row.process] = _Life(row.entry, row.at_ns)
                self._machines[row.machine].append(life)
            case "plays":
                match = sys.intern(row.match)  # several processes play it
                self._in_group[match, len(self.groups)] = None
                if life is not None:
                    life.attempts.setdefault(match, row.at_ns)
            case "ended" if life is not None:
                life.ended_ns = min(life.ended_ns, row.at_ns)
            case "cleared":
                for one in self._machines[row.machine]:
                    if one.began_ns < row.at_ns:
                        one.ended_ns = min(one.ended_ns, row.at_ns)

    def faults(
        self,
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
        if deals:
            yield from self._group_faults(schedule)
        played: dict[str, set[str]] = defaultdict(set)
        for lives in self._machines.values():
            lives.sort(key=lambda one: one.began_ns)
            for life in lives:
                for attempt in life.attempts:
                    played[attempt].add(life.entry)
            yield from _meetings(lives, deals)
        for result in results:
            if result.played_as in deals:
                seated = {seat.entry for seat in result.seats if not seat.termination.forfeit}
                if missing := seated - remote - played[result.played_as]:
                    yield (
                        f"{result.played_as}: no process of {min(missing)} is recorded, "
                        "although it played"
                    )

    def _group_faults(self, schedule: Sequence[ScheduledMatch]) -> Iterator[str]:
        """Yield groups that do not follow the schedule, and the first match outside each group."""
        sizes = Counter(match.deal_block for match in schedule)
        block_of = {match.match_id: match.deal_block for match in schedule}
        before: set[str] = set()
        for blocks in self.groups:
            for block in blocks:
                if block in before:
                    yield f"block {plain(block)} is in two groups"
                elif blocks[block] != sizes[block]:
                    yield (
                        f"block {plain(block)} has {blocks[block]} of its "
                        f"{sizes[block]} matches in its group"
                    )
            before.update(blocks)
        groups = ({}, *self.groups)
        named: set[int] = set()
        for attempt, number in self._in_group:
            match_id = attempt if attempt in block_of else attempt.rpartition(".")[0]
            if number not in named and block_of.get(match_id, "") not in groups[number]:
                named.add(number)
                yield (
                    f"{plain(attempt)} was played outside its group, whose legs "
                    "were over or had not begun"
                )


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
                f"{attempt} has the deal of {first[deal]}, and some bot process lived "
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
