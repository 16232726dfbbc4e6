"""Groups and legs: the order in which matches that share deals are played. Pure.

Anyone who has seen a deal could reveal it to bots that have yet to play it. Therefore, no bot that
has seen a deal may still be alive when the deal is played again. The blocks of a run are played in
groups, and the matches of a group in legs. A leg has at most one match of each block, so all its
deals are different. After a leg, every bot process on the machine is ended before the next leg
begins.

The leg in which each match of a block is played rotates over the blocks, so that no leg favours a
seat. Smaller blocks are spread over the legs. A match that is repeated because the referee failed
is played after all others of its group. Matches with remote bots also come last, because nobody
here can end a remote bot.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch

DEFAULT_MATCH_S: Final = 1.0
LEG_S: Final = 30.0
LEG_MATCHES: Final = 16


@dataclass(frozen=True, slots=True)
class Legs:
    """Decides whether anyone could pass on the deals of a run that is played in legs."""

    contained: bool = False
    """True if all bots on this machine are contained."""
    remote: tuple[str, ...] = ()
    """Entries on other machines."""
    others: Callable[[], bool] = lambda: False
    """Returns True if bots of other runs live on the machine."""


def share_deals(matches: Iterable[ScheduledMatch]) -> bool:
    """Return True if some of the matches share a deal."""
    return any(match.shared_deal for match in matches)


def with_own_deals(
    schedule: Sequence[ScheduledMatch], matches: Collection[str]
) -> Sequence[ScheduledMatch]:
    """Return the schedule with new deals for these matches, which no other match shares."""
    if not matches:
        return schedule
    return [
        replace(match, kind="independent") if match.match_id in matches else match
        for match in schedule
    ]


def group_size(blocks_left: int, concurrency: int, match_s: float) -> int:
    """Return the number of blocks in the next group; a leg plays one match of each block.

    For each concurrent match, a leg has 16 matches, or as many as 30 seconds allow if these are
    more. Starting bots and waiting for the last match of a leg thus take a small share of the time.
    All groups of the run have about the same size.
    """
    each = max(LEG_MATCHES, LEG_S / max(match_s, 0.001))
    groups = max(int(blocks_left / (each * concurrency)), 1)
    return math.ceil(blocks_left / groups)


def leg_count(group: Sequence[Sequence[ScheduledMatch]]) -> int:
    """Return the number of legs for a group of blocks, assuming that no match is repeated."""
    return max(map(len, group), default=0)


def next_leg(
    group: Sequence[Sequence[ScheduledMatch]],
    attempts: Mapping[str, int],
    remote: Collection[str] = (),
) -> list[Attempt]:
    """Return the attempts of the next leg of a group of blocks; none if the group is over.

    `attempts` maps each pending match to the number of its next attempt. `remote` are the entries
    on other machines.
    """
    legs, away = leg_count(group), set(remote)
    following: list[tuple[int, Attempt]] = []
    """The next match of each block, with its leg."""
    for index, block in enumerate(group):
        pending = []
        for number, match in enumerate(block):
            attempt = attempts.get(match.match_id)
            if attempt is None:
                continue
            leg = (number * legs // len(block) + index) % legs
            if attempt > 1:
                leg = legs
            if not away.isdisjoint(match.entries):
                leg = legs + 1
            pending.append((leg, Attempt(match, attempt)))
        if pending:
            following.append(min(pending, key=lambda one: one[0]))
    first = min((leg for leg, _ in following), default=0)
    return [attempt for leg, attempt in following if leg == first]
