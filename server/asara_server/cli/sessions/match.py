"""Plays the matches of `asara match`, and prints how they ended."""

from asara_server.cli.display.bot_output import show_output
from asara_server.cli.display.faults import warn_of_departures, warn_of_faults
from asara_server.cli.display.results import show_match, show_standings
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.match import SeriesOptions, rule_sets
from asara_server.cli.sessions.run_directory import notify_run_directory
from asara_server.cli.sessions.series import play_series, series_tournament
from asara_server.tournament.bots.departures import Departure
from asara_server.tournament.execution.local_executor import LocalExecutor
from asara_server.tournament.schedule.schedule import rotated


def play_matches(
    bots: list[str],
    matches: int | None,
    options: SeriesOptions,
    log: LogOptions,
    *,
    mirrored: bool,
) -> int:
    """Play the matches; return the exit status. With -v, show what the bots print."""
    combination = rule_sets(options.rules)
    if not 2 <= len(bots) <= 4:
        remedy = (
            "for more, write a tournament file"
            if bots[1:]
            else "add an opponent, for example `random`"
        )
        wrong_number = f"a match needs 2 to 4 bots, not {len(bots)}; {remedy}"
        try:
            find_bots(bots)
        except UserError as error:
            raise UserError(f"{error}. Also, {wrong_number}") from None
        raise UserError(wrong_number)
    blocks = "mirrored" if mirrored else "independent"
    tournament = series_tournament("match", bots, options, blocks=blocks)
    names = [entry.name for entry in tournament.entries]
    number = matches or (len(names) if mirrored else 1)
    if mirrored and number % len(names):
        raise UserError(
            f"--mirrored plays each deal in {len(names)} matches; "
            f"--matches must be a multiple of {len(names)}, not {number}"
        )
    schedule = list(rotated(names, combination, number, mirrored=mirrored))
    departures: list[Departure] = []
    executor = LocalExecutor(
        show_output=show_output if log.verbose else None, on_departure=departures.append
    )
    end, status = play_series(tournament, schedule, options, log.after_output(), executor=executor)
    log_file = options.out_directory and options.out_directory / "run.log"
    warn_of_faults(end, log_file, tournament)
    warn_of_departures(departures, end.results, tournament.entries)
    if number == 1 == end.standings.matches.played:
        show_match(end.results[-1])
    elif end.standings.matches.played:
        show_standings(end.standings)
    if options.out_directory is not None:
        notify_run_directory(options.out_directory)
    return status
