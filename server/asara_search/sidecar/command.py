"""The command `asara sidecar`, also available as `python -m asara_search.sidecar`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO, NoReturn

from asara import program_end

from .service import LONGEST_LINE, Sidecar, too_long

__all__ = ["main", "serve"]

_HELP = """\
Usage: asara sidecar [OPTIONS]

  Sample possible game states for a bot that looks ahead.

  The sampled states are called worlds: complete states of the game that are
  consistent with everything a seat knows. A bot in any language starts
  `asara sidecar`, writes one request per line and reads one response per line,
  both as JSON. The bot passes on each message from the referee as it arrives,
  and can then request worlds and playouts. The sidecar ends when its standard
  input ends.

  The `method` of a request is one of:
    observe        pass on a message from the referee
    sample         create worlds for the latest decision and return their ids
    legal_actions, apply, copy, release, outcome, view
                   work on one world, given its id
    evaluate       estimate the final prestige of each seat
    play_out       play on with a policy, then evaluate
    hello          list all methods, policies and limits

Options:
  -h, --help  Show this message and exit.

Examples:
  echo '{"method":"hello"}' | asara sidecar

Guide: asara help --guide sidecar
"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Answer requests from standard input until it ends, then exit."""
    parser = _Parser(allow_abbrev=False)
    parser.parse_args(arguments)
    sidecar()


def sidecar() -> NoReturn:
    """Answer until standard input ends, then exit. Requests without a seed use ASARA_SEED."""
    program_end.has_played()  # a bot started this program, which itself never plays
    try:
        serve(Sidecar(os.environ.get("ASARA_SEED")), sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:  # the bot has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # drop buffered output
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def serve(answers: Sidecar, requests: BinaryIO, output: BinaryIO) -> None:
    """Write one line to `output` for each line of `requests`."""
    while line := requests.readline(LONGEST_LINE + 2):
        if len(line.rstrip(b"\r\n")) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = requests.readline(LONGEST_LINE)
            answer = too_long()
        else:
            answer = answers.answer(line)
        output.write(answer.encode() + b"\n")
        output.flush()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        plainer = message.replace("unrecognized arguments:", "unknown option")
        sys.stderr.write(f"asara: sidecar: {plainer}; see `asara sidecar --help`\n")
        sys.exit(2)

    def format_help(self) -> str:
        return _HELP
