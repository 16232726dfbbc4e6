"""Advises a bot's author, based on how the process ended and what it printed."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from asara_codec.results import Termination
from asara_server.tournament.bots.output import python_errors
from asara_server.tournament.bots.output.error_output import known_error
from asara_server.tournament.bots.output.output_log import CUT
from asara_server.tournament.bots.output.tracebacks import frames, last_own
from asara_server.tournament.config.tournament_file import Limits
from asara_server.tournament.sandbox.hidden_files import SANDBOX_HID
from asara_server.tournament.standings.match_result import output_of, without_output

_NETWORK = re.compile(
    r"name resolution|Name or service not known|nodename nor servname|getaddrinfo"
    r"|[Nn]etwork is unreachable|No route to host|Connection refused|dial tcp"
    r"|[Aa]ddress family not supported|EAFNOSUPPORT"
    r"|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|UnknownHostException|ConnectException"
)
"""Error texts of programs that could not reach the network."""

_RUN_BY_SHELL = re.compile(r"\S+\.py: (?:line )?\d+: ")
"""Error texts of a shell that was given a Python program."""

_NODE_PLACE = re.compile(r"(?:file://)?/\S*?([^/\s]+\.[cm]?[jt]s:\d+)$")
"""The first line of an exception printed by Node.js."""

_NODE_MODULE = re.compile(r"Error(?: \[\w+\])?: Cannot find (?:module|package) '([^']+)'")

_NO_PROGRAM = re.compile(r"sh: \d+: exec: (\S+): not found$")

_RUST_PANIC = re.compile(r"thread '.*' .*panicked at (?!/)(\S+:\d+):\d+:$")
"""A Rust panic message that points to one of the author's files."""

_NEVER_SENT = re.compile(r"asara: .*(?:; does it flush\?|without the end of a line)")
"""A line that the bridge prints about an answer that never left the program."""

_ARGPARSE_ERROR = re.compile(r"\S+: error: ")
"""The last line of a Python program whose options argparse refuses."""

_NATIVE_SIGNAL = re.compile(r"killed by SIG(?:SEGV|ABRT|BUS|FPE|ILL)")

_OWN_LINE = re.compile(r"asara: .*, line \d+: ")
"""The client's message that points to one of the author's lines."""

_KILLED_BY = re.compile(r"killed by SIG\w+")

_TRACEBACK = "Traceback (most recent call last):"

_FATAL = re.compile(r"Fatal Python error: ")

_JAVA_PLACE = re.compile(r"(?:in \S+, decision \d+ \(.*\) )?at \S+\((\w+\.java:\d+)\)$")
"""The last line of an exception printed by the Java client."""

_NO_NETWORK = (
    "in the sandbox a bot has no network and reaches the referee alone. Put what it needs "
    "into its folder before the match. Its own processes can reach each other by Unix sockets, or "
    "by internet sockets if the tournament file permits it with loopback = true."
)
_LIMITS = Limits()
"""The default limits of a tournament, which also apply to a match on the command line."""

