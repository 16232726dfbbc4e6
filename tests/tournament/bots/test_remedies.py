"""Advice to authors of bots, from outputs of real interpreters."""

import shlex
import sys
from collections.abc import Sequence

import pytest

from asara_codec.results import Termination
from asara_server.tournament.bots.output.error_output import clean_lines, error_lines
from asara_server.tournament.bots.output.remedies import remedy
from asara_server.tournament.standings.match_result import with_output
from tests.tournament.tables import pairs_of

LIBRARY = "/usr/lib/python3.11"
CLIENT = "/home/ann/asara/clients/python/asara"
BOT = ("python", "my_bot.py")


def advice(output: str, status: int = 1, command: Sequence[str] = BOT) -> str:
    lines = error_lines(clean_lines(output.encode()))
    detail = with_output(f"exited with status {status}", lines)
    return remedy(Termination.NEVER_STARTED, detail, command)


def trace(error: str, *frames: str) -> str:
    """Return a traceback; frames are `FILE:LINE` or `FILE:LINE FUNCTION`."""
    lines = ["Traceback (most recent call last):"]
    for frame in frames:
        place, _, function = frame.partition(" ")
        file, _, number = place.rpartition(":")
        lines += [f'  File "{file}", line {number}, in {function or "<module>"}', "    code()"]
    return "\n".join([*lines, error])


def test_the_last_line_of_the_author_is_named_not_that_of_a_library() -> None:
    error = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    shown = trace(error, "/bots/my_bot.py:9", "/bots/tools.py:3 load", f"{LIBRARY}/json.py:337 x")
    assert advice(shown).startswith("fix tools.py, line 3. ")


def test_a_long_traceback_keeps_the_last_frame_of_the_author() -> None:
    inner = [f"{LIBRARY}/urllib/request.py:{number} open" for number in range(100, 107)]
    lines = trace("URLError: <error>", "/bots/a.py:1", "/bots/my_bot.py:2 decide", *inner)
    assert error_lines(lines.splitlines()) == [
        "Traceback (most recent call last):",
        "  … 2 more lines",
        '  File "/bots/my_bot.py", line 2, in decide',
        "    code()",
        "  … 6 more lines",
        *lines.splitlines()[-9:],
    ]


ERRORS = """
urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>
    in the sandbox a bot has no network
socket.gaierror: [Errno -2] Name or service not known
    in the sandbox a bot has no network
ConnectionRefusedError: [Errno 111] Connection refused
    in the sandbox a bot has no network
OSError: [Errno 97] Address family not supported by protocol
    in the sandbox a bot has no network
OSError: [Errno 101] Network is unreachable
    in the sandbox a bot has no network
NameError: name 'asara' is not defined
    add the line `import asara` at the top of my_
AttributeError: module 'asara' has no attribute 'start'
    fix my_bot.py, line 2: did you mean asara.run(decide)?
AttributeError: module 'asara' has no attribute 'Acton'. Did you mean: 'Action'?
    fix my_bot.py, line 2: did you mean asara.Action?
AttributeError: 'Mine' object has no attribute 'match'
    self.match is set after __init__: move what needs it to a method `def started(self):`
AttributeError: module 'random' has no attribute 'choise'
    fix my_bot.py, line 2.
FileNotFoundError: [Errno 2] No such file or directory: 'weights.txt'
    check the name 'weights.txt' in my_bot.py, line 2. A relative name is looked up in
FileNotFoundError: [Errno 2] No such file or directory: '/data/weights.txt'
    check the path in my_bot.py, line 2: /data/weights.txt does not exist.
ModuleNotFoundError: No module named 'asara'
    start the bot with `python`
ImportError: attempted relative import with no known parent package
    fix my_bot.py, line 2: a program is no package, so import a file next to it with
ImportError: cannot import name 'Acton' from 'asara' (/site-packages/asara/a.py)
    fix my_bot.py, line 2: the package asara has no Acton; did you mean Action?
ImportError: cannot import name 'x' from 'random' (/usr/lib/python3.11/random.py)
    fix my_bot.py, line 2
SyntaxError: Non-UTF-8 code starting with '\\xfc' in file /bots/my_bot.py on line 3
    save my_bot.py in the encoding UTF-8.
KeyError: 'year'
    fix my_bot.py, line 2.
subprocess.CalledProcessError: Command '['python', '-m', 'pip', 'install', 'six']'
    fix my_bot.py, line 2: in the sandbox a bot has no network and installs nothing.
"""
"""The last line of a traceback from line 2 of the bot, and the beginning of the advice."""


