"""Prints what analyses say: of a match, and of the matches of a run."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from asara_server.cli.display.console import out, show_line, show_table
from asara_server.replay.analysis_file import Analysis, Decision, SeatSum, Value
from asara_server.replay.losses import (
    DEAREST,
    MIN_MATCHES,
    Analysed,
    Change,
    Mean,
    Part,
    Seat,
    certain_loss,
    changes_of,
    cost_of,
    dearest,
    loss_of,
    mean_of,
    parts_of,
)
from asara_server.text import count

_NINETY_FIVE = 1.96


def print_analysis(found: Analysis) -> None:
    """Print the sums of each seat, and the dearest decisions of all seats."""
    losses = [certain_loss(found, one.seat) for one in found.seats]
    show_table(
        f"Match {found.match_id}, in shares of a match (± 95 %)",
        (">seat", "entry", ">score", ">luck", ">without luck", ">lost by mistakes"),
        map(_sums, found.seats, losses),
    )
    _explain_sums(loss.mean for loss in losses)
    out.print()
    for one in found.seats:
        out.print(_sentence(one), soft_wrap=True)
    print_costly(found, DEAREST)


def print_costly(found: Analysis, most: int) -> None:
    """Print up to `most` decisions of a match that cost most; nothing if none cost anything."""
    costly = dearest(found.decisions)[:most]
    if costly:
        out.print()
        show_table(
            f"The {count(len(costly), 'decision')} that cost most",
            (">seat", ">decision", ">year", ">cost", "played", "better", "label"),
            map(_row, costly),
        )


def print_entries(found: Sequence[Analysed]) -> None:
    """Print the mean sums of each entry."""
    by_entry: dict[str, list[Seat]] = defaultdict(list)
    for analysed in found:
        for seat in analysed.seats:
            by_entry[seat.sums.entry].append(seat)
    show_table(
        f"{count(len(found), 'match')}: means per match, in shares of a match {_error(len(found))}",
        ("entry", ">matches", ">score", ">luck", ">without luck", ">lost by mistakes"),
        (_means(entry, seats) for entry, seats in by_entry.items()),
    )
    _explain_sums(mean_of([loss_of(seat) for seat in seats]).mean for seats in by_entry.values())


def _explain_sums(losses: Iterable[float]) -> None:
    """Explain how more than a whole match can be lost, if a seat or an entry has lost more."""
    if any(loss > 1 for loss in losses):
        out.print("“Lost by mistakes” adds up the costs of decisions, so it can exceed 1.")


def print_parts(entry: str, found: Sequence[Analysed]) -> None:
    """Print where an entry loses: by kind of decision, year and rule sets."""
    parts = parts_of([_seat_of(entry, one) for one in found])
    out.print()
    show_table(
        f"Where {entry} loses by certain mistakes: means per match {_error(len(found))}",
        ("", ">decisions", ">mistakes", ">lost", ">share"),
        map(_part, parts),
    )


def print_changes(entry: str, before: Path, pairs: Sequence[tuple[Analysed, Analysed]]) -> None:
    """Print how the score and the losses of an entry changed since an earlier run."""
    seats = [(_seat_of(entry, old), _seat_of(entry, new)) for old, new in pairs]
    show_table(
        f"{entry} compared with {before}: means of {count(len(pairs), 'match')} with the same deal "
        f"and seats {_error(len(pairs))}",
        ("", ">before", ">now", ">difference"),
        map(_change, changes_of(seats)),
    )


def print_dearest(found: Sequence[Analysed], run: Path, argument_of: Callable[[str], str]) -> None:
    """Print the dearest decisions of all matches, with the commands that ask the bots again.

    `argument_of` returns the argument of a command that stands for an entry's bot.
    """
    costly = [(one, analysed) for analysed in found for one in analysed.dearest]
    costly.sort(key=lambda pair: -cost_of(pair[0]))
    out.print()
    out.print("The decisions that cost most, each with the command that asks the bot again:")
    for one, analysed in costly[:DEAREST]:
        assert one.loss is not None
        entry = analysed.seats[one.seat].sums.entry
        file = shlex.quote(str(run / "replays" / f"{analysed.match_id}.asara"))
        cost = f"{one.chosen} cost {_interval(one.loss)}; better: {one.best}"
        show_line(f"  {entry}, year {one.year}: {cost}", indent=6)
        command = f"asara replay ask {file} {one.decision} {argument_of(entry)} --seat {one.seat}"
        out.print(f"    {command}", soft_wrap=True)


def _seat_of(entry: str, analysed: Analysed) -> Seat:
    return next(seat for seat in analysed.seats if seat.sums.entry == entry)


def _means(entry: str, seats: Sequence[Seat]) -> tuple[str, ...]:
    return (
        entry,
        str(len(seats)),
        f"{mean_of([seat.sums.score for seat in seats]).mean:.2f}",
        _mean(mean_of([seat.sums.luck.mean for seat in seats]), "+"),
        _mean(mean_of([seat.sums.score_after_luck for seat in seats])),
        _mean(mean_of([loss_of(seat) for seat in seats])),
    )


def _part(part: Part) -> tuple[str, ...]:
    share = part.share
    return (
        part.group.name,
        f"{part.decisions:.1f}",
        f"{part.mistakes:.1f}",
        _mean(part.loss),
        "" if share is None else _percent(share),
    )


def _percent(share: Mean) -> str:
    return f"{share.mean:.0%}" + ("" if share.half is None else f" ± {share.half:.0%}")


def _change(one: Change) -> tuple[str, ...]:
    return one.name, f"{one.before:.2f}", f"{one.now:.2f}", _mean(one.difference, "+")


def _error(matches: int) -> str:
    """Return what follows the ± of means over a number of matches, or why there is none."""
    return "(± 95 %)" if matches >= MIN_MATCHES else f"(no ± below {MIN_MATCHES} matches)"


def _mean(value: Mean, sign: str = "") -> str:
    half = "" if value.half is None else f" ± {value.half:.2f}"
    return f"{value.mean:{sign}.2f}{half}"


def _sums(one: SeatSum, lost: Value) -> tuple[str, ...]:
    return (
        str(one.seat),
        one.entry,
        f"{one.score:.2f}",
        _interval(one.luck, sign="+"),
        f"{one.score_after_luck:.2f}",
        _interval(lost),
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
    label = one.label or "uncertain"
    return str(one.seat), str(one.decision), str(one.year), cost, one.chosen, one.best, label


def _interval(value: Value, sign: str = "") -> str:
    return f"{value.mean:{sign}.2f} ± {_NINETY_FIVE * value.error:.2f}"
