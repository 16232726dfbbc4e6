"""`asara tournament`: plan and run."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from asara_game.rules import format_rule_sets
from asara_server.cli.console import (
    count,
    duration,
    err,
    fault_lines,
    out,
    standings_tables,
    table,
)
from asara_server.cli.errors import UserError
from asara_server.tournament.config import ConfigError, Tournament, load_tournament
from asara_server.tournament.estimate import MOST_MATCHES, Estimate, estimate
from asara_server.tournament.schedule import round_robin

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]


@app.command()
def plan(
    file: File,
    decision_ms: Annotated[
        float, typer.Option(min=0, help="Milliseconds that a bot is assumed to need to decide.")
    ] = 2.0,
) -> None:
    """Show how many matches a tournament has, and how long it may take. Plays nothing."""
    tournament = _load(file)
    expected = estimate(tournament, decision_ms / 1000)
    entries = count(len(tournament.entries), "entry")
    rows = table(
        f"{tournament.title}: {count(expected.matches, 'match')} of {entries}",
        "rules",
        *(f">{seats} seats" for seats in tournament.seats),
        ">all",
    )
    for rules in tournament.rule_sets:
        cells = [kind.matches for kind in expected.kinds if kind.rule_sets == rules]
        rows.add_row(format_rule_sets(rules), *(f"{cell:,}" for cell in (*cells, sum(cells))))
    out.print(rows)
    out.print(
        f"\nAt {tournament.concurrency} at once: about {duration(expected.likely_s)} if a decision "
        f"takes a bot {decision_ms:g} ms; {duration(expected.longest_s)} at most."
    )
    _refuse_too_many(expected, file)


@app.command()
def run(
    context: typer.Context,
    file: File,
    out_directory: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the run is kept; new or empty.")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the run that DIR holds first.")
    ] = False,
) -> None:
    """Play a tournament: standings, replays and logs are left in DIR."""
    from asara_server.cli.play import new_run_directory, play_run

    tournament = _load(file)
    _refuse_too_many(estimate(tournament, 0), file)
    matches = round_robin(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rule_sets,
        tournament.rounds,
    )
    with new_run_directory(out_directory, replace=replace) as directory:
        shutil.copyfile(file, out_directory / "tournament.toml")
        entries = count(len(tournament.entries), "entry")
        err.print(
            f"{tournament.title}: {count(len(matches), 'match')} of {entries}, "
            f"{tournament.concurrency} at once",
            markup=False,
        )
        end, status = play_run(tournament, matches, directory, context.obj)
    for shown in standings_tables(end.standings):
        out.print(shown)
        out.print()
    for line in (*fault_lines(end.results), *(f"{match} has no result" for match in end.cut)):
        err.print(line, style="yellow", markup=False)
    err.print(f"Standings, replays and logs are in {out_directory}", markup=False)
    raise typer.Exit(status)


def _load(file: Path) -> Tournament:
    try:
        return load_tournament(file)
    except ConfigError as error:
        raise UserError(str(error)) from None


def _refuse_too_many(expected: Estimate, file: Path) -> None:
    if expected.matches > MOST_MATCHES:
        raise UserError(
            f"{file.name}: {expected.matches:,} matches are too many (at most {MOST_MATCHES:,}); "
            "play fewer rounds, rule_sets or seats, or split the entries into several files"
        )
