"""Advice to the author of a bot, from how its process ended and what it printed."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from platform import python_version

from asara_codec.results import Termination
from asara_server.tournament.sandbox.hidden_files import SANDBOX_HID
from asara_server.tournament.standings.match_result import output_of, without_output

_ERRORS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (
        r"(TabError|IndentationError):",
        lambda _: "indent every line of a block with the same number of spaces, and without tabs.",
    ),
    (
        r"SyntaxError:",
        lambda _: (
            f"correct that line. `python` is Python {python_version()} here, which does not know "
            "the syntax of newer versions."
        ),
    ),
    (
        r"ModuleNotFoundError: No module named '([\w.]+)'",
        lambda found: (
            f"check the name {found[1]!r}, or install the package for the Python that runs bots: "
            f"{sys.executable} -m pip install {found[1].partition('.')[0]}"
        ),
    ),
    (
        r"EOFError: EOF when reading a line",
        lambda _: (
            "a bot has no keyboard, so input() finds nothing: choose one of "
            "decision.legal_actions in the program."
        ),
    ),
    (
        r"(bdb\.)?BdbQuit",
        lambda _: (
            "breakpoint() needs a terminal, which this bot does not have: start the bot yourself "
            "against `asara serve`, or remove the call."
        ),
    ),
    (
        r"TypeError: run\(\) missing 1 required positional argument: 'bot'",
        lambda _: "pass the function or class that decides: asara.run(decide)",
    ),
    (
        r"TypeError: (\w+)\(\) missing \d+ required positional arguments?: '(decision|self)'",
        lambda found: f"pass {found[1]} itself, without a call: asara.run({found[1]})",
    ),
)
"""Patterns of the last error line, with the advice."""

_NO_RUN = (
    "{} ended without playing. The last line of a bot is asara.run(decide), which returns after "
    "the last match: add it if it is missing, and remove sys.exit() or anything else that ends "
    "the program before it."
)
_ENDED_EARLY = (
    "{} ended in the middle of the match. Remove sys.exit(), os._exit() or whatever ends it: "
    "asara.run(decide) returns after the last match."
)
_TOO_SLOW = (
    "return an action before the time is over; decision.clock_us is the time left, and --bank "
    "gives a bot more of it."
)
_EXCEPTION = (
    "correct the line above the error. --show-output shows everything that the bot prints until "
    "then."
)
_NEVER_CALLED = (
    "{} did not reach asara.run(decide) in time. Look for an endless loop, input() or slow "
    "loading before it; --start-up gives it more seconds."
)


def remedy(termination: Termination, detail: str, command: Sequence[str]) -> str:
    """Return a sentence that says what to do about a forfeit; "" if nothing is known to help.

    `detail` may contain the output of the process that `command` started.
    """
    printed = output_of(detail)
    if printed and printed[-1].startswith(SANDBOX_HID):
        return ""  # which says what to do
    for line in reversed(printed):
        for pattern, advice in _ERRORS:
            if found := re.match(pattern, line.strip()):
                return advice(found)
    if termination is Termination.TIME_OUT:
        return _TOO_SLOW
    if any(line.startswith("asara: ") for line in printed):
        return ""  # the client's own messages say what to do
    if printed and printed[0].startswith("Traceback"):
        return _EXCEPTION
    ending = without_output(detail)
    program = _program(command)
    if ending == "exited with status 0":
        never = termination is Termination.NEVER_STARTED
        return (_NO_RUN if never else _ENDED_EARLY).format(program)
    if ending.startswith("did not dial in within"):
        return _NEVER_CALLED.format(program)
    return ""


def _program(command: Sequence[str]) -> str:
    """Return the name of the program's file."""
    files = [word for word in command if Path(word).suffix]
    return files[0] if files else " ".join(command) or "the program"
