"""Advice to the author of a bot, from how its process ended and what it printed."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from asara_codec.results import Termination
from asara_server.tournament.bots import python_errors
from asara_server.tournament.bots.error_output import known_error
from asara_server.tournament.sandbox.hidden_files import SANDBOX_HID
from asara_server.tournament.standings.match_result import output_of, without_output

_NETWORK = re.compile(
    r"name resolution|Name or service not known|nodename nor servname|getaddrinfo"
    r"|[Nn]etwork is unreachable|No route to host|Connection refused|dial tcp"
    r"|[Aa]ddress family not supported|EAFNOSUPPORT"
    r"|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|UnknownHostException|ConnectException"
)
"""Words of errors of programs that miss the network."""

_NO_PROGRAM = re.compile(r"sh: \d+: exec: (\S+): not found$")

_RUST_PANIC = re.compile(r"thread '.*' .*panicked at (?!/)(\S+:\d+):\d+:$")
"""The line of a panic in Rust, if it names one of the author's files."""

_NEVER_SENT = re.compile(r"asara: .*(?:; does it flush\?|without the end of a line)")
"""A line of the bridge about an answer that did not leave the program."""

_ARGPARSE_ERROR = re.compile(r"\S+: error: ")
"""The last line of a program in Python whose options argparse refuses."""

_NATIVE_SIGNAL = re.compile(r"killed by SIG(?:SEGV|ABRT|BUS|FPE|ILL)")

_JAVA_PLACE = re.compile(r"(?:in \S+, decision \d+ \(.*\) )?at \S+\((\w+\.java:\d+)\)$")
"""The last line that the Java client prints of an exception."""

_NO_NETWORK = (
    "in the sandbox a bot has no network and reaches the referee alone. Put what it needs "
    "into its folder before the match. Its own processes can reach each other by Unix sockets, or "
    "by internet sockets if the tournament file permits it with loopback = true."
)
_SHOW_OUTPUT = "--show-output shows everything that the bot prints until then."
_NOT_IN_SANDBOX = (
    "start the bot with another program: the sandbox has no {}. `python` is the interpreter that "
    "runs asara."
)
_NO_RUN = (
    "{} ended without playing. The last line of a bot is asara.run(decide), which returns after "
    "the last match: add it if it is missing, and remove sys.exit() or anything else that ends "
    "the program before it."
)
_ENDED_EARLY = (
    "{} ended in the middle of the match. Remove sys.exit(), os._exit() or whatever ends it: "
    "asara.run(decide) returns after the last match."
)
_NO_RUN_OTHER = (
    "{} ended without playing. Remove whatever ends it before the client's run function, which "
    "returns after the last match."
)
_NO_BRIDGE = (
    "{} ended without playing. If it reads and prints lines, start it as `asara bridge -- {}`; "
    "otherwise, remove whatever ends it before the client's run function."
)
LINE_PROGRAMS = frozenset({".awk", ".lua", ".php", ".pl", ".rb", ".sh", ".tcl"})
"""Endings of programs in languages without a client."""
_ENDED_EARLY_OTHER = (
    "{} ended in the middle of the match. Remove the call that ends it, such as exit: the client's "
    "run function returns after the last match."
)
_TOO_SLOW = (
    "return an action before the time is over; decision.clock_us is the time left, and {} "
    "gives a bot more of it."
)
_ENDED_ITSELF = (
    "{} ended itself after these lines, as sys.exit() with a text does. Remove that call: the "
    "last line of a bot is asara.run(decide), which returns after the last match."
)
_ONLY_HELP = (
    "remove {} from its command to play. --show-output shows the whole help, which is all that "
    "{} prints then."
)
_WRONG_OPTION = "correct the options in its command, `{}`."
_NATIVE_CRASH = (
    "{} was ended by an error of native code, such as an index out of range or a null pointer. "
    "Compile it with -g -fsanitize=address,undefined and play the match again with --sandbox none: "
    "it then prints the line."
)
_NEVER_CALLED = (
    "{} did not reach asara.run(decide) in time. Look for an endless loop, input() or slow "
    "loading before it; --start-up gives it more seconds."
)


def remedy(
    termination: Termination, detail: str, command: Sequence[str], *, asked: bool = False
) -> str:
    """Return a sentence that says what to do about a forfeit; "" if nothing is known to help.

    `detail` may contain the output of the process that `command` started. With `asked`, the advice
    is for `asara replay ask`, which has other options and shows all output by itself.
    """
    printed = output_of(detail)
    if printed and printed[-1].startswith(SANDBOX_HID):
        return ""  # which says what to do
    program = _program(command)
    if any(_NETWORK.search(line) and not line.startswith("asara: ") for line in printed):
        return _NO_NETWORK
    if found := next(filter(None, map(_NO_PROGRAM.match, printed)), None):
        return _NOT_IN_SANDBOX.format(found[1])
    if known := python_errors.advice(printed, program):
        return known
    if termination is Termination.TIME_OUT:
        if any(map(_NEVER_SENT.match, printed)):
            return ""
        return _TOO_SLOW.format("--limit" if asked else "--bank")
    places = (*map(_RUST_PANIC.match, printed), *map(_JAVA_PLACE.match, printed))
    if found := next(filter(None, places), None):
        correct = f"correct {found[1]}."
        return correct if asked else f"{correct} {_SHOW_OUTPUT}"
    if any(line.startswith("asara: ") for line in printed):
        return ""  # the client's own messages say what to do
    if printed and printed[0].startswith("Traceback"):
        return python_errors.other_exception(printed, asked=asked)
    without_bridge = (Termination.NEVER_STARTED, "exited with status 0")
    reads_lines = Path(program).suffix in LINE_PROGRAMS
    if reads_lines and (termination, without_output(detail)) == without_bridge:
        return _NO_BRIDGE.format(program, shlex.join(command))
    asks_help = bool(command) and command[-1] in ("-h", "--help") and not asked
    if asks_help and printed and without_output(detail) == "exited with status 0":
        return _ONLY_HELP.format(command[-1], program)
    if printed and _ARGPARSE_ERROR.match(printed[-1]) and len(command) > 1:
        return _WRONG_OPTION.format(shlex.join(command))
    return _about_ending(termination, detail, program, printed)


def _about_ending(
    termination: Termination, detail: str, program: str, printed: Sequence[str]
) -> str:
    """Return advice about a process that ended, or never dialled in, without an error message."""
    ending = without_output(detail)
    if ending == "exited with status 0":
        never = termination is Termination.NEVER_STARTED
        if program.endswith(".py"):
            return (_NO_RUN if never else _ENDED_EARLY).format(program)
        return (_NO_RUN_OTHER if never else _ENDED_EARLY_OTHER).format(program)
    if not program.endswith(".py") and _NATIVE_SIGNAL.fullmatch(ending):
        return _NATIVE_CRASH.format(program)
    by_itself = re.fullmatch(r"exited with status (?!12[67])\d+", ending) is not None
    if by_itself and program.endswith(".py") and printed and not known_error(printed):
        return _ENDED_ITSELF.format(program)
    if ending.startswith("did not dial in within"):
        return _NEVER_CALLED.format(program)
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
