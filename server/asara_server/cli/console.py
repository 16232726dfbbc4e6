"""The terminal: tables, lengths of time, and what is said about faults."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from asara_server.results import Termination
from asara_server.tournament.results import MatchResult
from asara_server.tournament.standings import Line, SeatScore, Standings

out = Console(highlight=False)
"""Results, for people and pipes."""

err = Console(stderr=True, highlight=False)
"""Progress and warnings."""

_FAULTS_SHOWN = 8


def duration(seconds: float) -> str:
    """A length of time in one or two units: `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10:
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
    many = what[:-1] + "ies" if what.endswith("y") else what + ("es" if what[-1] in "hs" else "s")
    return f"{number:,} {many}"


def table(title: str, *columns: str) -> Table:
    """An empty table. Columns that begin with `>` are numbers and stand to the right."""
    made = Table(
        title=Text(title), title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in columns:
        right = column.startswith(">")
        made.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=right)
    return made


def kind(termination: str) -> str:
    """The name of a fault as people write it."""
    return termination.replace("_", " ")


def standings_tables(standings: Standings) -> list[Table]:
    """The standings, and the scores by rules where there are several."""
    tables = [_standings_table(standings.title, standings.overall)]
    if len(standings.by_rule_sets) > 1:
        tables.append(_rules_table(standings))
    tables.append(_seats_table(standings.seat_effect))
    return tables


def match_table(result: MatchResult) -> Table:
    """How one match ended."""
    made = table(
        f"{result.match_id}: {result.rule_sets}, {duration(result.seconds)}",
        ">seat",
        "entry",
        ">rank",
        ">prestige",
        "",
    )
    for seat, line in sorted(enumerate(result.seats), key=lambda pair: pair[1].rank):
        end = kind(line.termination.name.lower()) if line.termination.forfeit else ""
        made.add_row(str(seat), escape(line.entry), str(line.rank), str(line.prestige), end)
    return made


def fault_lines(results: Iterable[MatchResult]) -> list[str]:
    """The first forfeit of each kind of each entry, in words; not more than people read."""
    first: dict[tuple[str, Termination], str] = {}
    for result in sorted(results, key=lambda result: result.match_id):
        for line in result.forfeits:
            first.setdefault(
                (line.entry, line.termination),
                f"{line.entry} forfeits {result.match_id} "
                f"({kind(line.termination.name.lower())}): {line.detail}",
            )
    lines = list(first.values())
    if len(lines) > _FAULTS_SHOWN:
        lines[_FAULTS_SHOWN:] = [f"… and {len(lines) - _FAULTS_SHOWN} more kinds of faults"]
    return lines


def _standings_table(title: str, lines: Sequence[Line]) -> Table:
    faults = any(line.faults for line in lines)
    made = table(
        title,
        ">#",
        "entry",
        ">score",
        ">95 % interval",
        ">wins",
        ">prestige",
        ">matches",
        *(["faults"] if faults else []),
    )
    for line in lines:
        low, high = line.interval_95
        made.add_row(
            str(line.place),
            escape(line.entry),
            f"{line.score:.3f}",
            f"{low:.3f}–{high:.3f}",
            f"{line.win_share:.0%}",
            f"{line.prestige:.1f}",
            f"{line.matches:,}",
            *(
                [", ".join(f"{n:,} {kind(name)}" for name, n in line.faults.items())]
                if faults
                else []
            ),
        )
    return made


def _rules_table(standings: Standings) -> Table:
    made = table("Score by rules", "entry", *(f">{name}" for name in standings.by_rule_sets))
    for overall in standings.overall:
        scores = [
            f"{line.score:.3f}" if line.matches else "–"
            for lines in standings.by_rule_sets.values()
            for line in lines
            if line.entry == overall.entry
        ]
        made.add_row(escape(overall.entry), *scores)
    return made


def _seats_table(seats: Sequence[SeatScore]) -> Table:
    places = range(max((score.seats for score in seats), default=0))
    made = table("Score by seat", "seats", *(f">seat {place}" for place in places))
    for size in sorted({score.seats for score in seats}):
        made.add_row(str(size), *(f"{s.score:.3f}" for s in seats if s.seats == size))
    return made
