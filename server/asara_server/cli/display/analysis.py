"""Prints the analysis of a match."""

from asara_server.cli.display.console import out, show_table
from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value
from asara_server.text import count

_DEAREST = 10
"""Number of decisions listed."""
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
    dearest = sorted(
        (one for one in found.decisions if one.loss is not None and one.loss.mean > 0),
        key=lambda one: -(one.loss.mean if one.loss else 0),
    )[:_DEAREST]
    if dearest:
        out.print()
        show_table(
            f"The {count(len(dearest), 'decision')} that cost most",
            (">seat", ">decision", ">year", ">cost", "played", "better", "label"),
            map(_row, dearest),
        )


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
