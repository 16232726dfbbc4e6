"""Both kinds of streams, and the surroundings in which authors run their bots."""

from __future__ import annotations

import asyncio
import threading

import pytest

import asara
from asara import stream
from asara.settings import Settings
from tests.contract.client import scripted
from tests.contract.client.scripted import ScriptedReferee
from tests.contract.client.test_process import finish, start
from tests.events import turns

FORKS = """
import multiprocessing, os, subprocess, warnings, asara

# Since 3.12, Python warns of a fork next to threads, of which the client has some.
warnings.simplefilter("ignore", DeprecationWarning)

def work(number):
    return number + 1

def decide(decision, match):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(work, range(3)) == [1, 2, 3]
    if os.fork() == 0:
        os._exit(0)
    assert os.wait()[1] == 0
    assert subprocess.run(["true"]).returncode == 0
    return match.random_action(decision)

asara.run(decide)
"""


def take_first(decision: asara.Decision, _match: asara.Match) -> asara.Action:
    return decision.legal_actions[0]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the kinds of streams that are opened."""
    kinds: list[str] = []
    original = stream.open_stream

    def record(*arguments: object) -> stream.Stream:
        found = original(*arguments)  # type: ignore[arg-type]
        kinds.append(type(found).__name__)
        return found

    monkeypatch.setattr("asara.client.open_stream", record)
    return kinds


def test_the_main_thread_runs_a_loop_of_its_own(
    referee: ScriptedReferee, opened: list[str]
) -> None:
    referee.scripts.append(scripted.one_match)
    asara.play(take_first, Settings(address=referee.address, token="secret"))
    assert opened == ["_LoopStream"]


def test_a_bot_plays_in_a_program_whose_loop_runs(
    referee: ScriptedReferee, opened: list[str]
) -> None:
    async def main() -> None:
        asara.play(take_first, Settings(address=referee.address, token="secret"))

    referee.scripts.append(scripted.one_match)
    asyncio.run(main())
    assert opened == ["BlockingStream"]


def test_a_bot_plays_in_another_thread(referee: ScriptedReferee, opened: list[str]) -> None:
    referee.scripts.append(scripted.one_match)
    settings = Settings(address=referee.address, token="secret")
    thread = threading.Thread(target=asara.play, args=(take_first, settings))
    thread.start()
    thread.join()
    assert opened == ["BlockingStream"]


def test_decide_may_run_event_loops_of_its_own(referee: ScriptedReferee) -> None:
    async def think(decision: asara.Decision) -> asara.Action:
        await turns(1)
        return decision.legal_actions[0]

    referee.scripts.append(scripted.one_match)
    asara.play(
        lambda decision, match: asyncio.run(think(decision)),
        Settings(address=referee.address, token="secret"),
    )


def test_decide_may_start_processes(referee: ScriptedReferee) -> None:
    referee.scripts.append(scripted.one_match)
    assert finish(start(FORKS, referee)) == (0, "", "")
