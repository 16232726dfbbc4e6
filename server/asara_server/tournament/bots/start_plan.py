"""The processes that are to be started for matches to come. Pure.

A process that lives for one match has a key of its own, its entry, match and seat. Those that live
on have the same key if they can replace each other, which are those of one entry and place.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class SeatNeed(NamedTuple):
    """A seat of a match to come, for which a process will be needed."""

    entry: str
    place: int
    """Place of the match in its block."""
    match_id: str
    """Name of the attempt."""
    seat: int
    imminent: bool
    """True if the match may begin before a process that is started now is ready."""


@dataclass(slots=True)
class StartPlan:
    """Processes that matches to come need, as far as there is room for them while they are idle."""

    missing: list[SeatNeed] = field(default_factory=list)
    """Seats for which a process has to be started, the one needed first at the beginning."""
    needed: list[Hashable] = field(default_factory=list)
    """Keys of the idle processes that are needed, the one needed first at the beginning."""


def plan_starts(
    needs: Iterable[tuple[Hashable, SeatNeed]],
    idle: Iterable[Hashable],
    busy: Mapping[Hashable, int],
    *,
    most_alike: int,
    most_idle: int,
) -> StartPlan:
    """Plan the starts for these seats, each with the key of its process, the first match first.

    `idle` and `busy` are the keys of the processes that there are. A process that plays now serves
    a later match, unless that is imminent. There are never more than `most_alike` processes with
    one key, which is the number of matches at once. The plan has at most `most_idle` processes,
    those included that play now and are needed again.
    """
    left = Counter(idle)
    returning = Counter(busy)
    there = left + returning
    plan = StartPlan()
    room = most_idle
    for key, need in needs:
        if not room:
            break
        if left[key]:
            left[key] -= 1
            plan.needed.append(key)
        elif returning[key] and (not need.imminent or there[key] >= most_alike):
            returning[key] -= 1
        elif there[key] < most_alike:
            there[key] += 1
            plan.missing.append(need)
            plan.needed.append(key)
        else:
            continue  # the process of an earlier match will have returned
        room -= 1
    return plan


def surplus(idle: Iterable[Hashable], needed: Iterable[Hashable]) -> int:
    """Return the index of the idle process that can be spared first; there must be one.

    That is one that is not needed, the first of them, or else the one needed last.
    """
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(needed):
        places.setdefault(key, []).append(place)
    last = -1, -1
    for index, key in enumerate(idle):
        if not places.get(key):
            return index
        last = max(last, (places[key].pop(0), index))
    return last[1]
