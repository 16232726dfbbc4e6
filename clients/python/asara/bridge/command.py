"""The command `asara bridge`, also available as `python -m asara.bridge`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from asara.bridge.bot import BridgeBot
from asara.bridge.program import Program
from asara.client import run
from asara.errors import ConfigurationError

_HELP = """\
Usage: asara bridge [OPTIONS] -- COMMAND...

  Connect any program that reads and writes JSON lines.

  Use `asara bridge -- COMMAND` wherever a bot's command is expected. The bridge
  starts your program once and uses it for all of the bot's matches.

  Your program reads one JSON object per line. The member `type` is
  match_started, decision, rejection or match_ended. Every line also has the
  members match_id and seat. A line of type decision has three more members:
    legal          the legal actions as text, such as "dispatch bank 8"
    random_index   index of one of the legal actions, chosen at random
    decision       the full Decision message, with its kind, view, and more

  For each decision, your program prints one line and flushes it. The line is
  either an index into `legal`, counted from 0, or the text of an action. To
  send several actions of the same turn, print a list, such as
  [3,"lay blue face-down"]. Everything else must go to standard error.

Arguments:
  COMMAND...  Your program and its arguments.

Options:
  -j, --jobs N  Maximum number of matches in parallel. [default: 1]
  -h, --help    Show this message and exit.

Examples:
  asara new perl my-perl
      create a bot that plays through the bridge
  asara match 'asara bridge -- perl my-perl/bot.pl' random

Guide: asara help --guide bridge
"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Play with the program in the arguments (default: the process's arguments), then exit."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    end = words.index("--") if "--" in words else len(words)
    given = _parser().parse_args(words[:end])
    play_bridge(given.command + words[end + 1 :], given.jobs)


def play_bridge(command: Sequence[str], max_matches: int) -> NoReturn:
    """Play until the referee sends Goodbye, then exit."""
    if not command:
        _refuse("name a program: asara bridge -- perl bot.pl")
    if not hasattr(os, "killpg"):
        _refuse("needs Linux or macOS (on Windows: WSL2)")
    try:
        program = Program(command)
    except ConfigurationError as error:
        _refuse(str(error))
    bot = type("Bridge", (BridgeBot,), {"program": program})
    try:
        run(bot, bot_name=shlex.join(command), max_matches=max_matches)
    finally:
        fault = program.close()
        if fault and sys.exc_info()[0] is None:
            sys.stderr.write(f"asara: {fault} after its last match\n")
    sys.exit(0)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        plainer = message.replace("unrecognized arguments:", "unknown option")
        _refuse(f"{plainer}; see `asara bridge --help`")

    def format_help(self) -> str:
        return _HELP


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(allow_abbrev=False)
    parser.add_argument("--jobs", "-j", type=_count, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _count(text: str) -> int:
    if not (text.isdecimal() and 1 <= len(text) <= 6 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 999999")
    return int(text)


def _refuse(problem: str) -> NoReturn:
    sys.stderr.write(f"asara: bridge: {problem}\n")
    sys.exit(2)
