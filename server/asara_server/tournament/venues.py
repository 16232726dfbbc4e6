"""Who plays the matches of a run: a referee in the runner's own process, or workers elsewhere.

Either takes what waits from the course of the run and hands in results; the rest of a run is the
same (see `runner`).
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from asara_game.edition import Edition
from asara_server.referee import Referee
from asara_server.replay import replay_records
from asara_server.tournament.config import Remote
from asara_server.tournament.course import Course
from asara_server.tournament.house import House, Terms, open_house
from asara_server.tournament.reception import Line, Reception
from asara_server.tournament.sandbox import Sandbox

FINISH_S = 5.0
"""Seconds that running matches have for their open decisions when the run is stopped."""


@dataclass(frozen=True, slots=True)
class Commission:
    """What a run is played with. It stays with the runner: all deals follow from `secret_of`."""

    terms: Terms
    edition: Edition
    secret_of: Callable[[str, str], bytes]
    """The secret of a match, by its name as it is played and that of its mirrored block."""
    sandbox: Sandbox | None
    concurrency: int
    """Matches at once, where the venue has no other measure."""
    remote: Remote | None = None
    """Where bots on other machines dial in, if entries have some."""


class Venue(Protocol):
    """Plays a run."""

    @property
    def awaited(self) -> Sequence[str]:
        """Entries whose bots matches wait for."""

    async def play(self, course: Course, commission: Commission) -> None:
        """Play what waits, until nothing does or the course is `stopping`.

        Entries that are out or suspended forfeit. Whatever happens, no bot is left.
        """


class OwnProcess:
    """A referee in this process, so many matches at once as the tournament says."""

    def __init__(
        self,
        watch: Callable[[Referee], None] = lambda referee: None,
        opened: Callable[[str], None] = lambda address: None,
    ) -> None:
        """`watch` is given the referee before it plays, `opened` the address where bots dial in
        from other machines.
        """
        self._watch = watch
        self._opened = opened
        self._reception: Reception | None = None

    @property
    def awaited(self) -> Sequence[str]:
        return () if self._reception is None else self._reception.awaited

    async def play(self, course: Course, commission: Commission) -> None:
        """Raises ServeError where bots on other machines cannot be let in."""
        referee = Referee(journal=course.directory.journal)
        self._watch(referee)
        entries = commission.terms.entries
        reception = Reception(referee, commission.remote, entries, course.directory.write_remote)
        async with (
            reception.open(self._opened),
            open_house(
                commission.terms,
                referee,
                edition=commission.edition,
                secret_of=commission.secret_of,
                sandbox=commission.sandbox,
                logs=course.directory.logs,
                excluded=course.out | course.suspended,
            ) as house,
        ):
            reception.begin(house.pool)
            self._reception = reception
            line = Line(course.waiting(), reception)
            workers = [
                asyncio.create_task(_work(course, house, line))
                for _ in range(min(commission.concurrency, len(line)))
            ]
            stopper = asyncio.create_task(_stop(course, referee, line))
            try:
                await asyncio.gather(*workers)
                if course.stopping.is_set():
                    await stopper
            finally:
                for task in (*workers, stopper):
                    task.cancel()
                await asyncio.gather(*workers, stopper, return_exceptions=True)
                course.out = {
                    n: why for n, why in house.pool.out.items() if n not in course.suspended
                }


async def _work(course: Course, house: House, line: Line) -> None:
    """Play one match after the other until none waits."""
    async for match, attempt in line:
        if not course.begin(match.deal_block):
            return
        played = None
        async for played in house.arena.play(match, attempt):
            records = None if played.replay is None else replay_records(played.replay)
            suspended = course.take(played.result, records, house.pool.out)
            for name, why in suspended.items():
                await house.pool.exclude(name, why)
        line.over(match)
        if played is None:
            return
        course.close(match, played.result)


async def _stop(course: Course, referee: Referee, line: Line) -> None:
    await course.stopping.wait()
    line.close()
    course.cut += await referee.stop(finish_s=FINISH_S)
