"""`asara duel`: tells whether one of two bots is better."""

import asyncio
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from asara_game.rules import format_rule_sets
from asara_game.vocabulary import RuleSet
from asara_server.cli.display.console import count, err, out, say, warn, warn_of_faults
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import tournament_of
from asara_server.cli.options.match import (
    BANK_S,
    INCREMENT_S,
    START_UP_S,
    Bank,
    Increment,
    Key,
    Rules,
    Seed,
    StartUp,
    rule_sets,
    signing_key,
)
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption, chosen_sandbox
from asara_server.replay.signing import default_key_path
from asara_server.text import plain_words
from asara_server.tournament.schedule.schedule import rotated
from asara_server.tournament.standings.match_result import MatchResult

if TYPE_CHECKING:
    from asara_server.tournament.standings.duel import Duel, DuelReport
    from asara_server.tournament.standings.sprt import SequentialTest

CANNOT_TELL = 3
"""Exit status where all blocks were played and nothing is told."""

_NAME_SHOWN = 16
_CELLS = 10


def duel(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="A bot, named as for `match`.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The bot that it is compared with.")],
    rules: Rules = "basic",
    margin: Annotated[
        float,
        typer.Option(metavar="SCORE", help="Expected score above 0.5 that counts as better."),
    ] = 0.05,
    alpha: Annotated[
        float,
        typer.Option(metavar="P", help="Chance that one of two equals is called better, at most."),
    ] = 0.05,
    beta: Annotated[
        float,
        typer.Option(
            metavar="P", help="Chance that a bot better by the margin is not found so, at most."
        ),
    ] = 0.05,
    max_blocks: Annotated[
        int, typer.Option(metavar="N", min=1, max=100_000, help="Then it gives up.")
    ] = 2_000,
    seed: Seed = None,
    at_once: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Matches at once. [default: one per core]"),
    ] = None,
    bank: Bank = BANK_S,
    increment: Increment = INCREMENT_S,
    start_up: StartUp = START_UP_S,
    out_directory: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep replays, logs and standings there."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the answer there, too.")
    ] = None,
    key: Key = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the run that DIR holds first.")
    ] = False,
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
) -> None:
    """Tell whether one of two bots is better.

    They play deals twice, with the seats swapped, until a sequential test can tell: A is better, B
    is better, or neither is by the margin. Exit status 0 where it is told, 3 where it is not.
    """
    from asara_server.cli.run_session import kept_or_temporary, play_run
    from asara_server.tournament.standings.duel import Duel

    test = _test(margin, alpha, beta)
    combination = rule_sets(rules)
    clocks = {"bank_s": bank, "increment_s": increment, "start_up_s": start_up}
    concurrency = {} if at_once is None else {"concurrency": at_once}
    tournament = tournament_of(
        [a, b], name="duel", seats=2, rule_sets=rules, seed=seed, clocks=clocks, **concurrency
    )
    names = [entry.name for entry in tournament.entries]
    if json_file is not None and (json_file.is_dir() or not json_file.parent.is_dir()):
        raise UserError(f"--json {json_file}: name a file in a directory that exists")
    signer = signing_key(key)
    contained = chosen_sandbox(sandbox, secret=[key or default_key_path()], shared=Path.cwd())
    schedule = list(rotated(names, combination, 2 * max_blocks, mirrored=True))
    meter = DuelMeter(Duel(schedule, test))
    say(_heading(names, combination, test, tournament.concurrency))
    with kept_or_temporary(out_directory, replace=replace) as directory:
        end, status = play_run(
            tournament,
            schedule,
            directory,
            signer,
            context.obj,
            follower=meter,
            sandbox=contained,
        )
    report = meter.duel.report()
    if report.failed_start is not None:
        raise UserError(report.failed_start, status=1)
    warn_of_faults(end, directory.path / "run.log")
    for line in _forfeit_lines(report):
        warn(line)
    words = sentence(report)
    out.print(words, markup=False, soft_wrap=True)
    if out_directory is not None:
        say(f"Standings, replays and logs are in {out_directory}")
    if json_file is not None:
        _write(json_file, report, words)
    raise typer.Exit(status or (0 if meter.duel.over else CANNOT_TELL))


