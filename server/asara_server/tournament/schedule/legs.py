"""Groups and legs: the order in which matches that share deals are played. Pure.

Whoever has seen a deal could tell those who still have to play it. So nobody who has seen it may
live any more when it is played again. The blocks of a run are played in groups, and the matches of
a group in legs. A leg has one match of each block at most, so all its deals are different. After a
leg every bot process on the machine is ended, and only then the next leg begins.

Which match of a block is in which leg rotates over the blocks, so that no seat is favoured in a
leg. Blocks with fewer matches than others are spread over the legs. A match that is played again,
because the referee failed, follows after all others of its group. So do matches with bots on other
machines, which nobody here can end.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from asara_server.tournament.schedule.schedule import ScheduledMatch

DEFAULT_START_S: Final = 0.3
DEFAULT_MATCH_S: Final = 1.0
OVERHEAD: Final = 0.03
"""Share of a group's time that starting bots and waiting for the last match of a leg may take."""
LARGEST_SHARE: Final = 0.1
"""Share of a run that a group may take, unless that is less than `SHORT_S`."""
SHORT_S: Final = 300.0


class PendingMatch(NamedTuple):
    """A match without a result."""

    match: ScheduledMatch
    attempt: int
    """Number of the attempt that is next, from 1."""


def share_deals(matches: Iterable[ScheduledMatch]) -> bool:
    """Return True if some of the matches share a deal."""
    return any(match.shared_deal for match in matches)


def with_own_deals(
    schedule: Sequence[ScheduledMatch], matches: Collection[str]
) -> Sequence[ScheduledMatch]:
    """Return the schedule in which these matches share their deals with no other."""
    if not matches:
        return schedule
    return [
        replace(match, kind="independent") if match.match_id in matches else match
        for match in schedule
    ]


@dataclass(frozen=True, slots=True)
class GroupSize:
    """How many blocks the next group has, and what that follows from."""

    blocks_left: int
    legs: int
    concurrency: int
    match_s: float
    """Seconds of a match."""
    start_s: float
    """Seconds of the start of a bot."""

    @property
    def blocks(self) -> int:
        """Number of blocks of the group.

        So many that the starts of a leg, and the waiting for its last match, take about `OVERHEAD`
        of its time; but a group takes at most `LARGEST_SHARE` of the run, or `SHORT_S` if that is
        longer, so that blocks complete all along.
        """
        match_s, concurrency = max(self.match_s, 0.001), self.concurrency
        leg_s = self.start_s + (match_s / 2 if concurrency > 1 else 0.0)
        wanted = leg_s * concurrency / (OVERHEAD * match_s)
        block_s = self.legs * match_s / concurrency
        most = max(LARGEST_SHARE * self.blocks_left * block_s, SHORT_S) / block_s
        size = max(math.ceil(min(wanted, most)), concurrency, 1)
        groups = max(self.blocks_left // size, 1)
        return math.ceil(self.blocks_left / groups)


def leg_count(group: Sequence[Sequence[ScheduledMatch]]) -> int:
    """Return the number of legs of a group of blocks, if no match is repeated."""
    return max(map(len, group), default=0)


def next_leg(
    group: Sequence[Sequence[ScheduledMatch]],
    attempts: Mapping[str, int],
    remote: Collection[str] = (),
) -> list[PendingMatch]:
    """Return the matches of the next leg of a group of blocks; none if the group is over.

    `attempts` has the next attempt at each match that is pending, by its name. `remote` are the
    entries on other machines.
    """
    legs = leg_count(group)
    waiting = [
        found[0]
        for index, block in enumerate(group)
        if (found := _waiting(index, block, legs, attempts, remote))
    ]
    leg = min((one.leg for one in waiting), default=0)
    return [one.pending for one in waiting if one.leg == leg]


class _Waiting(NamedTuple):
    leg: int
    order: int
    pending: PendingMatch


def _waiting(
    index: int,
    block: Sequence[ScheduledMatch],
    legs: int,
    attempts: Mapping[str, int],
    remote: Collection[str],
) -> list[_Waiting]:
    """Return the pending matches of a block with their legs, the next one first."""
    found = []
    for number, match in enumerate(block):
        attempt = attempts.get(match.match_id)
        if attempt is None:
            continue
        leg = (number * legs // len(block) + index) % legs
        if attempt > 1:
            leg = legs
        if not set(remote).isdisjoint(match.entries):
            leg = legs + 1
        found.append(_Waiting(leg, number, PendingMatch(match, attempt)))
    return sorted(found, key=lambda one: one[:2])
