"""Decides when a run may end early: at looks at its results. Pure.

Looking at the results after every match, and stopping when they are clear, gives more errors than
the intervals promise. The results are therefore looked at only a few times. The match counts for
these looks are fixed before the first match and grow by half each time. The looks share the 5 % of
errors. With eight looks, every interval, and all rank sets of a look together, have an error of
0.625 % (Bonferroni). At whichever look the run ends, they are thus wrong in at most 5 % of runs.
This takes about twice as many blocks as a single look. Confidence sequences allow a look after
every block (Waudby-Smith and Ramdas, "Estimating Means of Bounded Random Variables by Betting",
2024). However, they cost at least as much, and there are none for the ranks of several entries that
meet in a block.

A look follows a whole round, in which all groups have met, or a block if there is only one round.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from asara_server.tournament.schedule.schedule import ScheduledMatch

_LOOKS: Final = 8
_GROWTH: Final = 1.5


def looks_at(schedule: Sequence[ScheduledMatch]) -> tuple[int, ...]:
    """Return the match counts at which results are looked at; the last is the whole schedule."""
    one_round = schedule[0].round == schedule[-1].round
    return looks_of([match.deal_block if one_round else str(match.round) for match in schedule])


def looks_of(parts: Sequence[str]) -> tuple[int, ...]:
    """Return the looks for matches that come in these parts; each part is played whole."""
    ends = [number for number, (one, other) in enumerate(pairwise(parts), 1) if one != other]
    ends.append(len(parts))
    wanted = {math.ceil(len(ends) / _GROWTH**look) for look in range(_LOOKS)}
    return tuple(ends[number - 1] for number in sorted(wanted))
