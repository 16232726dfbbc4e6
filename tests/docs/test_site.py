"""What the site of the documents adds to them: references, navigation, and pages of files."""

import re

import pytest

from asara.v1 import play_pb2, vocabulary_pb2
from asara_server.tournament.config.tournament_file import (
    ClockSettings,
    Entry,
    Limits,
    Remote,
    Tournament,
)
from scripts.lib.docs import commands, protocol, sources, tournament_file
from tests.cli.command import leaf_commands
from tests.cli.test_examples import OWN_PAGE
from tests.docs.documents import DOCUMENTS, ROOT, own_files

LARGEST_PICTURE = 150_000
"""Bytes of a picture in a document."""


def test_the_reference_of_commands_has_every_command_with_its_options() -> None:
    page = commands.page()
    for name in leaf_commands().keys() - OWN_PAGE:
        assert f"\n## asara {name}\n" in page
    assert "`--rules RULES`\n: Rules of the match" in page
    assert "\\[default: basic\\]" in page
    assert "Guide: [](/server/asara_server/cli/README.md#naming-a-bot)" in page


def test_the_reference_of_the_tournament_file_has_every_key() -> None:
    page = tournament_file.page()
    for model in (Tournament, ClockSettings, Limits, Remote, Entry):
        tables = {"clocks", "limits", "remote", "entries"} if model is Tournament else set()
        for key in set(model.model_fields) - tables:
            assert f"| `{key}` | " in page
    assert "| `time_bank_s` | number, more than 0 to 86,400 | 60 | Seconds on " in page
    assert '| `orders` | `"rotations"` or `"all"` | `"rotations"` | Seat orders' in page


def test_the_reference_of_the_protocol_has_every_message_with_its_comment() -> None:
    pytest.importorskip("grpc_tools")
    page = protocol.page()
    for file in (play_pb2, vocabulary_pb2):
        for name in (*file.DESCRIPTOR.message_types_by_name, *file.DESCRIPTOR.enum_types_by_name):
            assert f"\n### {name}\n" in page
    assert "| `hello` = 1 | [Hello](#hello), one of `request` | First message of a stream" in page
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= {
        heading.replace(".", "").lower()
        for heading in re.findall(r"^### (\S+)$", page, re.MULTILINE)
    }


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [*DOCUMENTS, *(f"reference/{name}.md" for name in sources.REFERENCES)]
    lines = "".join(sources.navigation(pages)).splitlines()
    listed = [line.strip("/") for line in lines if line.startswith(("/", "Start <self>"))]
    expected = [page.removesuffix(".md") for page in pages if page != "README.md"]
    assert sorted(listed) == sorted([*expected, "Start <self>"])


def test_pictures_are_small() -> None:
    pictures = own_files("*.png", "*.webp", "*.svg")
    shown = [
        p for p in pictures if not p.startswith(("clients/web/src", "server/asara_server/page"))
    ]
    assert shown
    assert [p for p in shown if (ROOT / p).stat().st_size > LARGEST_PICTURE] == []
