"""Plays a duel until its test decides; shows its progress, and prints and writes the verdict."""

import math
from collections.abc import Callable, Iterable

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.commands import duel as commands
from asara_server.cli.display.console import notify, show_line, warn
from asara_server.cli.display.faults import warn_of_faults
from asara_server.cli.display.progress import RunMeter
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_json
from asara_server.cli.sessions.run import notify_run_directory
from asara_server.cli.sessions.series import play_series, series_tournament
from asara_server.text import count, plain_words
from asara_server.tournament.runner import Runner
from asara_server.tournament.schedule.schedule import rotated
from asara_server.tournament.standings.duel import Duel, DuelReport
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.sprt import SequentialTest, Verdict, elo
from asara_server.user_error import UserError

_BAR_CELLS = 10
UNDECIDED = 3
"""Exit status of a duel that ended without a verdict."""


class DuelMeter(RunMeter):
    """Shows the state of a duel, and ends it as soon as its test decides."""

    def __init__(self, duel: Duel, heading: Iterable[str]) -> None:
        self.duel = duel
        self._heading = heading
        super().__init__(0, bar=False)

    @property
    def decided(self) -> Callable[[], bool]:
        return lambda: self.duel.over

    def start(self, runner: Runner) -> None:
        for sentence in self._heading:
            notify(sentence)
        super().start(runner)

    def count(self, result: MatchResult) -> None:
        self.duel.add(result)

    def summary(self) -> str:
        line = progress_line(self.duel.report(), self.duel.blocks_left)
        return f"{line}  ending" if self.duel.over else line


def heading(
    names: tuple[str, str], rule_sets: frozenset[RuleSet], test: SequentialTest, at_once: int
) -> tuple[str, ...]:
    """Return lines that explain what is compared, and how to read `progress_line`."""
    a, b = names
    lower, upper = test.bounds
    score = 0.5 + test.margin
    least = f"{score:g} ({elo(score):.0f} Elo)"
    bots = f"{a} against {b}, {count(at_once, 'match')} at a time"
    return (
        f"{bots} (rules: {format_rule_sets(rule_sets)})",
        f"A bot counts as better if its expected score is at least {least}.",
        (
            "Progress lines show the blocks played, the first bot's score with its 95% interval, "
            "and a bar for the test statistic. The duel ends when the statistic reaches "
            f"{lower:.1f} (neither bot is better) or {upper:.1f} (one bot is better)."
        ),
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


def verdict(report: DuelReport, *, stopped: bool = False) -> str:
    """Return the verdict of a duel in plain words; `stopped` means by a signal."""
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
    how = "was stopped" if stopped else "ended"
    remedy = "" if stopped else " To play longer, raise --max-blocks."
    return (
        f"The duel {how} without a verdict on whether {a} or {b} is better: {a} {scored}.{remedy}"
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


def play_duel(options: commands.Duel, log: LogOptions) -> int:
    """Play the duel; return the exit status."""
    try:
        test = SequentialTest(options.margin)
    except ValueError as error:
        raise UserError(f"--{error}") from None
    combination, json_file = rule_sets(options.rules), options.json_file
    bots = find_bots([options.a, options.b], options.readable)
    tournament = series_tournament("duel", bots, options)
    if json_file is not None:
        check_output("--json", json_file, run=options.out_directory)
    a, b = (entry.name for entry in tournament.entries)
    schedule = list(rotated((a, b), combination, 2 * options.max_blocks, mirrored=True))
    meter = DuelMeter(Duel(schedule, test), heading((a, b), combination, test, tournament.jobs))
    end, status = play_series(tournament, schedule, options, log, meter=meter)
    report = meter.duel.report()
    if report.failed_start is not None:
        raise UserError(report.failed_start, status=1)
    warn_of_faults(end, options.out_directory and options.out_directory / "run.log")
    for line in forfeit_lines(report):
        warn(line)
    sentence = verdict(report, stopped=status >= 128)
    show_line(sentence)
    if options.out_directory is not None:
        notify_run_directory(options.out_directory)
    if json_file is not None:
        fields = {"sentence": sentence, **report.model_dump(mode="json")}
        write_json(json_file, fields)
    return status or (0 if meter.duel.over else UNDECIDED)
