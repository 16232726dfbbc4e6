"""The cases: data that is complete, and a client that passes all of them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from asara_server.conformance.case import Case
from asara_server.conformance.catalogue import SelectionError, all_cases, known_failing, selected
from asara_server.conformance.random_rule import random_index
from asara_server.conformance.runner import play_case, play_cases
from asara_server.conformance.verdict import CaseResult, Verdict
from tests.conformance.breakages import BREAKAGES
from tests.docs.documents import table
from tests.events import until

ROOT = Path(__file__).resolve().parents[2]
RANDOM_BOT = (sys.executable, str(ROOT / "bots/random/main.py"))
BROKEN_CLIENT = (sys.executable, str(ROOT / "tests/conformance/broken_client.py"))
CASES = all_cases()
BY_NAME = {case.name: case for case in CASES}
README = "server/asara_server/conformance/README.md"


def failures(command: tuple[str, ...], cases: list[Case]) -> dict[str, str]:
    """Play cases side by side; return what was seen in those that failed, by name."""

    async def play() -> list[CaseResult]:
        return [result async for result in play_cases(cases, command, 16)]

    results = asyncio.run(play())
    return {
        result.case.name: f"expected {result.expected}; seen {result.seen}\n{result.printed}"
        for result in results
        if result.verdict is Verdict.FAILED
    }


def test_every_case_has_a_broken_client():
    assert set(BY_NAME) == set(BREAKAGES)
    for breakage in BREAKAGES.values():
        assert breakage.also <= set(BY_NAME)


def test_every_case_is_in_the_table_of_the_readme():
    rows = [(row[0].strip("`"), row[1]) for row in table(README, "case")]
    assert rows == [(case.name, case.proves) for case in CASES]


def test_the_python_client_passes_every_sixth_case():
    """`scripts/test --languages` plays all of them."""
    assert failures(RANDOM_BOT, [case for case in CASES if not case.waits][::6]) == {}


@pytest.mark.parametrize("name", ["published-rule", "stale-rejection", "pauses-grow", "digest"])
async def test_a_broken_client_fails_its_case(name):
    result = await play_case(BY_NAME[name], (*BROKEN_CLIENT, name))
    assert result.verdict is Verdict.FAILED, result.seen


def test_the_rule_of_random_programs_is_the_published_one():
    vectors = json.loads((ROOT / "tests/vectors/random_action.json").read_text("utf-8"))
    for one in vectors["choices"]:
        arguments = one["seed"], one["match_id"], one["seat"], one["decision_id"], one["count"]
        assert random_index(*arguments) == one["index"]


# Programs that misbehave


def bare_case(**given: object) -> Case:
    return Case.model_validate({"name": "bare", "proves": "It ends.", **given})


async def play(script: str, case: Case) -> CaseResult:
    return await play_case(case, (sys.executable, "-c", script))


async def test_a_program_that_ignores_signals_is_killed_with_its_children(tmp_path):
    pid = tmp_path / "pid"
    script = f"""
import pathlib, signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path({str(pid)!r}).write_text(str(child.pid))
time.sleep(600)
"""
    result = await play(script, bare_case(limit_s=2))
    assert (result.expected, result.seen) == ("an end within 2 s", "the program was still running")
    await until(lambda: not is_running(pid.read_text()))


def is_running(pid: str) -> bool:
    """Return True for a process that exists and is not a zombie."""
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False
    )
    return status.stdout.strip()[:1] not in ("", "Z")


async def test_a_program_that_prints_without_end_is_killed():
    result = await play("while True: print('x' * 100_000)", bare_case())
    assert result.seen == "the program printed more than 64 MiB, and was killed"


async def test_what_a_program_leaves_running_does_not_delay_its_end():
    script = "import subprocess; subprocess.Popen(['sleep', '600'])"
    result = await play(script, bare_case())
    assert result.verdict is Verdict.PASSED


# Selection


def test_patterns_select_cases():
    names = [case.name for case in selected(CASES, ["dial-again-*", "tls"], ["*unknown"])]
    assert "tls" in names
    assert "dial-again-cancelled" in names
    assert "dial-again-unknown" not in names
    assert len(names) == 6


def test_a_pattern_without_a_case_is_refused():
    with pytest.raises(SelectionError, match="--skip tsl: no case has such a name"):
        selected(CASES, [], ["tsl"])


def test_a_list_of_known_failures_has_names_and_comments():
    text = "# none of ours\n\ntls  # not yet\nwhole-match\n"
    assert known_failing(text, CASES) == {"tls", "whole-match"}
    with pytest.raises(
        SelectionError, match=r"line 2: there is no case 'tsl'; did you mean 'tls'\?"
    ):
        known_failing("tls\ntsl", CASES)


@pytest.mark.parametrize(
    "step", [{"ask": "m1", "wiht": []}, {"sing": "m1"}, {}, {"silence": "long"}]
)
def test_a_malformed_step_is_refused(step):
    with pytest.raises(ValidationError):
        bare_case(streams=[[step]])
