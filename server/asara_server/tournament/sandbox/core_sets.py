"""Processor cores of their own for the bots of each match, so that no match slows another one down.

A limit of processor time alone does not keep bots apart: a bot with many processes uses its time on
all cores at once, and then each other bot waits for a part of it.

A bot can read which cores it has. So a match gets the first free set: which one that is at the
beginning of a leg does not depend on the order in which the matches of the leg before ended.
"""

import heapq
import os
from collections.abc import Iterator
from contextlib import contextmanager


class CoreSets:
    """The usable cores in equal sets, one for each match at once; no sets if there are too few."""

    def __init__(self, matches: int, cores: int) -> None:
        """There are so many `matches` at once, and each bot may use so many `cores`."""
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        size = len(usable) // max(matches, 1)
        sets = [usable[match * size : (match + 1) * size] for match in range(matches)]
        self._free = sorted(",".join(map(str, one)) for one in sets) if size >= cores else []

    @contextmanager
    def taken(self) -> Iterator[str]:
        """Take a set that nobody else has meanwhile: numbers of cores with commas, or ""."""
        cores = heapq.heappop(self._free) if self._free else ""
        try:
            yield cores
        finally:
            if cores:
                heapq.heappush(self._free, cores)
