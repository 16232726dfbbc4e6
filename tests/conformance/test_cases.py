"""The cases: data that is complete, and a client that passes all of them."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from asara_server.conformance.case import Case, Level
from asara_server.conformance.catalogue import all_cases, known_failing, selected
from asara_server.conformance.played_match import random_index
from asara_server.conformance.runner import play_case, play_cases
from asara_server.conformance.verdict import CaseResult, Verdict
from asara_server.tournament.config.tournament_file import Entry
from tests.conformance.breakages import BREAKAGES
from tests.docs.documents import code_words, read
from tests.events import until
from tests.sizes import others_long
from tests.tournament.processes import running_processes

ROOT = Path(__file__).resolve().parents[2]
CASES = all_cases()
BY_NAME = {case.name: case for case in CASES}


def python(*words: str) -> Entry:
    """Return the bot that Python runs with these arguments."""
    table = {"name": "bot", "command": [sys.executable, *words], "directory": str(ROOT)}
    return Entry.model_validate(table, context={"base": ROOT})


RANDOM_BOT = python("bots/random/main.py")


def broken_client(case: str) -> Entry:
    return python("tests/conformance/broken_client.py", case)


def failures(bot: Entry, cases: list[Case]) -> dict[str, str]:
    """Play cases side by side; return what was seen in those that failed, by name."""

    async def play() -> list[CaseResult]:
        return [result async for result in play_cases(cases, bot, 16)]

    results = asyncio.run(play())
    return {
        result.case.name: f"expected {result.expected}; seen {result.seen}\n{result.printed}"
        for result in results
        if result.verdict is Verdict.FAILED
    }


def test_every_case_has_a_broken_client():
    assert set(BY_NAME) == set(BREAKAGES)


@pytest.mark.parametrize("level", Level)
def test_the_page_of_the_level_demands_every_case(level):
    page = " ".join(read(level.page).split())
    assert [c.name for c in CASES if c.level is level and c.says not in page] == []


def test_every_demanded_text_stands_on_the_page_of_the_clients():
    page = read(Level.KIT.page)
    own = {"first", "nowhere", "soon", "m1", "authority.pem"}  # values and names that a case sets
    messages = [
        re.sub("ADDRESS|REASON|DETAIL|MATCH|SEAT|SECONDS", "\0", m) for m in code_words(page)
    ]
    for case in CASES:
        for text in (*case.expect.stderr, *case.expect.not_stderr):
            assert text in own or text in page or any(map(ends_with(text), messages)), text


def ends_with(text: str) -> Callable[[str], bool]:
    """Return whether words at the end of a message, with any values in it, are this text."""

    def fits(message: str) -> bool:
        words = re.escape(message).replace("\0", ".+").split("\\ ")
        return any(re.fullmatch("\\ ".join(words[i:]), text) for i in range(len(words)))

    return fits


def test_only_cases_that_say_so_need_the_published_rule():
    said = [case for case in CASES if case.proves.startswith("By the published rule, ")]
    assert said == [case for case in CASES if case.by_rule]
    assert {case.level for case in said} == {Level.KIT}
    assert not any(case.expect.stderr for case in CASES if case.level is Level.PROTOCOL)


@pytest.mark.long
def test_every_second_case_of_the_protocol_is_passed_with_any_legal_actions(tmp_path):
    (tmp_path / "main.py").write_text(ANY_ACTIONS)
    bot = python(str(tmp_path / "main.py"))
    assert failures(bot, [case for case in CASES if case.level is Level.PROTOCOL][::2]) == {}


ANY_ACTIONS = """
import random

import asara

def decide(decision, match):
    last = decision.legal_actions[-1]
    return [last, *random.Random(decision.decision_id).sample(list(decision.legal_actions), 2)]

asara.run(decide)
"""
"""Answers with several actions at once, of which the first alone needs to be legal."""


def test_the_python_client_passes_every_tenth_case():
    """`scripts/test --languages` plays all of them, of all levels."""
    assert failures(RANDOM_BOT, [case for case in CASES if not case.waits][::10]) == {}


@pytest.mark.parametrize(
    "name", others_long(["published-rule", "pauses-grow", "stale-rejection", "digest"], 2)
)
async def test_a_broken_client_fails_its_case(name):
    result = await play_case(BY_NAME[name], broken_client(name))
    assert result.verdict is Verdict.FAILED, result.seen


def test_the_rule_of_random_programs_is_the_published_one():
    vectors = json.loads((ROOT / "tests/vectors/random_action.json").read_text("utf-8"))
    for one in vectors["choices"]:
        arguments = one["seed"], one["match_id"], one["seat"], one["decision_id"], one["count"]
        assert random_index(*arguments) == one["index"]


# Programs that misbehave


def bare_case(**given: object) -> Case:
    fields = {"name": "bare", "level": "protocol", "proves": "It ends.", "says": "End."}
    return Case.model_validate(fields | given)


async def play(script: str, case: Case) -> CaseResult:
    return await play_case(case, python("-c", script))


async def test_a_program_that_ignores_signals_is_killed_with_its_children(tmp_path):
    pid = tmp_path / "pid"
    script = f"""
import pathlib, signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path({str(pid)!r}).write_text(str(child.pid))
signal.pause()
"""
    result = await play(script, bare_case(limit_s=2))
    assert (result.expected, result.seen) == ("an end within 2 s", "the program was still running")
    await until(lambda: int(pid.read_text()) not in running_processes())


async def test_what_a_program_leaves_running_does_not_delay_its_end():
    script = "import subprocess; subprocess.Popen(['sleep', '600'])"
    result = await play(script, bare_case())
    assert result.verdict is Verdict.PASSED


# Selection


def test_a_level_selects_cases():
    assert {case.level for case in selected(CASES, [])} == {Level.PROTOCOL}
    client = {case.level for case in selected(CASES, [], Level.CLIENT)}
    assert client == {Level.PROTOCOL, Level.CLIENT}
    assert selected(CASES, [], Level.KIT) == CASES
    assert [case.name for case in selected(CASES, ["tls-another-name"])] == ["tls-another-name"]
    assert selected(CASES, ["tls-another-name"], Level.PROTOCOL) == []


def test_patterns_select_cases():
    names = [case.name for case in selected(CASES, ["dial-again-*", "tls"])]
    assert "tls" in names
    assert "dial-again-cancelled" in names
    assert len(names) == 7


def test_a_list_of_known_failures_has_names_and_comments():
    text = "# none of ours\n\ntls  # not yet\nwhole-match\n"
    assert known_failing(text, CASES) == {"tls", "whole-match"}


@pytest.mark.parametrize(
    "step", [{"ask": "m1", "wiht": []}, {"sing": "m1"}, {}, {"silence": "long"}]
)
def test_a_malformed_step_is_refused(step):
    with pytest.raises(ValidationError):
        bare_case(streams=[[step]])
