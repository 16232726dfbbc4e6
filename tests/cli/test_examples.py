"""The examples of the help pages work as written."""

import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from asara_server.cli.display.examples import EXAMPLES, GUIDES
from tests.cli.command import asara, command_line, environment, leaf_commands, refusal

ROOT = Path(__file__).parents[2]
CUP = """
title = "Cup"
seats = 2
rules = "basic"

[[entries]]
directory = "my-bot"

[[entries]]
bot = "greedy"
"""
SERVERS = {"play": "http://", "serve": "ASARA_ADDRESS", "web": "http://"}
"""Commands that go on until Ctrl-C, and what they print when they are ready."""
ANSWERS = {
    EXAMPLES["replay diff"][0][0]: {1},
    EXAMPLES["tournament run"][1][0]: {2},  # the run is complete
}
"""Exit statuses other than 0."""
OWN_PAGE = {"bridge", "sidecar"}
"""They are programs of other packages, which print pages of their own."""


def words_of(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", ""))


def test_each_help_page_has_one_to_three_examples() -> None:
    assert leaf_commands().keys() - OWN_PAGE == set(EXAMPLES)
    assert {len(examples) for examples in EXAMPLES.values()} <= {1, 2, 3}


def test_help_is_a_word_as_well() -> None:
    page = asara("help", "replay", "diff", status=0)
    assert page.stdout == asara("replay", "diff", "--help").stdout
    for command, _ in EXAMPLES["replay diff"]:
        shown = page.stdout.partition("Examples:\n")[2].partition("\n\n")[0]
        assert words_of(shown) == words_of(command)


def test_each_help_page_says_where_to_read_on() -> None:
    for command in (*EXAMPLES, *OWN_PAGE):
        page = asara(*command.split(), "--help").stdout
        assert page.endswith(f"\n\nGuide: asara help --guide {command}\n")
    for command, page in GUIDES.items():
        document, _, heading = page.partition("#")
        text = asara("help", "--guide", *command.split()).stdout
        assert text in (ROOT / document).read_text()
        assert len(text) > 300
        assert text.startswith(f"## {heading}" if heading else "# ")
    assert "did you mean 'match'?" in refusal("help", "--guide", "mtch")


@pytest.mark.long
def test_the_examples_work_as_written_in_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP)
    home = {"HOME": str(tmp_path / "home"), "BROWSER": "true"}
    variables = environment() | home | {"ASARA_SANDBOX": "none"}
    for path, examples in EXAMPLES.items():
        for command, _ in examples:
            words = words_of(command)
            assert words[0] == "asara"
            if ready := SERVERS.get(path):
                elsewhere = ["--listen", "127.0.0.1:0"]  # the usual port may be taken
                check_server([*words[1:], *elsewhere], ready, tmp_path, variables)
                continue
            done = subprocess.run(
                command_line(*words[1:]),
                cwd=tmp_path,
                env=variables,
                capture_output=True,
                text=True,
                check=False,
            )
            answered = ANSWERS.get(command, {0})
            assert done.returncode in answered, (command, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr


def check_server(words: list[str], ready: str, folder: Path, variables: dict[str, str]) -> None:
    with subprocess.Popen(
        command_line(*words),
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        printed = ""
        while ready not in printed:
            line = process.stdout.readline()
            assert line, (words, printed)
            printed += line
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() in (0, 130), (words, printed, rest)
