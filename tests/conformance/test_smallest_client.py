"""The client that the page of the protocol shows is complete."""

import sys

import pytest

from tests.cli.command import asara
from tests.docs.documents import blocks

ONE_CASE = ("--case", "whole-match")


@pytest.mark.parametrize("chosen", [ONE_CASE, pytest.param((), marks=pytest.mark.long, id="all")])
def test_the_client_on_the_page_of_the_protocol_passes(tmp_path, chosen):
    (program,) = blocks("proto/README.md", "python")
    file = tmp_path / "smallest.py"
    file.write_text(program.content)
    done = asara("conformance", *chosen, "--", sys.executable, str(file))
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_an_update_waits_for_the_end_of_the_turn_whatever_the_client_plays(tmp_path):
    """Its first actions do not end the turn within the decisions that the case plays."""
    (program,) = blocks("proto/README.md", "python")
    file = tmp_path / "smallest.py"
    file.write_text(program.content)
    case = ("--level", "client", "--case", "update-not-asked-for")
    done = asara("conformance", *case, "--", sys.executable, str(file))
    assert "FAIL  update-not-asked-for" in done.stdout  # because it does not reconnect
