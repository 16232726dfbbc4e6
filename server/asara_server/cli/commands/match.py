"""`asara match`: let some bots play each other now."""

from pathlib import Path
from typing import Annotated

import typer

from asara_server.cli.display.console import say, show_match, show_standings, warn_of_faults
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import tournament_of
from asara_server.cli.options.match import (
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
from asara_server.cli.options.sandbox import SandboxChoice, SandboxOption, chosen_sandbox
from asara_server.replay.signing import default_key_path
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.schedule.schedule import rotated


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
    matches: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many (1); seats rotate.")
    ] = None,
    mirrored: Annotated[
        bool,
        typer.Option("--mirrored", help="One deal in every rotation of the seats, then the next."),
    ] = False,
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
    sandbox: SandboxOption = SandboxChoice.BUBBLEWRAP,
) -> None:
    """Let 2 to 4 bots play each other, and show how it went."""
    from asara_server.cli.run_session import kept_or_temporary, play_run

    clocks = {"bank_s": bank, "increment_s": increment, "start_up_s": start_up}
    combination = rule_sets(rules)
    signer = signing_key(key)
    tournament = _tournament(bots, rules, seed, at_once, clocks, mirrored=mirrored)
    contained = chosen_sandbox(sandbox, secret=[key or default_key_path()], shared=Path.cwd())
    names = [entry.name for entry in tournament.entries]
    if matches is None:
        matches = len(names) if mirrored else 1
    if mirrored and matches % len(names):
        raise UserError(
            f"--mirrored plays each deal in {len(names)} matches: "
            f"--matches must be a multiple of {len(names)}, not {matches}"
        )
    schedule = list(rotated(names, combination, matches, mirrored=mirrored))
    with kept_or_temporary(out_directory, replace=replace) as directory:
        end, status = play_run(
            tournament, schedule, directory, signer, context.obj, sandbox=contained
        )
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
    *,
    mirrored: bool,
) -> Tournament:
    if not 2 <= len(bots) <= 4:
        raise UserError(f"a match has 2 to 4 bots, not {len(bots)}; for more, write a tournament")
    return tournament_of(
        bots,
        name="match",
        seats=len(bots),
        rule_sets=rules,
        blocks="mirrored" if mirrored else "independent",
        concurrency=at_once,
        seed=seed,
        clocks=clocks,
    )
