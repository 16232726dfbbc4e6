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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from asara_server.tournament.schedule.schedule import ScheduledMatch

DEFAULT_MATCH_S: Final = 1.0
LEG_S: Final = 30.0
LEG_MATCHES: Final = 16


@dataclass(frozen=True, slots=True)
class Legs:
    """What decides whether somebody could pass on the deals of a run that is played in legs."""

    contained: bool = False
    """True if all bots of this machine are contained."""
    remote: tuple[str, ...] = ()
    """Entries on other machines."""
    others: Callable[[], bool] = lambda: False
    """Returns True if bots of other runs live on the machine."""


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


def group_size(blocks_left: int, concurrency: int, match_s: float) -> int:
    """Return how many blocks the next group has; a leg plays one match of each.

    For every match played at once, a leg has 16 matches, or as many as take 30 seconds if these are
    more. So starting bots and waiting for the last match of a leg take a small share of the time.
    All groups of the run have about the same size.
    """
    each = max(LEG_MATCHES, LEG_S / max(match_s, 0.001))
    groups = max(int(blocks_left / (each * concurrency)), 1)
    return math.ceil(blocks_left / groups)


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
