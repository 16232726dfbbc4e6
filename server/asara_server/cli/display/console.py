"""The terminal: tables, lengths of time, and what is said about faults."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from asara_codec.results import Termination
from asara_server.text import plain, plain_words
from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.standings.model import LadderRow, SeatScore, Standings, StandingsRow

if TYPE_CHECKING:
    from asara_server.tournament.runner import RunEnd

out = Console(highlight=False)
"""Results, for people and pipes."""

err = Console(stderr=True, highlight=False)
"""Progress and warnings."""

_FAULTS_SHOWN = 8
_LADDER_SHOWN = 10
_COLUMNS_SHOWN = 8
"""Of the cross table side by side; 80 characters hold them and a name."""


def duration(seconds: float, *, whole_s: bool = False) -> str:
    """A length of time in one or two units: `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10 and not whole_s:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for large, small, size, name, part in (
        (60, 1, 60, "min", "s"),
        (3600, 60, 24, "h", "min"),
        (86_400, 3600, 1 << 30, "d", "h"),
    ):
        if whole < large:
            break
        if whole < large * size:
            rest = whole % large // small
            return f"{whole // large} {name}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


def count(number: int, what: str) -> str:
    """`1 match`, `2 matches`, `1,000 entries`."""
    if number == 1:
        return f"1 {what}"
    if what.endswith("y") and what[-2] not in "aeiou":
        many = what[:-1] + "ies"
    else:
        many = what + ("es" if what[-1] in "hs" else "s")
    return f"{number:,} {many}"


def say(text: str) -> None:
    """A line about what goes on; the terminal wraps it, so that paths stay whole in a pipe."""
    err.print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """A line about what went wrong."""
    err.print(text, style="yellow", markup=False, soft_wrap=True)


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """A table under its title. Columns that begin with `>` are numbers and stand to the right."""
    out.print(plain(title, longest=None), style="bold", markup=False, soft_wrap=True)
    out.print(_table(columns, rows))


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(plain(cell, longest=None)) for cell in row))
    return table


def show_standings(standings: Standings) -> None:
    """The standings, the scores by rules where there are several, and by seat."""
    _show_lines(standings)
    if len(standings.by_rule_sets) > 1:
        out.print()
        _show_rules(standings)
    if standings.seat_effect:
        out.print()
        _show_seats(standings.seat_effect)


def show_match(result: MatchResult) -> None:
    """How one match ended, best first."""
    by_rank = sorted(enumerate(result.seats), key=lambda pair: pair[1].rank)
    show_table(
        f"{result.match_id} ({duration(result.seconds)})",
        (">seat", "entry", ">rank", ">prestige", ""),
        (
            (
                str(seat),
                line.entry,
                str(line.rank),
                str(line.prestige),
                plain_words(line.termination.name) if line.termination.forfeit else "",
            )
            for seat, line in by_rank
        ),
    )


def warn_of_faults(end: "RunEnd", log: Path) -> None:
    """What went wrong in a run: forfeits by kind, matches cut short, failures of the referee."""
    outs = (f"{entry} is out: {why}" for entry, why in end.unstartable.items())
    suspended = (f"{entry} was {why}" for entry, why in end.suspended.items())
    for line in (*fault_lines(end.results), *outs, *suspended, *end.unfinished):
        warn(line)
    if void := end.standings.matches.void:
        warn(f"{count(void, 'match')} without a result: the referee failed; {log} says how")


def fault_lines(results: Iterable[MatchResult]) -> list[str]:
    """The first forfeit of each kind of each entry, in words; not more than people read."""
    first: dict[tuple[str, Termination], str] = {}
    for result in sorted(results, key=lambda result: result.match_id):
        for line in result.forfeits:
            first.setdefault(
                (line.entry, line.termination),
                f"{line.entry} forfeits {result.match_id} "
                f"({plain_words(line.termination.name)}): {line.detail}",
            )
    lines = list(first.values())
    if len(lines) > _FAULTS_SHOWN:
        lines[_FAULTS_SHOWN:] = [f"… and {len(lines) - _FAULTS_SHOWN} more kinds of faults"]
    return lines


def ladder_table(lines: Sequence[LadderRow], most: int = _LADDER_SHOWN) -> Table:
    """The first of the ladder, for a run that goes on."""
    return _table(
        (">#", "entry", ">ordinal", ">mu", ">sigma", ">matches"),
        (
            (
                str(place),
                line.entry,
                f"{line.ordinal:.1f}",
                f"{line.mu:.1f}",
                f"{line.sigma:.1f}",
                f"{line.matches:,}",
            )
            for place, line in enumerate(lines[:most], 1)
        ),
    )


def show_cross_table(standings: Standings) -> None:
    """Every entry against every other; the columns have the places of the rows."""
    cells = {}
    for pair in standings.cross_table:
        cells[pair.entry, pair.opponent] = pair.score
        cells[pair.opponent, pair.entry] = 1 - pair.score
    entries = [line.entry for line in standings.overall]
    for start in range(0, len(entries), _COLUMNS_SHOWN):
        columns = entries[start : start + _COLUMNS_SHOWN]
        show_table(
            "Score of the row against the column" if start == 0 else "",
            (">", "entry", *(f">{start + place}" for place in range(1, len(columns) + 1))),
            (
                (
                    str(place),
                    row,
                    *(
                        f"{cells[row, column]:.3f}" if (row, column) in cells else "–"
                        for column in columns
                    ),
                )
                for place, row in enumerate(entries, 1)
            ),
        )


def _show_lines(standings: Standings) -> None:
    columns = [">#", "entry", ">score", ">95 %", ">first", ">wins", ">prestige", ">matches"]
    rows = [
        [
            str(line.place),
            line.entry,
            f"{line.score:.3f}" if line.matches else "–",
            "{:.3f}–{:.3f}".format(*line.interval_95) if line.interval_95 else "–",
            _chance(line.first_chance),
            f"{line.win_share:.0%}",
            f"{line.prestige:.1f}" if line.prestige is not None else "–",
            f"{line.matches:,}",
        ]
        for line in standings.overall
    ]
    faults = [sum(line.faults.values()) for line in standings.overall]
    if any(faults):
        columns.append(">faults")
        for row, number in zip(rows, faults, strict=True):
            row.append(f"{number:,}" if number else "")
    show_table(f"{standings.title}: {_played(standings)}", columns, rows)
    if any(faults):
        out.print()
        _show_faults(standings.overall)


def _played(standings: Standings) -> str:
    counts = standings.matches
    played = count(counts.played, "match")
    if not standings.complete:
        played = f"{counts.played:,} of {count(counts.scheduled, 'match')}"
    if counts.blocks != counts.played:
        played += f" in {count(counts.blocks, 'deal block')}"
    return played


def _chance(chance: float | None) -> str:
    """A share of resamples in percent; that all or none were so does not make it certain."""
    if chance is None:
        return "–"
    percent = f"{chance:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(percent, percent)


def _show_faults(lines: Sequence[StandingsRow]) -> None:
    kinds = sorted({name for line in lines for name in line.faults})
    show_table(
        "Faults",
        ("entry", *(f">{plain_words(name)}" for name in kinds)),
        (
            (
                line.entry,
                *(f"{line.faults[name]:,}" if name in line.faults else "" for name in kinds),
            )
            for line in lines
            if line.faults
        ),
    )


def _show_rules(standings: Standings) -> None:
    tables = standings.by_rule_sets.values()
    scores = [{line.entry: line for line in lines} for lines in tables]
    show_table(
        "Score by rules",
        ("entry", *(f">{name}" for name in standings.by_rule_sets)),
        (
            (
                line.entry,
                *(
                    f"{own[line.entry].score:.3f}" if own[line.entry].matches else "–"
                    for own in scores
                ),
            )
            for line in standings.overall
        ),
    )


def _show_seats(seats: Sequence[SeatScore]) -> None:
    sizes = sorted({score.seats for score in seats})
    show_table(
        "Score by seat",
        ("", *(f">seat {place}" for place in range(max(sizes)))),
        (
            (f"{size} seats", *(f"{score.score:.3f}" for score in seats if score.seats == size))
            for size in sizes
        ),
    )
