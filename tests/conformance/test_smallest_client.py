"""The client that the page of the protocol shows is complete."""

import sys

import pytest

from tests.cli.command import asara
from tests.docs.documents import blocks


@pytest.fixture
def smallest(tmp_path):
    """The command that runs the client on the page of the protocol."""
    (program,) = blocks("proto/README.md", "python")
    file = tmp_path / "smallest.py"
    file.write_text(program.content)
    return "--", sys.executable, str(file)


def test_the_client_on_the_page_of_the_protocol_passes(smallest):
    """It does not reconnect, as clients have to; the case reaches that whatever it plays before."""
    cases = ("--level", "client", "--case", "whole-match", "--case", "update-not-asked-for")
    printed = asara("conformance", *cases, *smallest, status=1).stdout
    assert "ok    whole-match" in printed
    assert "FAIL  update-not-asked-for" in printed


@pytest.mark.long
def test_it_passes_all_cases_of_the_protocol(smallest):
    assert " passed" in asara("conformance", *smallest, status=0).stdout
