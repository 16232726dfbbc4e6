"""Plays a series of matches between bots given on the command line, for `match` and `duel`."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from asara_server.cli.commands.duel import Duel
from asara_server.cli.commands.match import Match
from asara_server.cli.display.bot_output import show_output
from asara_server.cli.display.console import notify, out
from asara_server.cli.display.faults import warn_of_departures, warn_of_faults, warn_of_views
from asara_server.cli.display.progress import RunMeter
from asara_server.cli.display.results import show_match, show_standings
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import SandboxChoice, rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.run import notify_run_directory, play_run
from asara_server.cli.sessions.setup import (
    key_of_run,
    sandbox_of_bots,
    signing_key,
)
from asara_server.match.deal_secrets import local_seed
from asara_server.replay.signing import SigningKey, default_key_path
from asara_server.tournament.bots.pool import Departure
from asara_server.tournament.config.fields import MOST_SECONDS
from asara_server.tournament.config.token_store import new_token
from asara_server.tournament.config.tournament_file import Entry, Tournament, check_tournament
from asara_server.tournament.execution.match_runner import Executor, LocalExecutor
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, RunSetup
from asara_server.tournament.schedule.schedule import ScheduledMatch, rotated
from asara_server.user_error import UserError


def series_tournament(
    command: str, bots: Sequence[Entry], options: Match | Duel, **table: object
) -> Tournament:
    """Return a tournament of the bots given to a command.

    `table` holds further keys of a tournament file. Error messages show the command in place of a
    file.
    """
    transcript = _transcript(options.sandbox)
    table |= {
        "title": " – ".join(bot.name for bot in bots),
        "entries": [
            bot
            if bot.remote
            else bot.model_copy(update={"environment": {**bot.environment, **transcript}})
            for bot in bots
        ],
        "seats": len(bots),
        "rules": options.rules,
        "clocks": options.clock.table(options.start_up),
    }
    if options.seed is not None:
        table["seed"] = local_seed(options.seed)
    if options.jobs is not None:
        table["jobs"] = options.jobs
    return check_tournament(table, name=command, base=Path("/"))  # all paths are absolute


def _transcript(sandbox: SandboxChoice) -> dict[str, str]:
    """Return the variable that makes bots write transcripts, if the user has set it."""
    folder = os.environ.get("ASARA_TRANSCRIPT")
    if not folder:
        return {}
    if sandbox is not SandboxChoice.NONE:
        raise UserError(
            "ASARA_TRANSCRIPT is set, but in the sandbox transcripts are deleted with everything "
            "else that a bot writes; add --sandbox none, or unset the variable"
        )
    return {"ASARA_TRANSCRIPT": str(Path(folder).absolute())}


def play_series(
    tournament: Tournament,
    matches: Sequence[ScheduledMatch],
    options: Match | Duel,
    log: LogOptions,
    *,
    meter: RunMeter | None = None,
    executor: Executor | None = None,
) -> tuple[RunEnd, int]:
    """Play the matches of one table in a new or temporary run directory; see also `play_run`.

    The matches are those that `rotated` yields.
    """
    key_file = key_of_run(None, options.out_directory)
    folders = [entry.directory for entry in tournament.entries if not entry.remote]
    secret = [key_file or default_key_path()]
    if tournament.remote is not None:
        secret.append(tournament.remote.tokens)
    sandbox = sandbox_of_bots(options.sandbox, folders, secret=secret) if folders else None
    entries = built_bots(tournament.entries, sandbox)
    tournament = tournament.model_copy(update={"entries": entries})
    if sandbox is not None:
        warn_of_views(tournament.entries, tournament.limits, sandbox.reserved, own=True)
    with _kept_or_temporary(options.out_directory) as directory:
        # Without --out, nothing that the key signs is kept.
        key = SigningKey.new() if options.out_directory is None else signing_key(key_file)
        setup = RunSetup(
            tournament, matches, directory, key, sandbox, executor, schedule_rule="rotations"
        )
        return play_run(setup, log, meter)


@contextmanager
def _kept_or_temporary(path: Path | None) -> Iterator[RunDirectory]:
    """Create a run directory; without a path, it is deleted on exit."""
    if path is not None:
        with closing(RunDirectory.create(path)) as directory:
            yield directory
        return
    folder = Path(tempfile.mkdtemp(prefix="asara-"))
    try:
        with closing(RunDirectory.create(folder)) as directory:
            yield directory
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def play_matches(options: Match, log: LogOptions) -> int:
    """Play the matches; return the exit status. With -v, show what the bots print."""
    combination, mirrored = rule_sets(options.rules), options.mirrored
    seats = len(options.bots)
    if not 2 <= seats <= 4:
        remedy = (
            "for more, write a tournament file"
            if seats > 1
            else "add an opponent, for example `random`"
        )
        raise UserError(f"a match needs 2 to 4 bots, not {seats}; {remedy}")
    bots = find_bots(options.bots, options.readable, guests=True)
    number = options.matches or (seats if mirrored else 1)
    if mirrored and number % seats:
        raise UserError(
            f"--mirrored plays each deal in {seats} matches; "
            f"--matches must be a multiple of {seats}, not {number}"
        )
    schedule = list(rotated([bot.name for bot in bots], combination, number, mirrored=mirrored))
    departures: list[Departure] = []
    with _guests(bots) as (tokens, remote):
        blocks = "mirrored" if mirrored else "independent"
        tournament = series_tournament("match", bots, options, blocks=blocks, **remote)
        meter = RunMeter(number, paced=not tokens)

        def announce(address: str) -> None:
            with meter.hidden():
                _announce(tokens, address, executor.bot_seeds)

        executor = LocalExecutor(
            on_listening=announce,
            show_output=show_output if log.verbose else None,
            on_departure=departures.append,
        )
        end, status = play_series(
            tournament, schedule, options, log.after_output(), meter=meter, executor=executor
        )
    log_file = options.out_directory and options.out_directory / "run.log"
    warn_of_faults(end, log_file)
    warn_of_departures(departures, end.results)
    if number == 1 == end.standings.matches.played:
        show_match(end.results[-1])
    elif end.standings.matches.played:
        show_standings(end.standings)
    elif not end.results:
        notify("No match was played.")
    if options.out_directory is not None:
        notify_run_directory(options.out_directory)
    return status


@contextmanager
def _guests(bots: Iterable[Entry]) -> Iterator[tuple[Mapping[str, str], Mapping[str, Any]]]:
    """Make tokens for guests: bots that the user starts, for example in a debugger.

    Yield the guests' tokens, by entry, and settings of a tournament that let the guests connect;
    both are empty without guests. The tokens are valid until exit.
    """
    names = [bot.name for bot in bots if bot.remote]
    if not names:
        yield {}, {}
        return
    with tempfile.TemporaryDirectory(prefix="asara-guests-") as folder:
        file = Path(folder) / "tokens.json"
        tokens = {name: new_token(file, name) for name in names}
        remote = {
            "listen": "127.0.0.1:0",
            "certificate": None,
            "key": None,
            "tokens": file,
            "wait_s": MOST_SECONDS,
        }
        yield tokens, {"remote": remote}


def _announce(tokens: Mapping[str, str], address: str, seeds: Mapping[str, int]) -> None:
    """Print the environment variables for each guest's command; `seeds` are by entry."""
    for name, token in tokens.items():
        variables = f"ASARA_ADDRESS={address} ASARA_TOKEN={token} ASARA_SEED={seeds[name]}"
        out.print(f"Start your bot ({name}) with these variables:")
        out.print(f"    {variables}\n", soft_wrap=True)
    if tokens:
        notify("Press Ctrl-C to stop.")