_LIMIT_ERRORS = (
    (
        re.compile(
            r"can't start new thread|thread constructor failed|failed to spawn thread"
            r"|pthread_create|create (?:new |native )*thread|[Rr]esource temporarily unavailable"
        ),
        (
            f"a bot may have {_LIMITS.processes} processes and threads together, unless the "
            "tournament file sets another limits.processes. Start fewer: more threads than there "
            "are processor cores make no bot faster."
        ),
    ),
    (
        re.compile(
            r"\bMemoryError\b|std::bad_alloc|OutOfMemoryError|heap out of memory"
            r"|memory allocation of \d+ bytes failed|[Cc](?:an't|annot) allocate memory"
            r"|runtime: out of memory|Unable to allocate .*B for an array"
            r"|it used more than \S+ MiB of memory$"
        ),
        (
            f"a bot may use {_LIMITS.memory_mib:,} MiB of memory, all its processes and /tmp "
            "together, unless the tournament file sets another limits.memory_mib. Use less."
        ),
    ),
    (
        re.compile(r"No space left on device|ENOSPC|File too large|EFBIG"),
        (
            f"a bot may write {_LIMITS.disk_mib} MiB to each of /tmp, /dev/shm and its folder, all "
            "held in memory, unless the tournament file sets another limits.disk_mib. Write less."
        ),
    ),
    (
        re.compile(r"Too many open files|EMFILE"),
        (
            f"a process may have {_LIMITS.open_files:,} open files, unless the tournament file "
            "sets another limits.open_files. Close those that are no longer needed."
        ),
    ),
)
"""Error texts of programs that exceeded a limit, with the advice."""
_NOT_IN_SANDBOX = (
    "start the bot with another program: the sandbox has no {}. `python` is the interpreter that "
    "runs asara."
)
_NO_INTERPRETER = (
    "the first line of {} names a program that the sandbox does not have, or has a line end of "
    "Windows. Write `#!/usr/bin/env python3` there, and save the file with the line ends of Linux."
)
_NO_FIRST_LINE = (
    "the first line of {0} names no interpreter, so a shell has read the file. Write "
    "`#!/usr/bin/env python3` there, or start the bot as `python {0}`."
)
_NODE_MISSING = (
    "if {0} is a file of yours, write it with ./ and put it next to {1}. If it is a package, "
    "install it into the bot's folder, whose node_modules the bot sees."
)
_NO_RUN = (
    "{} ended without playing. The last line of a bot is asara.run(decide), which returns after "
    "the last match: add it if it is missing, and remove sys.exit() or anything else that ends "
    "the program before it. To play with a program that reads and prints lines, start it as `{}`."
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
"""File extensions of languages without a client."""
_ENDED_EARLY_OTHER = (
    "{} ended in the middle of the match. Remove the call that ends it, such as exit: the client's "
    "run function returns after the last match."
)
_KILLED = (
    "{} was killed by a signal. Look for os.kill() or signal.raise_signal() in it and in what it "
    "starts; if there is none, this machine may have had too little memory."
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
    "remove {} from its command to play. -v shows the whole help, which is all that {} prints then."
)
_WRONG_OPTION = "fix the options in its command, `{}`."
_NATIVE_CRASH_PYTHON = (
    "code that is not Python crashed{}: a package written in C, a call by ctypes, or the client "
    "after os.fork(), in place of which subprocess works. Check what the line passes to it, or "
    "install another version of the package."
)
_STAYS = (
    "{} played its first match well, and its process goes on to the next one: what it keeps in "
    "global variables or attributes of a class is still there. Reset it when a match starts, "
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
_NATIVE_CRASH = (
    "{} was ended by an error of native code, such as an index out of range or a null pointer. "
    "Compile it with -g -fsanitize=address,undefined and play the match again with --sandbox none: "
    "it then prints the line."
)
_NEVER_CALLED = (
    "{} did not reach asara.run(decide) in time. Look for an endless loop, input() or slow "
    "loading before it; {} gives it more seconds."
)


class Options(NamedTuple):
    """The options that a command's user can change to give a bot more, as worded in advice."""

    bank: str
    start_up: str
    all_output: str
    """Sentence that explains how to see all of the bot's output; "" if everything is shown."""


COMMAND_LINE: Final = Options(
    "--clock",
    "--start-up",
    " To see everything that the bot prints, add -v.",
)
TOURNAMENT: Final = Options(
    "clocks.time_bank_s", "clocks.start_up_s", " To keep everything that it prints, add --out DIR."
)
QUESTION: Final = Options("--limit", "a tournament with clocks.start_up_s", "")
"""The options of `asara replay ask`."""


def remedy(
    termination: Termination,
    detail: str,
    command: Sequence[str],
    options: Options = COMMAND_LINE,
) -> str:
    """Return a sentence with a remedy for a forfeit; "" if no remedy is known.

    `detail` may contain output of the process that `command` started. `options` are the options of
    the user's command.
    """
    printed = output_of(detail)
    ending = without_output(detail)
    if printed and printed[-1].startswith(SANDBOX_HID):
        return ""  # the message already gives the remedy
    program = _program(command)
    if any(_NETWORK.search(line) and not line.startswith("asara: ") for line in printed):
        return _NO_NETWORK
    if missing := _about_interpreter(printed, program):
        return missing
    if known := _about_limits([*printed, ending]) or python_errors.advice(printed, program):
        return known
    crashed = _NATIVE_SIGNAL.fullmatch(ending) or any(map(_FATAL.match, printed))
    if program.endswith(".py") and crashed:
        own = last_own(frames(printed)[::-1])  # the innermost call is the first line
        return _NATIVE_CRASH_PYTHON.format(f" in {own.place}" if own else "")
    if termination is Termination.TIME_OUT:
        if any(map(_NEVER_SENT.match, printed)):
            return ""
        return _TOO_SLOW.format(options.bank)
    if known := _about_other_languages(printed, program, options):
        return known
    if printed and _TRACEBACK in printed[0]:
        return python_errors.other_exception(printed) + options.all_output
    if any(line.startswith("asara: ") for line in printed):
        return ""  # the client's own messages say what to do
    without_bridge = (Termination.NEVER_STARTED, "exited with status 0")
    reads_lines = Path(program).suffix in LINE_PROGRAMS
    if reads_lines and (termination, ending) == without_bridge:
        return _NO_BRIDGE.format(program, shlex.join(command))
    asks_help = bool(command) and command[-1] in ("-h", "--help") and options is not QUESTION
    if asks_help and printed and ending == "exited with status 0":
        return _ONLY_HELP.format(command[-1], program)
    if printed and _ARGPARSE_ERROR.match(printed[-1]) and len(command) > 1:
        return _WRONG_OPTION.format(shlex.join(command))
    if ending.startswith("did not connect within"):
        return _NEVER_CALLED.format(program, options.start_up)
    return _about_ending(termination, ending, command, printed)


def _about_other_languages(printed: Sequence[str], program: str, options: Options) -> str:
    """Return advice about an exception of a non-Python program, or ""."""
    if found := next(filter(None, map(_NODE_MODULE.match, printed)), None):
        return _NODE_MISSING.format(found[1], program)
    places = (
        *map(_RUST_PANIC.match, printed),
        *map(_JAVA_PLACE.match, printed),
        *map(_NODE_PLACE.match, printed[:1]),
    )
    found = next(filter(None, places), None)
    return f"fix {found[1]}.{options.all_output}" if found else ""


def _about_interpreter(printed: Sequence[str], program: str) -> str:
    """Return advice about a program that is missing in the sandbox, or ""."""
    if found := next(filter(None, map(_NO_PROGRAM.match, printed)), None):
        return (_NO_INTERPRETER if "/" in found[1] else _NOT_IN_SANDBOX).format(found[1])
    if any(line.startswith("/usr/bin/env:") and "\\r" in line for line in printed):
        return _NO_INTERPRETER.format(program)
    if printed and _RUN_BY_SHELL.match(printed[0]):
        return _NO_FIRST_LINE.format(program)
    return ""


def _about_limits(lines: Sequence[str]) -> str:
    """Return advice about a sandbox limit that a program exceeded, or ""."""
    for line in lines:
        for pattern, advice in _LIMIT_ERRORS:
            if pattern.search(line):
                return advice
    return ""


def second_match_advice(command: Sequence[str]) -> str:
    """Return advice about a fault that appeared only after the process's first match."""
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
    """Return advice about a process that did not end properly after its matches, or "".

    `early` means that the process ended before the referee's goodbye. `endless` and `failed`
    describe its end after the goodbye. With none of these, it `printed` an exception and continued
    playing.
    """
    program = _program(command)
    if known := _about_limits(printed) or python_errors.advice(printed, program):
        return known
    if any(_TRACEBACK in line for line in printed):
        return python_errors.other_exception(printed) + options.all_output
    if any(map(_OWN_LINE.match, printed)):
        return ""  # the message says what to do
    wrong = endless or (failed and not early)
    if any(line.startswith("asara: ") for line in printed) and not wrong:
        return ""  # the client's own messages say what to do
    if printed and not (early or wrong):
        cut = printed[0].startswith(CUT)
        return "print less: no more of it is kept." if cut else "fix what the message reports."
    return (_LEFT if early else _ENDLESS if endless else _STATUS).format(program)


def _about_ending(
    termination: Termination, ending: str, command: Sequence[str], printed: Sequence[str]
) -> str:
    """Return advice about a process that ended without an error message."""
    program = _program(command)
    if ending == "exited with status 0":
        never = termination is Termination.NEVER_STARTED
        if program.endswith(".py"):
            bridged = shlex.join(("asara", "bridge", "--", *command))
            return (_NO_RUN if never else _ENDED_EARLY).format(program, bridged)
        return (_NO_RUN_OTHER if never else _ENDED_EARLY_OTHER).format(program)
    if not program.endswith(".py") and _NATIVE_SIGNAL.fullmatch(ending):
        return _NATIVE_CRASH.format(program)
    if _KILLED_BY.fullmatch(ending):
        return _KILLED.format(program)
    by_itself = re.fullmatch(r"exited with status (?!12[67])\d+", ending) is not None
    if not by_itself or not program.endswith(".py") or known_error(printed):
        return ""
    return (_ENDED_ITSELF if printed else _ENDED_EARLY).format(program)


def _program(command: Sequence[str]) -> str:
    """Return the file name of the program."""
    files = [word for word in command if Path(word).suffix and not _is_interpreter(word)]
    if files:
        return Path(files[0]).name
    return command[0] if len(command) == 1 else "the program"


def _is_interpreter(word: str) -> bool:
    """Return True for an interpreter such as python3.12, where ".12" is not a file extension."""
    return re.fullmatch(r"(?:.*/)?[a-z]+[\d.]+", word) is not None
