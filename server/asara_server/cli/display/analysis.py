"""Prints the analyses of one match or of a run."""

import math
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev

from asara_server.cli.display.console import out, show_table
from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value
from asara_server.text import count

_DEAREST = 10
"""Maximum number of decisions listed."""
_NINETY_FIVE = 1.96


def print_analysis(found: Analysis) -> None:
    """Print the sums of each seat, and the dearest decisions of all seats."""
    show_table(
        f"Match {found.match_id}, in shares of a match (± 95 %)",
        (">seat", "entry", ">score", ">luck", ">without luck", ">lost by decisions"),
        map(_sums, found.seats),
    )
    out.print()
    for one in found.seats:
        out.print(_sentence(one), soft_wrap=True)
    costly = dearest([found])
    if costly:
        out.print()
        show_table(
            f"The {count(len(costly), 'decision')} that cost most",
            (">seat", ">decision", ">year", ">cost", "played", "better", "label"),
            map(_row, costly),
        )


def print_analyses(found: Sequence[Analysis], run: Path) -> None:
    """Print the mean sums of each entry, and the dearest decisions of all matches."""
    by_entry: dict[str, list[SeatSum]] = defaultdict(list)
    for analysis in found:
        for seat in analysis.seats:
            by_entry[seat.entry].append(seat)
    show_table(
        f"{count(len(found), 'match')}: means per match, in shares of a match (± 95 %)",
        ("entry", ">matches", ">score", ">luck", ">without luck", ">lost by decisions"),
        (_means(entry, sums) for entry, sums in by_entry.items()),
    )
    costly = [(one, analysis) for analysis in found for one in dearest([analysis])]
    costly.sort(key=lambda pair: -_cost(pair[0]))
    out.print()
    out.print("The decisions that cost most, each with the command that asks a bot again:")
    for one, analysis in costly[:_DEAREST]:
        assert one.loss is not None
        file = shlex.quote(str(run / "replays" / f"{analysis.match_id}.asara"))
        entry = analysis.seats[one.seat].entry
        out.print(
            f"  {entry}, year {one.year}: {one.chosen} cost {_interval(one.loss)}; "
            f"better: {one.best}\n"
            f"    asara replay ask {file} {one.decision} BOT --seat {one.seat}",
            soft_wrap=True,
        )


def dearest(found: Iterable[Analysis]) -> list[Decision]:
    """Return the decisions that cost most, the dearest first."""
    costly = [one for analysis in found for one in analysis.decisions if _cost(one) > 0]
    return sorted(costly, key=lambda one: -_cost(one))[:_DEAREST]


def _cost(one: Decision) -> float:
    return one.loss.mean if one.loss is not None else 0.0


def _means(entry: str, sums: Sequence[SeatSum]) -> tuple[str, ...]:
    number = len(sums)
    return (
        entry,
        str(number),
        f"{fmean(one.score for one in sums):.2f}",
        _mean_interval([one.luck.mean for one in sums], "+"),
        _mean_interval([one.score_after_luck for one in sums]),
        _mean_interval([one.skill_lost.mean for one in sums]),
    )


def _mean_interval(values: Sequence[float], sign: str = "") -> str:
    if len(values) < 2:
        return f"{values[0]:{sign}.2f}"
    error = stdev(values) / math.sqrt(len(values))
    return f"{fmean(values):{sign}.2f} ± {_NINETY_FIVE * error:.2f}"


def _sums(one: SeatSum) -> tuple[str, ...]:
    return (
        str(one.seat),
        one.entry,
        f"{one.score:.2f}",
        _interval(one.luck, sign="+"),
        f"{one.score_after_luck:.2f}",
        _interval(one.skill_lost),
    )


def _sentence(one: SeatSum) -> str:
    """Return one sentence about a seat's luck and its mistakes."""
    certain = abs(one.luck.mean) > _NINETY_FIVE * one.luck.error
    luck = ("lucky" if one.luck.mean > 0 else "unlucky") if certain else "neither lucky nor unlucky"
    labels = {"blunder": one.blunders, "mistake": one.mistakes, "inaccuracy": one.inaccuracies}
    made = [count(number, label) for label, number in labels.items() if number]
    mistakes = (
        " and ".join(filter(None, [", ".join(made[:-1]), *made[-1:]])) or "no certain mistake"
    )
    return f"Seat {one.seat} ({one.entry}) was {luck}, and made {mistakes}."


def _row(one: Decision) -> tuple[str, ...]:
    assert one.loss is not None
    cost = _interval(one.loss)
    return str(one.seat), str(one.decision), str(one.year), cost, one.chosen, one.best, one.label


def _interval(value: Value, sign: str = "") -> str:
    return f"{value.mean:{sign}.2f} ± {_NINETY_FIVE * value.error:.2f}"
