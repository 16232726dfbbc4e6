"""The transcripts in this folder are what the engine plays; `regenerate.py` writes them."""

from pathlib import Path
from typing import get_args

import pytest

from asara_game.events import Event
from asara_game.vocabulary import DecisionKind
from tests.golden.transcript import SCRIPTS, lines

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_transcript(script):
    """After an intended change, run `python -m tests.golden.regenerate` and review the diff."""
    expected = (FOLDER / f"{script.name}.txt").read_text().splitlines()
    for number, (line, wanted) in enumerate(zip(lines(script), expected, strict=True), 1):
        assert line == wanted, f"{script.name}.txt, line {number}"


def test_no_transcript_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.txt")} == {script.name for script in SCRIPTS}


def test_the_transcripts_show_every_kind_of_decision_and_event():
    found = "".join((FOLDER / f"{script.name}.txt").read_text() for script in SCRIPTS)
    words = set(found.split())
    assert {kind.name for kind in DecisionKind} <= words
    assert {kind.__name__ for kind in get_args(Event)} <= words
