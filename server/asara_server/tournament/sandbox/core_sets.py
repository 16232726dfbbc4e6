"""Processor cores of their own for the bots of each match, so that no match slows another one down.

A limit of processor time alone does not keep bots apart: a bot with many processes uses its time on
all cores at once, and then each other bot waits for a part of it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager


class CoreSets:
    """Equal sets of the usable cores, one for each match at once; none if there are too few."""

    def __init__(self, matches: int, cores: int) -> None:
        """There are so many `matches` at once, and each bot may use so many `cores`."""
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        size = len(usable) // max(matches, 1)
        sets = [usable[match * size : (match + 1) * size] for match in range(matches)]
        self._free = [",".join(map(str, one)) for one in sets] if size >= cores else []

    @contextmanager
    def taken(self) -> Iterator[str]:
        """Take a set that nobody else has meanwhile: numbers of cores with commas, or ""."""
        cores = self._free.pop() if self._free else ""
        try:
            yield cores
        finally:
            if cores:
                self._free.append(cores)
