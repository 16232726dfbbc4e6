"""Shows the progress and the verdict of a duel."""

import asyncio
import math
from collections.abc import Iterable

from rich.live import Live
from rich.text import Text

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.display.console import err, notify, shows_progress
from asara_server.cli.display.progress import LINE_INTERVAL_S, RunActivity, wait_text
from asara_server.text import count, plain_words
from asara_server.tournament.standings.duel import Duel, DuelReport
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.sprt import SequentialTest, Verdict, elo

_TERMINAL_INTERVAL_S = 0.5
_NAME_CHARACTERS = 16
_BAR_CELLS = 10


class DuelMeter:
    """Shows one line of progress: in place on a terminal, otherwise every few seconds."""

    def __init__(self, duel: Duel, heading: str) -> None:
        self.duel = duel
        self._heading = heading
        self._activity: RunActivity | None = None

    def start(self, over: int, results: Iterable[MatchResult], activity: RunActivity) -> None:
        self._activity = activity
        notify(self._heading)
        for result in results:
            self.duel.add(result)

    def add_result(self, result: MatchResult) -> None:
        self.duel.add(result)

    def decided(self) -> bool:
        """Return True if no further block needs to be played."""
        return self.duel.over

    async def show(self) -> None:
        shown = ""
        with Live(console=err, transient=True, auto_refresh=False) as live:
            while True:
                await asyncio.sleep(_TERMINAL_INTERVAL_S if shows_progress() else LINE_INTERVAL_S)
                line = progress_line(self.duel.report(), self.duel.blocks_left)
                if self._activity and (waiting := wait_text(self._activity.waits)):
                    line += f"; {waiting}"
                if line == shown:
                    continue
                shown = line
                if shows_progress():
                    live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
                else:
                    notify(line)


def heading(
    names: tuple[str, str], rule_sets: frozenset[RuleSet], test: SequentialTest, at_once: int
) -> str:
    """Explain what is compared, and how to read `progress_line`."""
    a, b = names
    lower, upper = test.bounds
    score = 0.5 + test.margin
    return (
        f"{a} against {b}, {count(at_once, 'match')} at a time "
        f"(rules: {format_rule_sets(rule_sets)})\n"
        "A bot counts as better if its expected score is at least "
        f"{score:g} ({elo(score):.0f} Elo).\n"
        f"Progress lines show the blocks played, {_possessive(_short(a))} score with its 95%\n"
        "interval, and a bar for the test statistic. The duel ends when the statistic\n"
        f"reaches {lower:.1f} (neither bot is better) or {upper:.1f} (one bot is better)."
    )


def progress_line(report: DuelReport, blocks_left: float) -> str:
    """Return the state of a duel in at most 80 characters.

    The line shows the number of blocks, A's score with its interval, and the log-likelihood ratio
    of the leading bot between its bounds.
    """
    if report.score is None or report.interval_95 is None:
        return "no blocks finished yet"
    lower, upper = report.bounds
    ratio = max(report.log_likelihood_ratios)
    filled = round(_BAR_CELLS * min(1.0, max(0.0, (ratio - lower) / (upper - lower))))
    bar = "#" * filled + "·" * (_BAR_CELLS - filled)
    low, high = report.interval_95
    left = (
        f"  ~{count(math.ceil(blocks_left), 'block')} to go" if 0 < blocks_left < math.inf else ""
    )
    return (
        f"{count(report.blocks, 'block')}: {report.score:.3f} ({low:.3f}–{high:.3f})"
        f"  {lower:.1f} [{bar}] {upper:.1f}{left}"
    )


def verdict(report: DuelReport) -> str:
    """Return the verdict of a duel in plain words."""
    a, b = report.entries
    if report.score is None or report.interval_95 is None:
        return f"No verdict on whether {a} or {b} is better: no block was completed."
    score, (low, high) = report.score, report.interval_95
    if report.better == b:
        a, b = b, a
        score, low, high = 1 - score, 1 - high, 1 - low
    scored = (
        f"scored {score:.3f} (95% interval {low:.3f}–{high:.3f}) "
        f"in {count(report.blocks, 'block')} of two matches"
    )
    if report.better is not None:
        return (
            f"{a} is better than {b}: it {scored}. If the bots were equal, "
            f"at most {100 * report.alpha:g} in 100 duels would end with this verdict."
        )
    if report.verdict is Verdict.NO_DIFFERENCE:
        return (
            f"Neither is better by {report.margin:g} ({report.margin_elo:.0f} Elo) or more: "
            f"{a} {scored} against {b}. If one were, "
            f"at most {100 * report.beta:g} in 100 duels would end with this verdict."
        )
    return (
        f"The duel ended without a verdict on whether {a} or {b} is better: {a} {scored}. "
        "To play longer, raise --max-blocks."
    )


def forfeit_lines(report: DuelReport) -> list[str]:
    """Return a line for each bot that forfeited, with the number of its forfeits by kind."""
    matches = count(2 * report.blocks, "match")
    return [
        f"{entry} forfeited {sum(kinds.values()):,} of {matches}, which count as losses: "
        + ", ".join(f"{plain_words(name)} {number:,}" for name, number in sorted(kinds.items()))
        for entry, kinds in zip(report.entries, report.forfeits, strict=True)
        if kinds
    ]


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"
