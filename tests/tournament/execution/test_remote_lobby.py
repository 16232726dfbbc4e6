"""Matches that wait for bots on other machines, and for how long; without any network."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from asara_game.rules import parse_rule_sets
from asara_server.logs import logger
from asara_server.referee.referee import Referee
from asara_server.referee.referee_clock import RefereeClock
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.local_executor import MatchQueue
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.run.directory import RemoteInfo
from asara_server.tournament.schedule.schedule import Attempt, ScheduledMatch
from tests.events import EVENT_S, turns
from tests.tournament.remote_bots import Clock, write_cup

BASIC = parse_rule_sets("basic")


class Bots:
    """A referee and a pool as far as needed: connected bots and excluded entries."""

    def __init__(self) -> None:
        self.there: dict[str, int] = {}
        """Connected bots by key, each with the number of matches that it plays at once."""
        self.excluded: dict[str, str] = {}
        self.absences: dict[str, Any] = {}
        self.clock = RefereeClock(logger("referee"))

    def is_connected(self, key: str) -> bool:
        return key in self.there

    def match_capacity(self, key: str) -> int:
        return self.there.get(key, 0)

    def add_remote_bot(self, name: str, _key: str, absence: Any) -> None:
        self.absences[name] = absence


class Desk:
    """The remote bots ann, bob and cid, whose bots connect and disconnect as the test says."""

    def __init__(self, folder: Path, report: Callable[[RemoteInfo], None] = lambda _: None) -> None:
        file, self.tokens = write_cup(folder, ("ann", "bob", "cid"), wait_s=60)
        self.bots = Bots()
        cup = load_tournament(file)
        assert cup.remote is not None
        referee = cast(Referee, self.bots)
        self.stopping = asyncio.Event()
        self.remote_bots = RemoteBots(referee, cup.entries, cup.remote, report)
        self.remote_bots.start_waiting(cast(BotPool, self.bots))
        self.keys: dict[str, str] = {}

    def comes(self, name: str, matches: int = 1) -> None:
        key = self.remote_bots.authenticate(self.tokens[name])
        assert key is not None
        self.keys[name] = key
        self.bots.there[key] = matches
        self.remote_bots.connections_changed()

    def goes(self, name: str) -> None:
        del self.bots.there[self.keys[name]]
        self.remote_bots.connections_changed()

    def why(self, name: str) -> str:
        """Why a bot is not awaited any more."""
        return str(self.bots.absences[name]())

    def queue(self, *tables: str) -> MatchQueue:
        """A queue of matches, each named by the initials of its entries and a number."""
        names = {name[0]: name for name in (*self.tokens, "x here", "y here")}
        matches = [
            ScheduledMatch(f"{table}{place}", 1, BASIC, tuple(names[i] for i in table))
            for place, table in enumerate(tables)
        ]
        pending = [Attempt(match) for match in matches]
        return MatchQueue(pending, self.remote_bots, self.stopping)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def given(queue: MatchQueue, number: int) -> list[str]:
    """The next matches of a queue, which must come at once."""
    async with asyncio.timeout(EVENT_S):
        return [(await anext(queue)).match.match_id for _ in range(number)]


async def waits(queue: MatchQueue) -> "asyncio.Task[Attempt]":
    """Ask for a match, which does not come for now."""
    asking = asyncio.ensure_future(anext(queue))
    for _ in range(5):
        await turns(1)
    assert not asking.done()
    return asking


async def test_a_match_whose_entries_play_no_other_comes_first(tmp_path: Path) -> None:
    """Otherwise an entry would need another process."""
    desk = Desk(tmp_path)
    for name in ("ann", "bob", "cid"):
        desk.comes(name, matches=9)
    queue = desk.queue("ax", "bx", "by", "cx", "ay")
    assert await given(queue, 3) == ["ax0", "by2", "bx1"]
    queue.finish_match(ScheduledMatch("by2", 1, BASIC, ("bob", "y here")))
    queue.finish_match(ScheduledMatch("ax0", 1, BASIC, ("ann", "x here")))
    assert await given(queue, 2) == ["ay4", "cx3"]


async def test_after_the_limit_matches_go_on_without_the_bot_until_it_comes(
    tmp_path: Path, clock: Clock
) -> None:
    desk = Desk(tmp_path)
    queue = desk.queue("ax", "ax", "ax", "ax")
    asking = await waits(queue)
    clock.pass_time(59)
    assert desk.why("ann") == ""
    clock.pass_time(1)
    assert desk.why("ann") == "did not connect within 60 s"
    assert (await asking)[0].match_id == "ax0"
    assert await given(queue, 1) == ["ax1"]  # without a new wait
    desk.comes("ann", matches=3)
    assert desk.why("ann") == ""
    assert await given(queue, 1) == [
        "ax2"
    ]  # two are played without it, and still count as its matches
    await waits(queue)


async def test_what_fails_in_looking_after_bots_ends_the_wait(tmp_path: Path) -> None:
    def fail(_: RemoteInfo) -> None:
        raise ValueError("a fault of ours")

    asking = asyncio.ensure_future(anext(Desk(tmp_path, fail).queue("ax")))
    with pytest.raises(ValueError, match="a fault of ours"):
        await asking


async def test_a_report_that_cannot_be_written_ends_nothing(tmp_path: Path, clock: Clock) -> None:
    told: list[RemoteInfo] = []

    def full(info: RemoteInfo) -> None:
        told.append(info)
        raise OSError(28, "No space left on device")

    asking = await waits(Desk(tmp_path, full).queue("ax"))
    assert [entry.state for entry in told[0].entries.values()] == ["awaited"] * 3
    clock.pass_time(60)
    assert (await asking)[0].match_id == "ax0"
    assert [entry.state for entry in told[1].entries.values()] == ["missed"] * 3
