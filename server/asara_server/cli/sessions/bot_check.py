"""Checks one bot for its author, and prints what an organiser would see."""

import json
import shlex
from pathlib import Path

from asara_server.cli.commands.check import Check
from asara_server.cli.display.bot_check import BotCheckMeter, BotFinding, findings, show_finding
from asara_server.cli.display.bot_output import show_output
from asara_server.cli.display.console import notify, warn
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.common import rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.sessions.bot_build import clients_beside
from asara_server.cli.sessions.entry_check import check_folder, keep_replays, play_check
from asara_server.cli.sessions.setup import log_to_file, sandbox_of_bots
from asara_server.event_loop import run
from asara_server.replay.signing import default_key_path
from asara_server.tournament.bots.build.build_cache import BuildCache
from asara_server.tournament.config.tournament_file import (
    ConfigError,
    Entry,
    Tournament,
    check_tournament,
)
from asara_server.tournament.execution.entry_check import EntryCheck

_OPPONENT = "random"
"""The built-in bot that plays against the checked bot."""


def check_bot(options: Check, log: LogOptions) -> int:
    """Check the bot; return the exit status: 0 if the bot works, otherwise 1."""
    rule_sets(options.rules)
    bot, opponent = find_bots([options.bot, _OPPONENT], options.readable)
    if options.json_file is not None:
        check_output("--json", options.json_file, run=options.out_directory)
    tournament = _tournament(bot, opponent, options)
    entry, other = tournament.entries
    secret = [default_key_path()]
    sandbox = sandbox_of_bots(options.sandbox, [bot.directory], secret=secret)
    with (
        check_folder(options.out_directory) as folder,
        log_to_file(log.after_output(), folder / "check.log"),
    ):
        check = EntryCheck(
            tournament,
            [other],
            folder,
            sandbox=sandbox,
            on_build=lambda name: notify(f"Building {name} in a copy: {shlex.join(entry.build)}"),
            only=entry,
            show_output=show_output if log.verbose else None,
            cache=BuildCache(),
        )
        meter = BotCheckMeter(entry, options.clock.time_bank_s, check)
        meter.begin(options.rules)
        [checked] = run(play_check(check, meter))
        if options.out_directory is not None:
            keep_replays([checked], folder)
        finding = findings(checked, tournament, contained=sandbox is not None)
    show_finding(finding)
    if sandbox is None:
        warn(
            "The bot ran with your permissions. A tournament runs it in a sandbox: see `--sandbox`."
        )
    if options.out_directory is not None:
        notify(f"Output of build and bot, and replays: {options.out_directory}")
    if options.json_file is not None:
        write_output(options.json_file, _json(finding))
    return 0 if finding.works else 1


def _tournament(bot: Entry, opponent: Entry, options: Check) -> Tournament:
    """Return a tournament of the bot and its opponent, with longer clocks than usual."""
    readable = (*bot.readable, *clients_beside(bot.directory))
    try:
        return check_tournament(
            {
                "title": bot.name,
                "entries": [bot.model_copy(update={"readable": readable}), opponent],
                "seats": 2,
                "rules": options.rules,
                "blocks": "independent",
                "process_per": "run",
                "clocks": {**options.clock._asdict(), "start_up_s": options.start_up},
            },
            name="check",
            base=Path("/"),  # all paths are absolute
        )
    except ConfigError as error:
        raise UserError(str(error)) from None


def _json(finding: BotFinding) -> bytes:
    return (json.dumps(finding.as_json(), indent=2, ensure_ascii=False) + "\n").encode()
