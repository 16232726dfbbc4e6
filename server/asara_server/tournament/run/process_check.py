"""Checks that no bot process lived through two matches of one deal, as the runner recorded it.

Between two matches of one deal there is a moment at which no bot process lived on the machine. So
nothing that one of them saw can have reached the other. The legs of a group have no other matches
than those of its blocks. What the record cannot show is that it is true: it is the organiser's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from asara_server.text import plain
from asara_server.tournament.run.process_record import PROCESSES, ProcessRow
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, attempt_name


@dataclass(slots=True)
class _Life:
    """When a process lived, by the clock of its machine."""

    entry: str
    began_ns: float
    ended_ns: float = inf
    attempts: dict[str, int] = field(default_factory=dict)
    """When it began to take part in each attempt."""


def process_faults(
    rows: Iterable[ProcessRow],
    schedule: Sequence[ScheduledMatch],
    results: Iterable[MatchResult],
    *,
    max_attempts: int,
    remote: frozenset[str],
) -> Iterator[str]:
    """Yield what is wrong: processes that met a deal again, attempts without their processes, and
    matches that were played outside their group.

    `remote` are the entries on other machines, of which there is no record.
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
    """Yield groups that are not of the schedule, and the first match outside each group."""
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
    """Return the lives of all processes, by machine, in the order in which they began."""
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
    """Yield each attempt of a machine whose deal was known to somebody when it began."""
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
    """Yield the lives between two moments at which no process lived."""
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
