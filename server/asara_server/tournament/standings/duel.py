"""A duel: two entries play mirrored blocks until one is found to be better. Pure.

Blocks count in schedule order, each as soon as it and all earlier blocks are over. The verdict
therefore depends neither on the number of concurrent matches nor on their durations. If blocks
counted in the order in which they end, quick blocks would come first and favour a bot that wins
quickly.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, computed_field

from asara_codec.results import Termination
from asara_game.rules import format_rule_sets
from asara_server.outcome import match_scores
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.sprt import (
    SCORES,
    SequentialTest,
    Verdict,
    elo,
    interval,
    mean_score,
)


class DuelReport(BaseModel):
    """The state of a duel, based on all blocks counted so far."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[str, str]
    """Names of A and B."""
    rule_sets: str
    verdict: Verdict
    blocks: int
    """Number of blocks counted so far."""
    void_blocks: int
    """Number of blocks that are excluded because the referee failed in them."""
    counts: tuple[int, ...]
    """Numbers of blocks in which A scored 0, ¼, ½, ¾, 1."""
    score: float | None
    """Mean score of A over the blocks; None without a block. The score of B is 1 - score."""
    interval_95: tuple[float, float] | None
    """Interval for the expected score of A; see `sprt`."""
    margin: float
    margin_elo: float
    alpha: float
    beta: float
    max_blocks: int
    log_likelihood_ratios: tuple[float, float]
    """Log-likelihood ratios of "A is better" and "B is better"."""
    bounds: tuple[float, float]
    """Bounds of these ratios."""
    forfeits: tuple[dict[str, int], dict[str, int]]
    """Forfeits of A and of B by kind; each counts as a lost match."""
    failed_start: str | None
    """The entry that never started, with the reason; such an entry ends the duel."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def better(self) -> str | None:
        """Name of the better entry, or None if the verdict names no better entry."""
        return {Verdict.A_BETTER: self.entries[0], Verdict.B_BETTER: self.entries[1]}.get(
            self.verdict
        )


class Duel:
    """The results of a duel so far."""

    def __init__(self, matches: Sequence[ScheduledMatch], test: SequentialTest) -> None:
        """`matches` are mirrored blocks of two entries, in schedule order.

        A is the entry in seat 0 of the first match.
        """
        self._test = test
        self._rules = matches[0].rule_sets
        self._a, self._b = matches[0].entries
        self._blocks = list(dict.fromkeys(match.deal_block for match in matches))
        self._size = Counter(match.deal_block for match in matches)
        self._results: dict[str, list[MatchResult]] = defaultdict(list)
        self._next = 0
        """Index of the first unfinished block."""
        self._counts = np.zeros(len(SCORES), np.int64)
        self._void = 0
        self._forfeits = {self._a: Counter[str](), self._b: Counter[str]()}
        self._started: set[str] = set()
        self._failed_start: str | None = None
        self.verdict = Verdict.OPEN
        """Verdict of the test; later blocks do not change it."""

    @property
    def over(self) -> bool:
        """True if no further match is needed."""
        return self.verdict is not Verdict.OPEN or self._failed_start is not None

    def add(self, result: MatchResult) -> None:
        """Add the final result of a match; a void match is not played again."""
        if not self.over:
            self._record_starts(result)
        self._results[result.deal_block].append(result)
        while not self.over and self._next < len(self._blocks):
            name = self._blocks[self._next]
            played = self._results[name]
            if len(played) < self._size[name]:
                return
            del self._results[name]
            self._next += 1
            self._count(played)

    def _record_starts(self, result: MatchResult) -> None:
        for line in result.seats:
            if line.termination != Termination.NEVER_STARTED:
                self._started.add(line.entry)
            elif line.entry not in self._started and self._failed_start is None:
                self._failed_start = f"{line.entry} did not start: {line.explanation}"

    def _count(self, played: Iterable[MatchResult]) -> None:
        matches = list(played)
        if any(result.void for result in matches):
            self._void += 1
            return
        score = sum(map(self._score_of_a, matches)) / len(matches)
        self._counts[SCORES.index(score)] += 1
        for result in matches:
            for line in result.forfeits:
                self._forfeits[line.entry][line.termination.name.lower()] += 1
        self.verdict = self._test.verdict(self._counts)

    def _score_of_a(self, result: MatchResult) -> float:
        scores = match_scores([line.rank for line in result.seats])
        return scores[[line.entry for line in result.seats].index(self._a)]

    @property
    def blocks_left(self) -> float:
        """Estimated number of further blocks at the present trend; infinite before the first."""
        if self.over:
            return 0
        return min(len(self._blocks) - self._next, self._test.blocks_left(self._counts))

    def report(self) -> DuelReport:
        """Return the current state."""
        counts = self._counts
        played = int(counts.sum())
        ratios = self._test.ratios(counts)
        return DuelReport(
            entries=(self._a, self._b),
            rule_sets=format_rule_sets(self._rules),
            verdict=self.verdict,
            blocks=played,
            void_blocks=self._void,
            counts=tuple(map(int, counts)),
            score=mean_score(counts) if played else None,
            interval_95=interval(counts) if played else None,
            margin=self._test.margin,
            margin_elo=elo(0.5 + self._test.margin),
            alpha=self._test.alpha,
            beta=self._test.beta,
            max_blocks=len(self._blocks),
            log_likelihood_ratios=(float(ratios[0]), float(ratios[1])),
            bounds=self._test.bounds,
            forfeits=(dict(self._forfeits[self._a]), dict(self._forfeits[self._b])),
            failed_start=self._failed_start,
        )
