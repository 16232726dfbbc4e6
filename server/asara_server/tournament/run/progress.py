"""How far a run is: what is still to be played, what was played, and what is kept of it.

It knows nothing of who plays; see `venues`. All of it belongs to one event loop.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from asara_server.logs import logger
from asara_server.replay.file import signed_bytes
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.run.suspension import Suspensions
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, attempt_name

MAX_ATTEMPTS = 3
"""Times that a match is begun before it stays void, if the referee fails in it."""


@dataclass(frozen=True, slots=True)
class PendingBlock:
    """A deal block, as far as it is still to be played."""

    name: str
    matches: tuple[tuple[ScheduledMatch, int], ...]
    """Each with the attempt to begin with."""


class RunProgress:
    """The course of one run. Whoever plays it takes from it what waits, and hands in results."""

    def __init__(
        self,
        matches: Sequence[ScheduledMatch],
        limits: Limits,
        directory: RunDirectory,
        key: SigningKey,
        *,
        results: Sequence[MatchResult],
        finished: Callable[[MatchResult], None],
        enough: Callable[[], bool],
    ) -> None:
        """`results` are those of a run that goes on.

        `finished` hears of every match. `enough` is asked after every match. Once it says so no
        further deal block begins, the begun ones are played to their end, and they are then the
        whole schedule.
        """
        self.matches = matches
        self.directory = directory
        self.results: list[MatchResult] = list(results)
        self.stopping = asyncio.Event()
        """Set once nothing more may begin."""
        self.cut: list[str] = []
        """How far the matches were that were stopped in the middle; or why there is no result."""
        self.out: dict[str, str] = {}
        """Entries that could not be built or did not start, and why."""
        self._key = key
        self._finished = finished
        self._enough = enough
        self._decided = False
        self._begun = {result.deal_block for result in self.results}
        """Deal blocks of which a match was begun."""
        self._open = Counter(match.block for match, _ in self.waiting() if match.mirrored)
        """Matches to be played of each mirrored block that is not over."""
        self._held: dict[str, list[str]] = defaultdict(list)
        """By such a block, the replays that may not be read yet."""
        self._suspensions = Suspensions(matches, limits)
        self._logger = logger("runner")
        for result in self.results:
            self._write_replay(result)
            self._suspensions.take(result)

    @property
    def over(self) -> int:
        """Matches that need not be played any more."""
        return len(self.matches) - len(self.waiting())

    @property
    def suspended(self) -> dict[str, str]:
        """Entries that faulted too often, and why."""
        return self._suspensions.suspended

    def waiting(self) -> list[tuple[ScheduledMatch, int]]:
        """The matches that have no result yet, with the attempt to begin with.

        Those that the journal can go on with come first.
        """
        over = {result.match_id for result in self.results if not result.void}
        failed = Counter(result.match_id for result in self.results)
        waiting = [
            (match, failed[match.match_id] + 1)
            for match in self.matches
            if match.match_id not in over and failed[match.match_id] < MAX_ATTEMPTS
        ]
        begun = self.directory.journal.unfinished
        return sorted(waiting, key=lambda one: attempt_name(one[0].match_id, one[1]) not in begun)

    def blocks(self) -> list[PendingBlock]:
        """The same, by deal block."""
        found: dict[str, list[tuple[ScheduledMatch, int]]] = {}
        for match, attempt in self.waiting():
            found.setdefault(match.deal_block, []).append((match, attempt))
        return [PendingBlock(name, tuple(matches)) for name, matches in found.items()]

    def begin(self, deal_block: str) -> bool:
        """Whether a match of this block may begin now; if so, the block has begun."""
        if self.stopping.is_set() or (self._decided and deal_block not in self._begun):
            return False
        self._begun.add(deal_block)
        return True

    def take(
        self, result: MatchResult, records: Sequence[bytes] | None, out: Collection[str] = ()
    ) -> dict[str, str]:
        """An attempt at a match is over. It is kept, with its replay from these records, signed.

        Who is `out` is not judged. Returns the entries that are suspended from now on, and why.
        """
        replay = None if records is None else signed_bytes(records, self._key)
        self.directory.keep(result, replay)
        self.results.append(result)
        self._write_replay(result)
        suspended = self._suspensions.take(result, out)
        for name, why in suspended.items():
            self._logger.warning("entry is suspended", entry=name, why=why)
        return suspended

    def close(self, match: ScheduledMatch, last: MatchResult) -> None:
        """A match is over with this result. With the last of a block its deal may be known."""
        over = not last.void or last.attempt >= MAX_ATTEMPTS
        if over and self._open[match.block]:
            self._open[match.block] -= 1
            if not self._open[match.block]:
                self.directory.write_replays(self._held.pop(match.block, ()))
        self._finished(last)
        if not self._decided and self._enough():
            self._decided = True
            self.matches = [match for match in self.matches if match.deal_block in self._begun]

    def _write_replay(self, result: MatchResult) -> None:
        """Let everybody read the replay, unless it tells the deal of matches still to come."""
        if self._open[result.block]:
            self._held[result.block].append(result.played_as)
        else:
            self.directory.write_replays([result.played_as])
