"""`asara match`: let some bots play each other now."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.bots import find_bots
from asara_server.cli.console import say, show_match, show_standings, warn_of_faults
from asara_server.cli.errors import UserError
from asara_server.cli.options import (
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
from asara_server.tournament.config import ConfigError, Tournament, check_tournament
from asara_server.tournament.directory import RunDirectory
from asara_server.tournament.schedule import rotated


def match(
    context: typer.Context,
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT",
            help="The name of a bundled bot, a file or folder, or a command in quotes.",
        ),
    ],
    rules: Rules = "basic",
    matches: Annotated[int, typer.Option(metavar="N", min=1, help="How many; seats rotate.")] = 1,
    seed: Seed = None,
    at_once: Annotated[int, typer.Option(metavar="N", min=1, help="Matches at once.")] = 1,
    bank: Bank = BANK_S,
    increment: Increment = INCREMENT_S,
    start_up: StartUp = START_UP_S,
    out_directory: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep replays, logs and standings there."),
    ] = None,
    key: Key = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the run that DIR holds first.")
    ] = False,
) -> None:
    """Let 2 to 4 bots play each other, and show how it went."""
    from asara_server.cli.play import play_run

    clocks = {"bank_s": bank, "increment_s": increment, "start_up_s": start_up}
    combination = rule_sets(rules)
    signer = signing_key(key)
    tournament = _tournament(bots, rules, seed, at_once, clocks)
    names = [entry.name for entry in tournament.entries]
    schedule = list(rotated(names, combination, matches))
    with _directory(out_directory, replace=replace) as directory:
        end, status = play_run(tournament, schedule, directory, signer, context.obj)
    warn_of_faults(end, directory.path / "run.log")
    if len(schedule) == 1 == end.standings.matches.played:
        show_match(end.results[-1])
    elif end.standings.matches.played:
        show_standings(end.standings)
    if out_directory is not None:
        say(f"Standings, replays and logs are in {out_directory}")
    raise typer.Exit(status)


def _tournament(
    bots: list[str],
    rules: str,
    seed: str | None,
    at_once: int,
    clocks: dict[str, float],
) -> Tournament:
    if not 2 <= len(bots) <= 4:
        raise UserError(f"a match has 2 to 4 bots, not {len(bots)}; for more, write a tournament")
    entered = find_bots(bots)
    try:
        return check_tournament(
            {
                "title": " – ".join(bot.name for bot in entered),
                "seats": len(entered),
                "rule_sets": rules,
                "concurrency": at_once,
                "seed": seed,
                "clocks": clocks,
                "entries": [bot.table() for bot in entered],
            },
            name="match",
            base=Path.cwd(),
        )
    except ConfigError as error:
        raise UserError(str(error)) from None


@contextmanager
def _directory(path: Path | None, *, replace: bool) -> Iterator[RunDirectory]:
    """Where the matches are kept; nowhere for long without a path."""
    from asara_server.cli.play import new_run_directory

    if path is not None:
        with new_run_directory(path, replace=replace) as directory:
            yield directory
        return
    folder = Path(tempfile.mkdtemp(prefix="asara-match-"))
    try:
        with new_run_directory(folder, replace=False) as directory:
            yield directory
    finally:
        shutil.rmtree(folder, ignore_errors=True)
