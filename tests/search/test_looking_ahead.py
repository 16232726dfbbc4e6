"""The bots of the page "Looking ahead" play as printed."""

from collections.abc import Callable

import pytest

import asara
from bots.random.main import decide as at_random
from tests.bots.in_process import finished_match
from tests.docs.documents import blocks
from tests.game.table import rules

PAGE = "clients/python/looking-ahead.md"
PROGRAMS = [block.content for block in blocks(PAGE, "python")]


def decide_of(program: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., asara.Answer]:
    """The function that a program passes to `asara.run`."""
    found: list[Callable[..., asara.Answer]] = []
    monkeypatch.setattr(asara, "run", found.append)
    exec(compile(program, PAGE, "exec"), {"__name__": "__main__"})
    (decide,) = found
    return decide


def monte_carlo() -> str:
    (program,) = (program for program in PROGRAMS if "PLAYOUTS" in program)
    return program


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_bots_of_the_page_play_a_match(number, monkeypatch):
    monkeypatch.setattr(asara.Match, "limits", asara.Limits(actions_per_reply=20))
    program = PROGRAMS[number].replace("PLAYOUTS = 100", "PLAYOUTS = 1")
    decide = decide_of(program.replace("WORLDS = 8", "WORLDS = 1"), monkeypatch)
    finished_match(rules("basic", 2), [decide, at_random], "page", bytes(32))


def test_the_monte_carlo_bot_has_about_thirty_lines():
    lines = [line for line in monte_carlo().splitlines() if line]
    assert len(lines) <= 30


@pytest.mark.long
def test_the_monte_carlo_bot_beats_a_random_one(monkeypatch):
    decide = decide_of(monte_carlo(), monkeypatch)
    won = 0
    for number in range(4):
        secret = bytes([number]) * 32
        for seat in (0, 1):
            bots = [decide, at_random] if seat == 0 else [at_random, decide]
            results = finished_match(rules("basic", 2), bots, "page", secret).results
            won += results[seat].prestige > results[1 - seat].prestige
    assert won >= 7
