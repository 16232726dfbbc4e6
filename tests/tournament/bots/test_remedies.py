"""Advice to authors of bots, from outputs of real interpreters."""

import shlex
import sys
from collections.abc import Sequence

import pytest

from asara_codec.results import Termination
from asara_server.tournament.bots.output.error_output import clean_lines, error_lines
from asara_server.tournament.bots.output.remedies import remedy
from asara_server.tournament.standings.match_result import with_output

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


@pytest.mark.parametrize(
    "error",
    [
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "socket.gaierror: [Errno -2] Name or service not known",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "OSError: [Errno 97] Address family not supported by protocol",
        "OSError: [Errno 101] Network is unreachable",
    ],
)
def test_bots_have_no_network(error: str) -> None:
    assert "a bot has no network" in advice(trace(error, "/bots/my_bot.py:2"))


def test_the_loss_of_the_referee_is_not_taken_for_a_missing_network() -> None:
    assert advice("asara: no referee at unix:/x for 30 s: Connection refused") == ""


def test_a_missing_module_may_be_a_file_of_the_author(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my env/bin/python")
    error = "ModuleNotFoundError: No module named 'tools.cards'"
    assert advice(trace(error, "/bots/my_bot.py:1")) == (
        "if tools is a file of yours, put tools.py next to my_bot.py. If it is a package, check "
        f"its name, or install it: {shlex.quote(sys.executable)} -m pip install tools"
    )


def test_what_the_sandbox_hid_needs_no_other_advice() -> None:
    error = "ModuleNotFoundError: No module named 'tools'"
    detail = with_output("exited with status 1", [error, "the sandbox hid tools.py: it is …"])
    assert remedy(Termination.NEVER_STARTED, detail, BOT) == ""


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


@pytest.mark.parametrize(
    "output",
    [
        trace("AttributeError: module 'random' has no attribute 'choise'", "/b/my_bot.py:4"),
        trace("ValueError: no", "/b/my_bot.py:4", "/b/code.py:4"),
        trace(
            f"ImportError: cannot import name 'x' from 'random' ({LIBRARY}/random.py)",
            "/b/my_bot.py:4",
        ),
    ],
)
def test_other_errors_do_not_accuse_a_file_of_hiding_a_module(output: str) -> None:
    assert advice(output).startswith("fix ")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("NameError: name 'asara' is not defined", "add the line `import asara` at the top of my_"),
        (
            "AttributeError: module 'asara' has no attribute 'start'",
            "fix my_bot.py, line 2: did you mean asara.run(decide)?",
        ),
        (
            "AttributeError: module 'asara' has no attribute 'Acton'. Did you mean: 'Action'?",
            "fix my_bot.py, line 2: did you mean asara.Action?",
        ),
        (
            "AttributeError: 'Mine' object has no attribute 'match'",
            "self.match is set after __init__: move what needs it to a method `def started(self):`",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'weights.txt'",
            "check the name 'weights.txt' in my_bot.py, line 2. A relative name is looked up in",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/data/weights.txt'",
            "check the path in my_bot.py, line 2: /data/weights.txt does not exist.",
        ),
        ("ModuleNotFoundError: No module named 'asara'", "start the bot with `python`"),
        (
            "ImportError: attempted relative import with no known parent package",
            "fix my_bot.py, line 2: a program is no package, so import a file next to it with",
        ),
        (
            "ImportError: cannot import name 'Acton' from 'asara' (/site-packages/asara/a.py)",
            "fix my_bot.py, line 2: the package asara has no Acton; did you mean Action?",
        ),
        (
            "SyntaxError: Non-UTF-8 code starting with '\\xfc' in file /bots/my_bot.py on line 3",
            "save my_bot.py in the encoding UTF-8.",
        ),
        ("KeyError: 'year'", "fix my_bot.py, line 2."),
        (
            "subprocess.CalledProcessError: Command '['python', '-m', 'pip', 'install', 'six']'",
            "fix my_bot.py, line 2: in the sandbox a bot has no network and installs nothing.",
        ),
    ],
)
def test_frequent_errors_have_advice_of_their_own(error: str, says: str) -> None:
    assert advice(trace(error, "/bots/my_bot.py:2 __init__")).startswith(says)


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


def test_a_group_of_exceptions_names_the_line() -> None:
    lines = trace("ExceptionGroup: two", "/bots/my_bot.py:2 decide").splitlines()
    first, *rest = lines
    output = "\n".join([f"  + Exception Group {first}", *(f"  | {line}" for line in rest)])
    assert advice(output).startswith("fix my_bot.py, line 2.")


def test_an_exception_of_a_program_behind_the_bridge_names_the_line() -> None:
    ended = "asara: python bot.py: decision 1 of m1: it exited with status 1"
    output = trace("KeyError: 'kind'", "/bots/bot.py:4") + f"\n{ended}"
    assert advice(output, command=("asara", "bridge", "--", "python", "bot.py")).startswith(
        "fix bot.py, line 4."
    )


