"""Help pages: what they load, list and show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import asara_server.cli.commands
from asara_server.cli.lazy_group import GROUPS
from tests.cli.command import all_commands, asara, environment, refusal
from tests.events import EVENT_S

HEAVY = "cryptography distributed google grpc numpy pydantic rich scipy structlog"


HELP_LINES = {name: line for group in GROUPS.values() for name, line in group.items()}
COMMANDS = all_commands()


def loaded(*words: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "asara_server.cli", *words],
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        env=environment(),
        check=False,
    )
    return set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("words", ["", "--help", "-v --version"])
def test_the_root_loads_no_command_and_no_large_package(words: str) -> None:
    found = loaded(*words.split())
    assert "asara_server.cli.app" in found
    assert not [name for name in found if name.startswith("asara_server.cli.commands")]
    assert not found & set(HEAVY.split())


@pytest.mark.long
@pytest.mark.parametrize("command", ["match", "tournament run", "report", "status"])
def test_help_of_a_command_loads_neither_plots_nor_clusters_nor_statistics(command: str) -> None:
    found = loaded(*command.split(), "--help")
    assert "asara_server.cli.app" in found
    assert not found & {"distributed", "prometheus_client", "scipy"}


def test_every_command_is_listed_with_the_first_line_of_its_help() -> None:
    folder = Path(asara_server.cli.commands.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(HELP_LINES)
    listed = asara("--help").stdout.partition("Your bot:\n")[2].partition("\nOptions:\n")[0]
    assert re.findall(r"^  (\w+) +(.+)$", listed, re.MULTILINE) == list(HELP_LINES.items())
    assert re.findall(r"^(\w.+):$", listed, re.MULTILINE) == list(GROUPS)[1:]
    for name, line in HELP_LINES.items():
        assert COMMANDS[name].help.partition("\n")[0] == line


@pytest.mark.parametrize("words", ["", *COMMANDS])
def test_help_fits_a_terminal_and_shows_no_python(words: str) -> None:
    text = asara(*words.split(), "--help").stdout
    assert text.startswith(f"Usage: asara {words}".rstrip())
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"[a-z]\.\.\.$", text, re.MULTILINE), "a line is cut"
    assert not re.search(r"<(str|int|float|path|list)|[<>]=|{\w*}|\xa0| default: None", text)


def test_defaults_are_shown_in_the_form_in_which_they_are_typed() -> None:
    text = " ".join(asara("match", "--help").stdout.split())
    for note in (
        "[default: basic]",
        "[default: 60+0.5]",
        "[default: different deals each time]",
        "[default: bubblewrap; env: ASARA_SANDBOX]",
    ):
        assert note in text
    text = " ".join(asara("tournament", "run", "--help").stdout.split())
    assert "the folder of the run to continue. [required]" in text


@pytest.mark.parametrize(
    ("words", "said", "page"),
    [
        ("tournamnt", "unknown command 'tournamnt'; did you mean 'tournament'?", ""),
        ("nonsense", "unknown command 'nonsense'", ""),
        ("token revok", "unknown command 'revok'; did you mean 'revoke'?", "token"),
        ("match a b --sed 1", "unknown option --sed; did you mean --seed?", "match"),
        ("match a b --mirror", "unknown option --mirror; did you mean --mirrored?", "match"),
        ("web --port 8091", "unknown option --port; did you mean --listen HOST:PORT?", "web"),
        ("status run --leaks", "unknown option --leaks", "status"),
        ("match a b --jobs", "--jobs needs a value", "match"),
        ("duel random", "argument B is missing", "duel"),
        ("tournament run cup.toml", "--out is missing", "tournament run"),
        ("rules now", "unexpected: now", "rules"),
        ("match a b -j 0", "--jobs: use at least 1", "match"),
        ("match a b --matches two", "--matches: must be a whole number", "match"),
        (
            "match a b --clock soon",
            "--clock: 'soon' is not a time; give a number of seconds, such as 60 or 60+0.5",
            "match",
        ),
        ("match a b --sandbox non", "--sandbox: 'non' is not one of 'bubblewrap', 'none'", "match"),
    ],
)
def test_a_wrong_word_is_one_line_that_says_where_to_read_on(
    words: str, said: str, page: str
) -> None:
    asked = f"asara {page}".strip()
    see = " See" if said.endswith("?") else "; see"
    assert refusal(*words.split()) == f"asara: {said}{see} `{asked} --help`\n"


def test_quiet_and_verbose_may_stand_before_and_behind_the_command(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    notice = f"{file}: no token yet; create one with `asara token new NAME`\n"
    words = ("token", "list", "--file", file)
    assert asara(*words).stderr == asara(*words, "-v").stderr == notice
    assert asara("-q", *words).stderr == asara(*words, "-q").stderr == ""