@pytest.mark.parametrize(("error", "says"), pairs_of(ERRORS))
def test_errors_of_python_have_advice(error: str, says: str) -> None:
    assert advice(trace(error.rstrip(), "/bots/my_bot.py:2 __init__")).startswith(says)


@pytest.mark.parametrize(
    ("error", "raised_in", "says"),
    [
        (
            "KeyError: 'MY_KEY'",
            f"{LIBRARY}/os.py:679 __getitem__",
            "fix my_bot.py, line 2: a bot gets none of your environment variables.",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'stockfish'",
            f"{LIBRARY}/subprocess.py:1950 _execute_child",
            "my_bot.py, line 2 starts the program 'stockfish', which is not here.",
        ),
    ],
)
def test_what_a_library_misses_is_explained(error: str, raised_in: str, says: str) -> None:
    assert advice(trace(error, "/bots/my_bot.py:2", raised_in)).startswith(says)


def test_a_missing_module_may_be_a_file_of_the_author(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    error = "ModuleNotFoundError: No module named 'tools.cards'"
    assert advice(trace(error, "/bots/my_bot.py:1")) == (
        "if tools is a file of yours, put tools.py next to my_bot.py. If it is a package, check "
        f"its name, or install it: {shlex.quote(sys.executable)} -m pip install tools"
    )


CLIENT_FRAMES = ("/bots/random.py:1", f"{CLIENT}/__init__.py:17", f"{CLIENT}/bot.py:8")


@pytest.mark.parametrize(
    ("output", "hiding"),
    [
        (
            trace(
                "ImportError: cannot import name 'Random' from 'random' (/bots/random.py)",
                "/bots/my_bot.py:1",
                *CLIENT_FRAMES[1:],
            ),
            "random",
        ),
        (
            trace(
                "AttributeError: partially initialized module 'asara' has no attribute 'run' "
                "(most likely due to a circular import)",
                *CLIENT_FRAMES,
                "/bots/random.py:4",
            ),
            "random",
        ),
        (
            trace(
                "AttributeError: partially initialized module 'asara' from '/bots/asara.py' has no "
                "attribute 'run' (most likely due to a circular import)",
                "/bots/asara.py:1",
                "/bots/asara.py:4",
            ),
            "asara",
        ),
        (trace("AttributeError: module 'asara' has no attribute 'run'", "/b/my_bot.py:4"), "asara"),
        (trace("AttributeError: module 'random' has no attribute 'choice'", "/b/c.py:4"), "random"),
        (
            trace(
                "ModuleNotFoundError: No module named 'types.x'; 'types' is not a package",
                "/b/my_bot.py:4",
            ),
            "types",
        ),
        (
            trace("ValueError: no", "/b/my_bot.py:1", f"{LIBRARY}/json.py:2", "/b/enum.py:7"),
            "enum",
        ),
    ],
)
def test_a_file_that_hides_a_module_is_to_be_renamed(output: str, hiding: str) -> None:
    assert advice(output) == f"rename your {hiding}.py, which hides the module {hiding}."


def test_other_files_are_not_accused_of_hiding_a_module() -> None:
    assert advice(trace("ValueError: no", "/b/my_bot.py:4", "/b/code.py:4")).startswith("fix ")


def test_a_group_of_exceptions_names_the_line() -> None:
    lines = trace("ExceptionGroup: two", "/bots/my_bot.py:2 decide").splitlines()
    first, *rest = lines
    output = "\n".join([f"  + Exception Group {first}", *(f"  | {line}" for line in rest)])
    assert advice(output).startswith("fix my_bot.py, line 2.")


BRIDGED = "asara: python bot.py: decision 1 of m1: it exited with status 1"
NODE = "/bots/bot.js:2\nx.foo.bar();\n      ^\n\nTypeError: no bar\n\nNode.js v20.20.2"
NODE_MODULE = (
    "node:internal/modules/cjs/loader:1210\n  throw err;\nError: Cannot find module 'left'"
)
RUST = """thread 'main' (71) panicked at {}:7:28:
index out of bounds: the len is 2 but the index is 9
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
in r1-basic-0001, decision 1 (space)
"""
JAVA = """Exception in thread "main" java.lang.IndexOutOfBoundsException: Index 99
\tat java.base/java.util.Objects.checkIndex(Objects.java:361)
\tat Main.decide(Main.java:16)
in r1-basic-0001, decision 1 (space) at Main.decide(Main.java:16)"""
ARGPARSE = "usage: my_bot.py [-h]\nmy_bot.py: error: unrecognized arguments: --depht"
NO_INTERPRETER = "/bots/my_bot.py: 1: import: not found\n/bots/my_bot.py: 3: Syntax error"


@pytest.mark.parametrize(
    ("command", "status", "output", "says"),
    [
        (
            "asara bridge -- python bot.py",
            1,
            trace("KeyError: 'a'", "/b/bot.py:4") + f"\n{BRIDGED}",
            "fix bot.py, line 4.",
        ),
        ("./my_bot.py", 2, NO_INTERPRETER, "the first line of my_bot.py names no"),
        ("node bot.js", 1, NODE, "fix bot.js:2."),
        ("node bot.js", 1, NODE_MODULE, "if left is a file of yours,"),
        ("./my-bot", 1, RUST.format("src/main.rs"), "fix src/main.rs:7. "),
        ("./my-bot", 1, RUST.format("/home/ann/crates/h2/src/lib.rs"), ""),
        ("java -cp classes:lib/* Main", 1, JAVA, "fix Main.java:16. To see "),
        (
            "python my_bot.py",
            1,
            "stop here",
            "my_bot.py ended itself after these lines, as sys.exit()",
        ),
        ("python my_bot.py", 127, "not found", ""),
        ("./bot", 1, "cannot load", ""),
        (
            "python my_bot.py --depht 2",
            2,
            ARGPARSE,
            "fix the options in its command, `python my_bot.py --depht 2`.",
        ),
        (
            "python my_bot.py -h",
            0,
            "usage: my_bot.py [-h]",
            "remove -h from its command to play. -v shows ",
        ),
        (
            "python my_bot.py --help",
            0,
            "usage: my_bot.py [-h]",
            "remove --help from its command to play.",
        ),
        (
            "python3.12 my_bot.py",
            127,
            "sh: 3: exec: python3.12: not found",
            "start the bot with another program: the sandbox has no python3.12. ",
        ),
        (
            "perl 'my bot.pl'",
            0,
            "",
            (
                "my bot.pl ended without playing. If it reads and prints lines, start it as "
                "`asara bridge -- perl 'my bot.pl'`"
            ),
        ),
        ("python my_bot.py", 1, "asara: no referee at unix:/x for 30 s: Connection refused", ""),
    ],
)
def test_programs_of_all_kinds_have_advice(
    command: str, status: int, output: str, says: str
) -> None:
    found = advice(output, status, shlex.split(command))
    assert found.startswith(says)
    assert bool(found) == bool(says)


@pytest.mark.parametrize(
    ("command", "ending", "says"),
    [
        (
            "python my_bot.py",
            "exited with status 1",
            "my_bot.py ended in the middle of the match. Remove sys.exit(), os._exit()",
        ),
        (
            "python my_bot.py",
            "killed by SIGTERM",
            "my_bot.py was killed by a signal. Look for os.kill()",
        ),
        ("python my_bot.py", "killed by SIGSEGV", "code that is not Python crashed"),
        ("python my_bot.py", "could not be ended; it printed nothing", ""),
        ("build/bot", "killed by SIGSEGV", "build/bot was ended by an error of native code"),
        ("build/bot", "exited with status 3", ""),
        (
            "java -cp lib/* Main",
            "exited with status 0",
            "the program ended in the middle of the match. Remove the call that ends it, such as",
        ),
        ("", "", ""),
    ],
)
def test_programs_that_end_without_a_word_have_advice(command: str, ending: str, says: str) -> None:
    found = remedy(Termination.CRASH, ending, shlex.split(command))
    assert found.startswith(says)
    assert bool(found) == bool(says)


def test_a_program_that_plays_nothing_is_told_of_the_bridge() -> None:
    assert advice("", 0).endswith("`asara bridge -- python my_bot.py`.")


def test_what_already_says_what_to_do_needs_no_other_advice() -> None:
    error = "ModuleNotFoundError: No module named 'tools'"
    detail = with_output("exited with status 1", [error, "the sandbox hid tools.py: it is …"])
    assert remedy(Termination.NEVER_STARTED, detail, BOT) == ""
    line = "asara: perl a.pl: decision 1 of r1: no answer yet; does it flush? begin with $| = 1;"
    detail = with_output("did not reply to decision 1 within the 4.5 s it had", [line])
    command = ("asara", "bridge", "--", "perl", "a.pl")
    assert remedy(Termination.TIME_OUT, detail, command) == ""
