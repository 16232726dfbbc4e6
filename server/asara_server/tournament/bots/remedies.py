"""Advice to the author of a bot, from how its process ended and what it printed.

The lines that it printed last are shown anyway. Advice names what they do not say: the author's own
line in a traceback, a module that is missing, and what the sandbox hides.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from asara_codec.results import Termination
from asara_server.tournament.bots.error_output import WAITED
from asara_server.tournament.bots.output_log import CUT
from asara_server.tournament.bots.tracebacks import frames, last_own
from asara_server.tournament.sandbox.hidden_files import SANDBOX_HID
from asara_server.tournament.standings.match_result import output_of, without_output

_NETWORK = re.compile(
    r"name resolution|Name or service not known|getaddrinfo|[Nn]etwork is unreachable"
    r"|Connection refused|[Aa]ddress family not supported"
)
"""Words of errors of programs that miss the network."""

_MODULE = re.compile(r"\s*ModuleNotFoundError: No module named '(\w+)")
_NEVER_SENT = re.compile(r"asara: .*(?:; does it flush\?|without the end of a line)")
"""A line of the bridge about an answer that did not leave the program."""
_OWN_LINE = re.compile(r"asara: .*, line \d+: ")
"""The client's message about a line of the author."""

_NO_NETWORK = (
    "in the sandbox a bot has no network and reaches the referee alone. Put what it needs "
    "into its folder before the match. Its own processes can reach each other by Unix sockets, or "
    "by internet sockets if the tournament file permits it with loopback = true."
)
_NO_MODULE = (
    "if {0} is a file of yours, put {0}.py beside {1}. If it is a package, check its name, or "
    "install it: {2} -m pip install {0}"
)
_OTHER_PYTHON = "start the bot with `python`: that is the interpreter which has the package asara."
_ENDED_EARLY = (
    "{} ended {}. Remove whatever ends it, such as sys.exit(): the client's run function, "
    "asara.run(decide) in Python, returns after the last match."
)
LINE_PROGRAMS: Final = frozenset({".awk", ".lua", ".php", ".pl", ".rb", ".sh", ".tcl"})
"""Endings of programs in languages without a client."""
_TOO_SLOW = (
    "return an action before the time is over; decision.clock_us is the time left, and {} "
    "gives a bot more of it."
)
_STAYS = (
    "{} played its first match well, and its process goes on to the next one: what it keeps in "
    "global variables or attributes of a class is still there. Set it anew when a match starts, "
    "for example in started()."
)
_LEFT = (
    "let {} wait for the next match. The client's run function returns after the last one: remove "
    "what ends the program, such as sys.exit(), from the code that runs when a match has ended."
)
_STATUS = (
    "let {} end with status 0 when the client's run function returns: remove sys.exit() or "
    "whatever else sets another status after it."
)
_ENDLESS = (
    "let {} end when the client's run function returns: end its other threads and processes, or "
    "make its threads daemons. A tournament kills a bot that does not."
)
_NEVER_CALLED = (
    "{} did not reach the client's run function in time. Look for an endless loop, input() or slow "
    "loading before it; {} gives it more seconds."
)


class Options(NamedTuple):
    """How the user of a command gives a bot more, in its advice."""

    bank: str
    start_up: str
    all_output: str
    """Sentence that says how to see everything that the bot prints; "" if that is shown."""


COMMAND_LINE: Final = Options(
    "--bank",
    "--start-up",
    " --show-output shows everything that the bot prints until then.",
)
TOURNAMENT: Final = Options(
    "clocks.bank_s", "clocks.start_up_s", " With --out DIR, everything that it prints is kept."
)
QUESTION: Final = Options("--limit", "--start-up", "")
"""Those of `asara replay ask`."""


def remedy(
    termination: Termination,
    detail: str,
    command: Sequence[str],
    options: Options = COMMAND_LINE,
) -> str:
    """Return a sentence that says what to do about a forfeit; "" if nothing is known to help.

    `detail` may contain the output of the process that `command` started. `options` are those of
    the user's command.
    """
    printed = output_of(detail)
    ending = without_output(detail)
    if printed and printed[-1].startswith(SANDBOX_HID):
        return ""  # which says what to do
    program = _program(command)
    if any(_NETWORK.search(line) and not line.startswith("asara: ") for line in printed):
        return _NO_NETWORK
    if missing := _missing_module(printed, program):
        return missing
    if termination is Termination.TIME_OUT:
        sent = not any(map(_NEVER_SENT.match, printed))
        return _TOO_SLOW.format(options.bank) if sent else ""
    if own := _own_line(printed):
        return f"correct {own}.{options.all_output}"
    if any(line.startswith("asara: ") for line in printed):
        return ""  # the client's own messages say what to do
    if ending.startswith("did not dial in within"):
        return _NEVER_CALLED.format(program, options.start_up)
    if ending == "exited with status 0":
        never = termination is Termination.NEVER_STARTED
        return _ENDED_EARLY.format(
            program, "without playing" if never else "in the middle of the match"
        )
    return ""


def second_match_advice(command: Sequence[str]) -> str:
    """Return advice about a fault that a process did not have in its first match."""
    return _STAYS.format(_program(command))


def departure_advice(
    printed: Sequence[str],
    command: Sequence[str],
    options: Options,
    *,
    early: bool = False,
    endless: bool = False,
    failed: bool = False,
) -> str:
    """Return advice about a process that did not end as it should after its matches, or "".

    It ended `early`, before the referee's goodbye, or was `endless`, or `failed` after it. If
    nothing of this holds, it `printed` an exception and played on.
    """
    program = _program(command)
    if any(map(_OWN_LINE.match, printed)):
        return ""  # the message says what to do
    if own := _own_line(printed):
        return f"correct {own}.{options.all_output}"
    wrong = endless or (failed and not early)
    if any(line.startswith("asara: ") for line in printed) and not wrong:
        return ""  # the client's own messages say what to do
    if printed and not (early or wrong):
        cut = printed[0].startswith(CUT)
        return "print less: no more of it is kept." if cut else "correct what the message says."
    return (_LEFT if early else _ENDLESS if endless else _STATUS).format(program)


def _own_line(printed: Sequence[str]) -> str:
    """Return the author's line in Python that led to an error, in words; "" without one.

    A message of the client says itself what to do about the line that it names, and a stack that a
    bot prints while it waits or computes is no error.
    """
    if printed and printed[0].startswith(("asara: ", WAITED)):
        return ""
    found = frames(printed)
    if any(line.startswith("Fatal Python error: ") for line in printed):
        found.reverse()  # the innermost call is the first line
    own = last_own(found)
    return own.place if own else ""


def _missing_module(printed: Sequence[str], program: str) -> str:
    for line in printed:
        if found := _MODULE.match(line):
            if found[1] == "asara":
                return _OTHER_PYTHON
            return _NO_MODULE.format(found[1], program, shlex.quote(sys.executable))
    return ""


def _program(command: Sequence[str]) -> str:
    """Return the name of the program's file."""
    files = [word for word in command if Path(word).suffix and not _is_interpreter(word)]
    if files:
        return Path(files[0]).name
    return command[0] if len(command) == 1 else "the program"


def _is_interpreter(word: str) -> bool:
    """Return True for python3.12, whose number is no ending of a file's name."""
    return re.fullmatch(r"(?:.*/)?[a-z]+[\d.]+", word) is not None
