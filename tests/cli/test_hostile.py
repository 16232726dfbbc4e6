"""Files and arguments that once gave a traceback, or no end; each gives a sentence."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import asara, refusal
from tests.sizes import others_long
from tests.yardstick import at_most

LONG = "n" * 300
ENTRIES = """
[[entries]]
name = "ann"
command = "sh"
[[entries]]
name = "bob"
command = "sh"
"""


def plan(folder: Path, text: str) -> str:
    """Return the error about a tournament file with this text."""
    (folder / "cup.toml").write_text(f"seats = 2\nrules = 'basic'\n{text}")
    with at_most(100):
        error = refusal("tournament", "plan", folder / "cup.toml")
    assert len(error) < 5_000
    return error


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('directory = "loop"', "directory: 'loop' is a loop of links"),
        (f'readable = ["{LONG}"]', f"readable: '{LONG}' cannot be a path: File name too long"),
        (f'directory = "{"n/" * 3_000}"', "cannot be a path: File name too long"),
        (f'command = "./{LONG}"', "command: no "),
        (f'command = ["python", "{LONG}.py"]', "command: no "),
        (f'directory = "ann"\nbuild = "{LONG}"', "build: no "),
    ],
)
def test_a_path_that_the_system_cannot_look_for(tmp_path: Path, line: str, fault: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "ann").mkdir()
    old = 'command = "sh"'
    new = line if line.startswith("command") else f"{old}\n{line}"
    error = plan(tmp_path, ENTRIES.replace(old, new, 1))
    assert "entry 1 'ann': " in error
    assert fault in error


@pytest.mark.parametrize("word", ['["sh", "\\u0000"]', f'"sh {"x" * 200_000}"'])
def test_a_command_that_no_process_could_receive(tmp_path: Path, word: str) -> None:
    error = plan(tmp_path, ENTRIES.replace('command = "sh"', f"command = {word}", 1))
    assert "entry 1 'ann': command: " in error
    assert "zero byte" in error or "more than 100,000 characters" in error


@pytest.mark.parametrize(
    ("text", "fault"),
    others_long(
        [
            ("a = " + "[" * 100_000, "nested too deeply"),
            ("a = " + "{a=" * 80_000, "nested too deeply"),
            (".".join("a" * 60_000) + " = 1", "more than 32 dots in line 3"),
            ('"."'.join("a" * 60_000), "more than 32 dots in line 3"),
            ("a = " + "1" * 100_000, "a number or a date out of range"),
            ("".join(f"a{n}{'.a' * 30} = 1\n" for n in range(3_500)), "unknown setting"),
            ("seed = 0x" + "f" * 100_000, "an integer of more than 512 bits"),
            ("rounds = " + "9" * 4_000, "an integer of more than 512 bits"),
            ("a = 2024-13-45", "cup.toml: is not valid TOML"),
            ("a = '" + "x" * 300_000 + "'", "is larger than 262,144 bytes"),
            ("[[entries]]\n" * 15_000, "more faults"),
            ("a = '\udcff'".encode("utf-8", "surrogateescape").decode("latin-1"), "is missing"),
        ],
        4,
    ),
    ids=range(12),
)
def test_a_text_that_is_hard_to_read(tmp_path: Path, text: str, fault: str) -> None:
    assert fault in plan(tmp_path, text)


def make_hole(path: Path) -> None:
    path.touch()
    os.truncate(path, 10 << 30)


ODD: dict[str, Callable[[Path], object]] = {
    "is a device or a pipe": os.mkfifo,
    "Too many levels of symbolic links": lambda path: path.symlink_to(path),
    "is larger than 262,144 bytes": make_hole,
}


@pytest.mark.parametrize("fault", ODD)
def test_something_else_than_a_tournament_file(tmp_path: Path, fault: str) -> None:
    ODD[fault](tmp_path / "cup.toml")
    assert fault in refusal("tournament", "plan", tmp_path / "cup.toml")


DEVICES = ("/dev/zero", "/dev/null", "/proc/self/mem", "/proc/self/maps")
READERS = (
    *("tournament plan {}", "replay show {}", "audit {}", "status {}", "report {}"),
    *("token list --file {}", "token new x --file {}", "audit . --public-key {}"),
)
OTHERS = (
    *("match random random --out {}", "duel random random --out {}", "match {} random"),
    *("report . --out {}", "replay diff {} {}", "duel random random --json {}/x"),
)


@pytest.mark.parametrize("command", [*READERS, *OTHERS])
def test_devices_files_of_the_kernel_and_names_that_are_too_long(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "a.asara").touch()
    for path in (*DEVICES, LONG) if command in READERS else (LONG,):
        done = asara(*command.replace("{}", path).split(), cwd=tmp_path)
        assert done.returncode in (1, 2)
        errors = [line for line in done.stderr.splitlines() if line.startswith("asara: ")]
        assert len(errors) == 1 or "1 failed" in done.stdout
        assert [file.name for file in tmp_path.iterdir()] == ["a.asara"]
