"""Prints the analysis of a match."""

from asara_server.cli.display.console import out, show_table
from asara_server.replay.analysis_file import Analysis, Decision, Value

_DEAREST = 10
"""Number of decisions listed."""
_NINETY_FIVE = 1.96


def print_analysis(found: Analysis) -> None:
    """Print the sums of each seat, and the dearest decisions of all seats."""
    show_table(
        f"Match {found.match_id}: what it was decided by, in shares of a match (± 95 %)",
        (">seat", "entry", ">score", ">lost by decisions", ">luck", ">score without luck", "labels"),
        (
            (
                str(one.seat),
                one.entry,
                f"{one.score:.2f}",
                _interval(one.skill_lost),
                _interval(one.luck, sign="+"),
                f"{one.score_after_luck:+.2f}",
                f"{one.blunders} blunders, {one.mistakes} mistakes, {one.inaccuracies} inaccuracies",
            )
            for one in found.seats
        ),
    )
    out.print()
    dearest = sorted(
        (one for one in found.decisions if one.loss is not None and one.loss.mean > 0),
        key=lambda one: -(one.loss.mean if one.loss else 0),
    )
    show_table(
        "The dearest decisions",
        (">seat", ">decision", ">year", ">cost", "label", "played", "better"),
        map(_row, dearest[:_DEAREST]),
    )


def _row(one: Decision) -> tuple[str, ...]:
    assert one.loss is not None
    cost = _interval(one.loss)
    return str(one.seat), str(one.decision), str(one.year), cost, one.label, one.chosen, one.best


def _interval(value: Value, sign: str = "") -> str:
    return f"{value.mean:{sign}.2f} ± {_NINETY_FIVE * value.error:.2f}"