def test_a_program_in_python_without_a_first_line_is_told_so() -> None:
    output = "/bots/my_bot.py: 1: import: not found\n/bots/my_bot.py: 3: Syntax error"
    assert advice(output, 2, ("./my_bot.py",)).startswith("the first line of my_bot.py names no")


def test_a_program_that_ends_itself_without_a_word_is_named() -> None:
    assert "os._exit()" in remedy(Termination.CRASH, "exited with status 1", BOT)
    assert "os.kill()" in remedy(Termination.CRASH, "killed by SIGTERM", BOT)


def test_exceptions_of_node_name_the_line_or_the_missing_module() -> None:
    output = "/bots/bot.js:2\nx.foo.bar();\n      ^\n\nTypeError: no bar\n\nNode.js v20.20.2"
    assert advice(output, command=("node", "bot.js")).startswith("fix bot.js:2.")
    output = "node:internal/modules/cjs/loader:1210\n  throw err;\nError: Cannot find module 'left'"
    assert advice(output, command=("node", "bot.js")).startswith("if left is a file of yours,")


def test_a_program_that_ends_itself_with_a_text_is_named() -> None:
    assert advice("stop here").startswith("my_bot.py ended itself after these lines, as sys.exit()")
    assert advice("cannot load", command=("./bot",)) == ""
    assert advice("not found", status=127) == ""


def test_options_that_a_program_refuses_are_named() -> None:
    output = "usage: my_bot.py [-h]\nmy_bot.py: error: unrecognized arguments: --depht"
    command = ("python", "my_bot.py", "--depht", "2")
    assert advice(output, 2, command) == (
        "fix the options in its command, `python my_bot.py --depht 2`."
    )


def test_a_program_that_the_sandbox_does_not_have_is_named() -> None:
    output = "sh: 3: exec: python3.12: not found"
    assert "the sandbox has no python3.12. " in advice(output, 127, ("python3.12", "my_bot.py"))


def test_a_panic_in_rust_names_the_line_of_the_author() -> None:
    shown = (
        "thread 'main' (71) panicked at src/main.rs:7:28:\n"
        "index out of bounds: the len is 2 but the index is 9\n"
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
        "in r1-basic-0001, decision 1 (space)\n"
    )
    assert advice(shown, command=["./my-bot"]).startswith("fix src/main.rs:7. ")


def test_a_panic_in_a_crate_is_not_for_the_author_to_correct() -> None:
    shown = "thread 'main' (71) panicked at /home/ann/crates/h2/src/lib.rs:7:28:\nmessage\n"
    assert advice(shown, command=["./my-bot"]) == ""


@pytest.mark.parametrize(
    ("command", "ending", "expected"),
    [
        (["build/bot"], "killed by SIGSEGV", "build/bot was ended by an error of native code"),
        (["build/bot"], "exited with status 3", ""),
        (BOT, "killed by SIGSEGV", "code that is not Python crashed"),
    ],
)
def test_a_crash_of_native_code_is_explained(
    command: Sequence[str], ending: str, expected: str
) -> None:
    found = remedy(Termination.CRASH, ending, command)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_an_exception_in_java_names_the_line() -> None:
    output = """Exception in thread "main" java.lang.IndexOutOfBoundsException: Index 99
\tat java.base/java.util.Objects.checkIndex(Objects.java:361)
\tat Main.decide(Main.java:16)
in r1-basic-0001, decision 1 (space) at Main.decide(Main.java:16)"""
    found = advice(output, 1, ("java", "-cp", "classes:lib/*", "Main"))
    assert found.startswith("fix Main.java:16. To see ")


def test_a_program_in_another_language_that_ends_early_is_told_so_without_python() -> None:
    found = remedy(Termination.CRASH, "exited with status 0", ("java", "-cp", "lib/*", "Main"))
    assert found.startswith("the program ended in the middle of the match. ")
    assert "sys.exit" not in found


def test_a_program_of_lines_that_was_started_without_the_bridge_is_told_so() -> None:
    found = advice("", 0, ("perl", "my bot.pl"))
    assert found.startswith("my bot.pl ended without playing. ")
    assert "start it as `asara bridge -- perl 'my bot.pl'`" in found
    assert advice("", 0, ("python", "my_bot.py")).endswith("`asara bridge -- python my_bot.py`.")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_a_bot_that_prints_its_help_is_not_told_to_call_run(option: str) -> None:
    found = advice("usage: my_bot.py [-h]", 0, ("python", "my_bot.py", option))
    assert found.startswith(f"remove {option} from its command to play. -v shows ")
    assert "asara.run" not in found


def test_a_program_that_does_not_flush_is_not_told_to_be_quicker() -> None:
    line = "asara: perl a.pl: decision 1 of r1: no answer yet; does it flush? begin with $| = 1;"
    detail = with_output("did not reply to decision 1 within the 4.5 s it had", [line])
    command = ("asara", "bridge", "--", "perl", "a.pl")
    assert remedy(Termination.TIME_OUT, detail, command) == ""
