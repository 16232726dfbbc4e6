"""`scripts/tune calibration`: compares the expected scores of `asara analyse` with real scores.

Of turns after which a seat can expect a score of 0.3, the mean score should be 0.3 when the match
is over.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asara_game.rules import RULE_COMBINATIONS, format_rule_sets, parse_rule_sets
from scripts.tuning.priced_matches import Measured, Task, Turn, measure

ENOUGH: Final = 100
"""Number of turns from which a tenth of the expected scores is judged."""
OUT: Final = Path(__file__).parents[2] / "runs" / "calibration.jsonl"
SLOPES: Final = np.geomspace(0.01, 4.0, 80)
"""Slopes of the logistic curves from a lead in prestige to a score."""
_HEAD: Final = """\
| rule sets | seats | matches | turns | largest gap | expected score | prestige | constant |
|---|---|---|---|---|---|---|---|
"""


class Rows:
    """The turns of some matches as arrays: number of the match, expected and real score."""

    def __init__(self, matches: Sequence[Measured]) -> None:
        rows = [(number, turn) for number, found in enumerate(matches) for turn in found.turns]
        self.turns = [turn for _, turn in rows]
        self.match = np.array([number for number, _ in rows])
        self.expected = np.array([turn.expected for turn in self.turns])
        self.scored = np.array([matches[number].scores[turn.seat] for number, turn in rows])

    def tenths(self) -> tuple[list[str], float, float]:
        """Return a line for each tenth, and the largest gap of those with enough turns.

        The last value is the standard error of this gap, from the variation between matches. Both
        are nan if no tenth has enough turns.
        """
        lines: list[str] = []
        largest = (math.nan, math.nan)
        tenth = np.minimum(10 * self.expected, 9).astype(int)
        for place in np.unique(tenth):
            inside = tenth == place
            number, expected, scored = (inside.sum(), self.expected[inside], self.scored[inside])
            gaps = scored - expected
            sums = np.bincount(self.match[inside], gaps - gaps.mean())
            gap, error = abs(float(gaps.mean())), float(np.sqrt((sums**2).sum()) / number)
            lines.append(
                f"  {place / 10:.1f} {number:5} turns, expected {expected.mean():.3f}, "
                f"scored {scored.mean():.3f} ± {error:.3f}"
            )
            if number >= ENOUGH and not gap < largest[0]:
                largest = (gap, error)
        return lines, *largest

    def brier(self) -> tuple[float, float, float]:
        """Return the Brier scores of the expected score, of today's prestige, and of 0.5."""
        guesses = (self.expected, self._from_prestige(), 0.5)
        a, b, c = (float(np.mean((guess - self.scored) ** 2)) for guess in guesses)
        return a, b, c

    def _from_prestige(self) -> NDArray[np.float64]:
        """Return the best guess of each score from the leads in prestige over the other seats.

        Each year has the logistic curve that suits the other half of the matches best.
        """
        leads = np.array([t.prestige[t.seat] - np.delete(t.prestige, t.seat) for t in self.turns])
        curves = np.array([np.mean(1 / (1 + np.exp(-s * leads)), axis=1) for s in SLOPES])
        errors = (curves - self.scored) ** 2
        years, odd = np.array([turn.year for turn in self.turns]), self.match % 2 == 1
        guess = np.empty(len(years))
        for year in np.unique(years):
            for told, known in ((odd, ~odd), (~odd, odd)):
                best = errors[:, known & (years == year)].sum(axis=1).argmin()
                guess[told & (years == year)] = curves[best, told & (years == year)]
        return guess


