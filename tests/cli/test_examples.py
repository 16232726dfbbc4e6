"""The examples of the help pages work as written."""

import shlex
from pathlib import Path

import pytest

from asara_server.cli.display.examples import EXAMPLES, GUIDES
from tests.cli.command import asara, leaf_commands, refusal
from tests.docs.desk import Desk, reason

ROOT = Path(__file__).parents[2]
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
    desk = Desk(tmp_path)
    for examples in EXAMPLES.values():
        for command, _ in examples:
            if reason(command) is None:
                desk.run(command.replace("\\\n", ""))