class DuelMeter:
    """How a duel stands: one line, in place on a terminal, elsewhere anew every few seconds."""

    def __init__(self, duel: "Duel") -> None:
        self.duel = duel

    def skip(self, matches: int, results: Iterable[MatchResult]) -> None:
        for result in results:
            self.finished(result)

    def finished(self, result: MatchResult) -> None:
        self.duel.add(result)

    def enough(self) -> bool:
        return self.duel.over

    async def show(self) -> None:
        from asara_server.cli.run_session import EVERY_S

        shown = ""
        with Live(console=err, transient=True, auto_refresh=False) as live:
            while True:
                await asyncio.sleep(0.5 if err.is_terminal else EVERY_S)
                line = progress_line(self.duel.report(), self.duel.blocks_left)
                if line == shown:
                    continue
                shown = line
                if err.is_terminal:
                    live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
                else:
                    say(line)


def progress_line(report: "DuelReport", blocks_left: float) -> str:
    """How it stands, in at most 80 characters.

    The blocks, the score of A with its interval, and the log-likelihood ratio of the one that leads
    between its bounds.
    """
    if report.score is None or report.interval_95 is None:
        return "no block is over yet"
    lower, upper = report.bounds
    ratio = max(report.log_likelihood_ratios)
    filled = round(_CELLS * min(1.0, max(0.0, (ratio - lower) / (upper - lower))))
    bar = "#" * filled + "·" * (_CELLS - filled)
    low, high = report.interval_95
    left = f"  about {math.ceil(blocks_left):,} to go" if 0 < blocks_left < math.inf else ""
    return (
        f"{count(report.blocks, 'block')}: {report.score:.3f} ({low:.3f}–{high:.3f})"
        f"  {lower:.1f} [{bar}] {upper:.1f}{left}"
    )


def sentence(report: "DuelReport") -> str:
    """What a duel tells, in plain words."""
    a, b = report.entries
    if report.score is None or report.interval_95 is None:
        return f"It cannot be told whether {a} or {b} is better: no block was played to its end."
    score, (low, high) = report.score, report.interval_95
    if report.better == b:
        a, b = b, a
        score, low, high = 1 - score, 1 - high, 1 - low
    scored = (
        f"scored {score:.3f} (95 %: {low:.3f}–{high:.3f}) "
        f"in {count(report.blocks, 'block')} of two matches"
    )
    if report.better is not None:
        return (
            f"{a} is better than {b}: it {scored}. Of duels between equals, "
            f"at most {100 * report.alpha:g} in 100 end with such a claim."
        )
    if report.verdict.value == "no difference":
        return (
            f"Neither is better by {report.margin:g} ({report.margin_elo:.0f} Elo) or more: "
            f"{a} {scored} against {b}. Of duels in which one is, "
            f"at most {100 * report.beta:g} in 100 end so."
        )
    return (
        f"It cannot be told yet whether {a} or {b} is better: {a} {scored}. "
        "More blocks or a larger margin may tell."
    )


def _heading(
    names: list[str], combination: frozenset[RuleSet], test: "SequentialTest", at_once: int
) -> str:
    from asara_server.tournament.standings.sprt import elo

    a, b = names
    lower, upper = test.bounds
    return (
        f"{a} against {b}, {format_rule_sets(combination)}, {at_once} at once.\n"
        f"Better means by {test.margin:g}: an expected score of {0.5 + test.margin:g}, "
        f"or {elo(0.5 + test.margin):.0f} Elo.\n"
        f"Below: the score of {_short(a)} (95 %), then how far the test is\n"
        f"from {lower:.1f}, no such difference, to {upper:.1f}, better."
    )


def _short(name: str) -> str:
    return name if len(name) <= _NAME_SHOWN else name[: _NAME_SHOWN - 1] + "…"


def _forfeit_lines(report: "DuelReport") -> list[str]:
    matches = count(2 * report.blocks, "match")
    return [
        f"{entry} forfeited {sum(kinds.values()):,} of {matches}, which count as lost: "
        + ", ".join(f"{plain_words(name)} {number:,}" for name, number in sorted(kinds.items()))
        for entry, kinds in zip(report.entries, report.forfeits, strict=True)
        if kinds
    ]


def _test(margin: float, alpha: float, beta: float) -> "SequentialTest":
    from asara_server.tournament.standings.sprt import SequentialTest

    try:
        return SequentialTest(margin, alpha, beta)
    except ValueError as error:
        raise UserError(f"--{error}") from None


def _write(path: Path, report: "DuelReport", words: str) -> None:
    answer = {"sentence": words, **report.model_dump(mode="json")}
    text = json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", status=1) from None
