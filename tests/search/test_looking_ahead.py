"""The bots of the pages "Looking ahead" and "Make your bot better" play as printed."""

from collections.abc import Callable

import pytest

import asara
from bots.greedy.main import decide as greedily
from bots.random.main import decide as at_random
from tests.bots.in_process import finished_match, share_of_wins
from tests.docs.documents import blocks
from tests.game.table import rules

PAGES = ("clients/python/looking-ahead.md", "clients/improving.md")
PROGRAMS = [block.content for page in PAGES for block in blocks(page, "python")]


def decide_of(program: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., asara.Answer]:
    """The function that a program passes to `asara.run`."""
    found: list[Callable[..., asara.Answer]] = []
    monkeypatch.setattr(asara, "run", found.append)
    exec(compile(program, "page", "exec"), {"__name__": "__main__"})
    (decide,) = found
    return decide


def program_with(word: str) -> str:
    (program,) = (program for program in PROGRAMS if word in program)
    return program


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_bots_of_the_pages_play_a_match(number, monkeypatch):
    monkeypatch.setattr(asara.Match, "limits", asara.Limits(actions_per_reply=20))
    program = PROGRAMS[number].replace("PLAYOUTS = 100", "PLAYOUTS = 1")
    decide = decide_of(program.replace("WORLDS = 8", "WORLDS = 1"), monkeypatch)
    finished_match(rules("basic", 2), [decide, at_random], "page", bytes(32))


def test_the_monte_carlo_bot_has_about_thirty_lines():
    lines = [line for line in program_with("PLAYOUTS").splitlines() if line]
    assert len(lines) <= 30


@pytest.mark.long
def test_playouts_to_the_end_of_the_year_beat_greedy(monkeypatch):
    program = program_with("WORLDS").replace("WORLDS = 8", "WORLDS = 4")
    decide = decide_of(program, monkeypatch)
    assert share_of_wins(decide, greedily, rules("basic", 2), 2) >= 0.75
