"""`asara tournament`: plan and run."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from asara_game.rules import format_rule_sets
from asara_server.cli.console import (
    count,
    duration,
    out,
    say,
    show_standings,
    show_table,
    warn_of_faults,
)
from asara_server.cli.errors import UserError
from asara_server.cli.options import Key, signing_key
from asara_server.tournament.config import ConfigError, Tournament, load_tournament
from asara_server.tournament.estimate import MOST_MATCHES, Estimate, estimate
from asara_server.tournament.schedule import round_robin

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament file.")]


@app.command()
def plan(
    file: File,
    decision_ms: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Milliseconds a bot is assumed to decide in.")
    ] = 1.0,
) -> None:
    """Show how many matches there are, and how long they may take. Plays nothing."""
    tournament = _load(file)
    expected = estimate(tournament, decision_ms / 1000)
    rows = []
    for rules in tournament.rule_sets:
        cells = [kind.matches for kind in expected.kinds if kind.rule_sets == rules]
        rows.append((format_rule_sets(rules), *(f"{cell:,}" for cell in (*cells, sum(cells)))))
    show_table(
        f"{_heading(tournament, expected.matches)}",
        ("rules", *(f">{seats} seats" for seats in tournament.seats), ">all"),
        rows,
    )
    out.print(f"\nAbout {duration(expected.likely_s)} if a bot decides in {decision_ms:g} ms.")
    out.print(f"At most {duration(expected.longest_s)}, if all bots used up their clocks.")
    _refuse_too_many(expected, file)


@app.command()
def run(
    context: typer.Context,
    file: File,
    out_directory: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the run is kept; new or empty.")
    ],
    key: Key = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the run that DIR holds first.")
    ] = False,
) -> None:
    """Play a tournament; standings, replays and logs stay in DIR."""
    from asara_server.cli.play import new_run_directory, play_run

    tournament = _load(file)
    _refuse_too_many(estimate(tournament, 0), file)
    matches = round_robin(
        [entry.name for entry in tournament.entries],
        tournament.seats,
        tournament.rule_sets,
        tournament.rounds,
    )
    signer = signing_key(key)
    with new_run_directory(out_directory, replace=replace) as directory:
        shutil.copyfile(file, out_directory / "tournament.toml")
        say(_heading(tournament, len(matches)))
        end, status = play_run(tournament, matches, directory, signer, context.obj, publish=True)
    show_standings(end.standings)
    out.print()
    warn_of_faults(end, out_directory / "run.log")
    say(f"Standings, replays and logs are in {out_directory}")
    raise typer.Exit(status)


def _heading(tournament: Tournament, matches: int) -> str:
    entries = count(len(tournament.entries), "entry")
    at_once = tournament.concurrency
    return f"{tournament.title}: {count(matches, 'match')} of {entries}, {at_once} at once"


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
