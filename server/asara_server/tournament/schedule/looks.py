"""When a run may end early: the looks at its results. Pure.

Whoever looks at results after every match, and stops when they are clear, is wrong more often than
the intervals say. So the results are looked at only a few times, after numbers of matches that are
fixed before the first one and grow by half each time. The looks share the 5 % of errors: with eight
looks, every interval, and all rank sets of a look together, have an error of 0.625 % (Bonferroni).
So at whichever look the run ends, they are wrong in at most 5 % of runs. This takes about twice as
many blocks as one look. Confidence sequences allow a look after every block (Waudby-Smith and
Ramdas, "Estimating Means of Bounded Random Variables by Betting", 2024), but cost at least as much,
and there are none for the ranks of several entries that meet in a block.

A look follows a whole round, in which all groups have met; or a block if there is only one round.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from asara_server.tournament.schedule.schedule import ScheduledMatch

_LOOKS: Final = 8
_GROWTH: Final = 1.5


def looks_at(schedule: Sequence[ScheduledMatch]) -> tuple[int, ...]:
    """Return the numbers of matches after which the results are looked at; the last is all."""
    one_round = schedule[0].round == schedule[-1].round
    return looks_of([match.deal_block if one_round else str(match.round) for match in schedule])


def looks_of(parts: Sequence[str]) -> tuple[int, ...]:
    """Return the looks at matches of these parts, each of which is played whole."""
    ends = [number for number, (one, other) in enumerate(pairwise(parts), 1) if one != other]
    ends.append(len(parts))
    wanted = {math.ceil(len(ends) / _GROWTH**look) for look in range(_LOOKS)}
    return tuple(ends[number - 1] for number in sorted(wanted))