def luck_lines(matches: Sequence[Measured]) -> list[str]:
    """Return each seat's mean luck, and the variance of the scores less luck, with standard errors
    from the variation between matches.
    """
    having = [found for found in matches if found.luck]
    if len(having) < 2:
        return []
    luck, scores = (np.array([m.luck for m in having]), np.array([m.scores for m in having]))
    errors = luck.std(axis=0, ddof=1) / math.sqrt(len(luck))
    means = (f"{m:+.4f} ± {e:.4f}" for m, e in zip(luck.mean(axis=0), errors, strict=True))
    before, after = (np.sum((s - s.mean(axis=0)) ** 2, axis=1) for s in (scores, scores - luck))
    mean = f"  mean luck by seat in {len(luck)} matches: {', '.join(means)}"
    if not before.any():  # every match had the same scores
        return [mean]
    ratio = after.sum() / before.sum()
    error = np.sqrt(np.sum((after - ratio * before) ** 2)) / before.sum()
    return [
        mean,
        f"  the variance of scores after luck is {ratio:.3f} ± {error:.3f} of the variance before",
    ]


def calibrate(arguments: Sequence[str]) -> int:
    """Measure the matches that the file does not have yet, and print the figures."""
    parser = argparse.ArgumentParser(prog="scripts/tune calibration")
    every = [format_rule_sets(one) for one in RULE_COMBINATIONS]
    parser.add_argument("rules", nargs="*", help="rule sets [default: all six]")
    parser.add_argument("--seats", type=int, choices=(2, 3, 4), default=2, help="[default: 2]")
    parser.add_argument("--matches", type=int, default=200, help="[default: 200]")
    parser.add_argument("--turns", type=int, default=3, help="priced in a match [default: 3]")
    parser.add_argument("--luck", type=int, default=0, help="matches with luck [default: 0]")
    parser.add_argument("--seed", type=int, default=1, help="[default: 1]")
    parser.add_argument("--jobs", type=int, default=1, help="processes [default: 1]")
    parser.add_argument("--out", type=Path, default=OUT, help=f"JSON lines [default: {OUT}]")
    given = parser.parse_args(arguments)
    if min(given.matches, given.turns, given.jobs) < 1 or given.luck < 0:
        parser.error("--matches, --turns and --jobs must be above 0, and --luck 0 or more")
    try:
        chosen = [format_rule_sets(parse_rule_sets(text)) for text in given.rules or every]
    except ValueError as error:
        parser.error(str(error))
    table = _HEAD
    together: list[Measured] = []
    for rules in chosen:
        tasks = [
            Task(rules, given.seats, given.seed, number, given.turns, number < given.luck)
            for number in range(given.matches)
        ]
        matches = measured(tasks, given.jobs, given.out)
        together += matches
        table += _report(f"`{rules}`", given.seats, matches)
    if len(chosen) > 1:
        table += _report("together", given.seats, together)
    print(table, end="")
    return 0


def _report(name: str, seats: int, matches: Sequence[Measured]) -> str:
    """Print the figures of some matches; return their row of the table."""
    rows = Rows(matches)
    lines, gap, error = rows.tenths()
    print(f"{name}, {seats} seats", *lines, *luck_lines(matches), "", sep="\n")
    numbers = f"{seats} | {len(matches)} | {len(rows.turns):,} | {gap:.3f} ± {error:.3f}"
    return f"| {name} | {numbers} | {' | '.join(f'{one:.3f}' for one in rows.brier())} |\n"


def measured(tasks: Sequence[Task], jobs: int, out: Path) -> list[Measured]:
    """Return the matches of the tasks. Measure those that the file lacks, and add them to it."""
    known = dict(_read(out))
    missing = [task for task in tasks if task not in known]
    out.parent.mkdir(parents=True, exist_ok=True)
    with (
        out.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(jobs) if jobs > 1 else nullcontext() as pool,
    ):
        found = pool.map(measure, missing) if pool else map(measure, missing)
        for task, match in zip(missing, found, strict=True):
            known[task] = match
            line = {**task._asdict(), **match._asdict()}
            print(json.dumps(line, separators=(",", ":")), file=file, flush=True)
    return [known[task] for task in tasks]


def _read(out: Path) -> Iterator[tuple[Task, Measured]]:
    """Yield the matches in a file. An incomplete line is ignored."""
    for line in out.read_text("utf-8").splitlines() if out.exists() else ():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        task = Task(*(found[name] for name in Task._fields))
        turns = [Turn(*turn) for turn in found["turns"]]
        yield task, Measured(found["scores"], found["luck"], turns)
