"""Plays a duel until its test decides, then prints and writes the verdict."""

import json
from pathlib import Path

from asara_server.cli.commands import duel as commands
from asara_server.cli.display.console import out, warn
from asara_server.cli.display.duel import DuelMeter, forfeit_lines, heading, verdict
from asara_server.cli.display.faults import warn_of_faults
from asara_server.cli.errors import UserError
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.sessions.run_directory import notify_run_directory
from asara_server.cli.sessions.series import play_series, series_tournament
from asara_server.tournament.schedule.schedule import rotated
from asara_server.tournament.standings.duel import Duel, DuelReport
from asara_server.tournament.standings.sprt import SequentialTest

UNDECIDED = 3
"""Exit status of a duel that ended without a verdict."""


def play_duel(options: commands.Duel, log: LogOptions) -> int:
    """Play the duel; return the exit status."""
    try:
        test = SequentialTest(options.margin)
    except ValueError as error:
        raise UserError(f"--{error}") from None
    combination, json_file = rule_sets(options.rules), options.json_file
    tournament = series_tournament("duel", [options.a, options.b], options)
    if json_file is not None:
        check_output("--json", json_file, run=options.out_directory)
    a, b = (entry.name for entry in tournament.entries)
    schedule = list(rotated((a, b), combination, 2 * options.max_blocks, mirrored=True))
    meter = DuelMeter(Duel(schedule, test), heading((a, b), combination, test, tournament.jobs))
    end, status = play_series(tournament, schedule, options, log, meter=meter)
    report = meter.duel.report()
    if report.failed_start is not None:
        raise UserError(report.failed_start, status=1)
    warn_of_faults(end, options.out_directory and options.out_directory / "run.log")
    for line in forfeit_lines(report):
        warn(line)
    out.print(verdict(report), soft_wrap=True)
    if options.out_directory is not None:
        notify_run_directory(options.out_directory)
    if json_file is not None:
        _write_json(json_file, report)
    return status or (0 if meter.duel.over else UNDECIDED)


def _write_json(path: Path, report: DuelReport) -> None:
    fields = {"sentence": verdict(report), **report.model_dump(mode="json")}
    text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
    write_output(path, text.encode())
