"""A duel: two entries play mirrored deal blocks until it is told whether one is better. Pure.

The blocks count in the order of the schedule, each as soon as it and all before it are over. So
what is told does not depend on how many are played at once, nor on which take long: were they taken
as they end, blocks that end quickly would come first, and a bot that wins quickly with them.
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
    """How a duel stands, or stood when it ended; all of the blocks that count."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[str, str]
    """A and B."""
    rule_sets: str
    verdict: Verdict
    blocks: int
    """That count."""
    void_blocks: int
    """Left out because the referee failed in them."""
    counts: tuple[int, ...]
    """Of blocks in which A scored 0, ¼, ½, ¾, 1."""
    score: float | None
    """Mean of A over the blocks; that of B is 1 less it. None without a block."""
    interval_95: tuple[float, float] | None
    """Of the expected score of A; see `sequential`."""
    margin: float
    margin_elo: float
    alpha: float
    beta: float
    max_blocks: int
    log_likelihood_ratios: tuple[float, float]
    """That A is better, and that B is."""
    bounds: tuple[float, float]
    """Of these."""
    forfeits: tuple[dict[str, int], dict[str, int]]
    """By A and by B: how many of which kind. Each counts as a lost match."""
    failed_start: str | None
    """Who never started and why, which ends a duel."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def better(self) -> str | None:
        """The entry that is, where that is told."""
        return {Verdict.A_BETTER: self.entries[0], Verdict.B_BETTER: self.entries[1]}.get(
            self.verdict
        )


class Duel:
    """What the results of a duel amount to so far."""

    def __init__(self, matches: Sequence[ScheduledMatch], test: SequentialTest) -> None:
        """`matches` are mirrored blocks of two entries, in the order of the schedule.

        The first is A, who sits in seat 0 of the first match.
        """
        self._test = test
        self._rules = matches[0].rule_sets
        self._a, self._b = matches[0].entries
        self._blocks = list(dict.fromkeys(match.deal_block for match in matches))
        self._size = Counter(match.deal_block for match in matches)
        self._results: dict[str, list[MatchResult]] = defaultdict(list)
        self._next = 0
        """The first block of the schedule that is not over."""
        self._counts = np.zeros(len(SCORES), np.int64)
        self._void = 0
        self._forfeits = {self._a: Counter[str](), self._b: Counter[str]()}
        self._started: set[str] = set()
        self._failed_start: str | None = None
        self.verdict = Verdict.OPEN
        """What is told; blocks that come later change nothing."""

    @property
    def over(self) -> bool:
        """Whether nothing more need be played."""
        return self.verdict is not Verdict.OPEN or self._failed_start is not None

    def add(self, result: MatchResult) -> None:
        """A match is over, for good: void results are those that are not played again."""
        if not self.over:
            self._note_starts(result)
        self._results[result.deal_block].append(result)
        while not self.over and self._next < len(self._blocks):
            name = self._blocks[self._next]
            played = self._results[name]
            if len(played) < self._size[name]:
                return
            del self._results[name]
            self._next += 1
            self._count(played)

    def _note_starts(self, result: MatchResult) -> None:
        for line in result.seats:
            if line.termination != Termination.NEVER_STARTED:
                self._started.add(line.entry)
            elif line.entry not in self._started and self._failed_start is None:
                self._failed_start = f"{line.entry} did not start: {line.detail}"

    def _count(self, played: Iterable[MatchResult]) -> None:
        matches = list(played)
        if any(result.void for result in matches):
            self._void += 1
            return
        score = sum(map(self._score, matches)) / len(matches)
        self._counts[SCORES.index(score)] += 1
        for result in matches:
            for line in result.forfeits:
                self._forfeits[line.entry][line.termination.name.lower()] += 1
        self.verdict = self._test.verdict(self._counts)

    def _score(self, result: MatchResult) -> float:
        """Of A."""
        scores = match_scores([line.rank for line in result.seats])
        return scores[[line.entry for line in result.seats].index(self._a)]

    @property
    def blocks_left(self) -> float:
        """About how many more, if the rest goes on like what was played; infinite before that."""
        if self.over:
            return 0
        return min(len(self._blocks) - self._next, self._test.blocks_left(self._counts))

    def report(self) -> DuelReport:
        """How it stands now."""
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
