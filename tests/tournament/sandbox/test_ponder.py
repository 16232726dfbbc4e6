"""Contained bots do not run while they play nothing and, without pondering, while they wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.match.spec import MatchSpec, Player
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.freezer import AWAY_S, SCAN_S, BotFreezer
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import MatchSettings, load_tournament
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.cgroups import Cgroup
from tests import events
from tests.cli.command import asara
from tests.referee.harness import SECRET, rules
from tests.tournament.processes import living_in
from tests.tournament.runs import play
from tests.tournament.sample_bots import CRASHES, GOOD, HEADER, MUTE, write_tournament
from tests.tournament.sandbox.contained import spin_in
from tests.tournament.sandbox_config import sandbox_or_skip
from tests.yardstick import loop_s

NO_PONDER = "jobs = 1\nponder = false\n"

PENSIVE = """
import time
import asara
def decide(decision, match):
    if 1 < decision.decision_id < 2 + PAUSES:
        time.sleep(PAUSE_S)
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""

SPINS = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "while True: pass"])
"""
"""A bot with a child that uses as much processor time as it gets."""


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    sandbox = sandbox_or_skip()
    if not sandbox.can_freeze:
        pytest.skip("this user cannot create control groups that can be frozen")
    return sandbox


def pensive(pause_s: float, pauses: int = 3) -> str:
    return PENSIVE.replace("PAUSE_S", str(pause_s)).replace("PAUSES", str(pauses))


@pytest.mark.long
def test_forfeits_are_the_same_while_others_are_frozen(sandbox: Sandbox, tmp_path: Path) -> None:
    clocks = "[clocks]\ntime_bank_s = 60\n"  # what a busy machine needs
    header = HEADER.replace("seats = 2", "seats = 3") + NO_PONDER.replace("jobs = 1", "jobs = 3")
    bots = {"mute": MUTE, "crashes": CRASHES, "pensive": pensive(0.1)}
    file = write_tournament(tmp_path, bots, header + clocks)
    end = play(file, tmp_path / "run", sandbox=sandbox)
    assert end.standings.complete
    for result in end.results:
        found = {seat.entry: seat.termination for seat in result.seats}
        assert found == {
            "mute": Termination.TIME_OUT,
            "crashes": Termination.CRASH,
            "pensive": Termination.COMPLETED,
        }
    assert living_in(tmp_path) == []


@asynccontextmanager
async def spinning_pool(
    sandbox: Sandbox, folder: Path, other: str = GOOD, *, ponder: bool = True
) -> AsyncIterator[tuple[Referee, BotPool]]:
    tournament = load_tournament(write_tournament(folder, {"a": SPINS + GOOD, "b": other}))
    referee = Referee()
    async with AsyncExitStack() as stack:
        addresses = stack.enter_context(closing(BotAddresses(referee, "unix")))
        pool = BotPool(
            referee,
            addresses,
            MatchSettings(
                entries=tournament.entries,
                clocks=Clocks(),
                limits=tournament.limits,
                transport="unix",
                processes=dict.fromkeys("ab", "run"),
                ponder=ponder,
            ),
            logs=folder / "logs",
            sandbox=sandbox,
        )
        stack.push_async_callback(pool.close)
        yield referee, pool


async def test_a_bot_that_spins_while_it_waits_is_kept_from_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    thinks = pensive(3_600, 1)
    async with spinning_pool(sandbox, tmp_path, thinks, ponder=False) as (referee, pool):
        bots = [await pool.acquire(name, "m1", seat) for seat, name in enumerate("ab")]
        players = tuple(Player(bot.entry, bot.token) for bot in bots)
        clocks = Clocks(start_up_us=300_000_000, bank_us=10_000_000_000)
        match = MatchSpec("m1", rules(), players, clocks, SECRET)
        playing = asyncio.create_task(referee.play(match))
        process = bots[0].process
        assert process is not None
        group = process.group
        assert group is not None
        await events.until(lambda: referee.decision_id("m1", 1) == 2)  # the other bot thinks
        await until(group, running=False)
        playing.cancel()
        await asyncio.wait([playing])


async def test_a_kept_process_runs_only_while_it_has_a_match(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with spinning_pool(sandbox, tmp_path) as (referee, pool):
        bot = await pool.acquire("a", "m1", 0)
        assert bot.process is not None
        group = bot.process.group
        assert group is not None
        await events.until(lambda: referee.is_connected(bot.token))
        await until(group, running=True)
        await pool.release(bot, Termination.COMPLETED)
        await until(group, running=False)
        assert await pool.acquire("a", "m2", 0) is bot
        await until(group, running=True)
        assert referee.is_connected(bot.token)
        await pool.release(bot, Termination.COMPLETED)
        await until(group, running=False)
    assert not any(folder.exists() for folder in group.folders)


async def until(group: Cgroup, *, running: bool) -> None:
    """Wait until a group uses processor time, or is frozen and uses none."""

    def holds() -> bool:
        before = group.processor_ns()
        loop_s()
        return is_frozen(group) != running and (group.processor_ns() != before) == running

    await events.until(holds)


def is_frozen(group: Cgroup) -> bool:
    """Return what the kernel says: on a busy machine, any process may rest for a while."""
    assert group.freezer is not None
    return group.freezer.read_bytes() == b"1\n"


class Absent(Referee):
    """A referee with one bot, which plays a match, is not asked, and has disconnected."""

    scans = 0

    def awaits(self, key: str) -> bool:
        self.scans += 1
        return False


@pytest.mark.long
def test_a_bot_cannot_disconnect_in_order_to_think(sandbox: Sandbox) -> None:
    groups = sandbox.tools.cgroups
    assert groups is not None
    group = groups.create(memory_bytes=1 << 28, processes=10)

    referee = Absent()

    async def scenario() -> None:
        freezer = BotFreezer(referee, logger("test"), ponder=False)
        freezer.add("token", group)
        freezer.begin_match("token")
        await until(group, running=True)
        await until(group, running=False)
        freezer.close()
        await until(group, running=True)

    process = spin_in(group)
    try:
        asyncio.run(scenario())
        assert referee.scans > AWAY_S / SCAN_S
    finally:
        process.kill()
        process.wait()
        asyncio.run(group.remove())


@pytest.mark.usefixtures("sandbox")
def test_ponder_is_refused_where_no_bot_can_be_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_tournament(tmp_path, {"a": GOOD, "b": GOOD}, HEADER + NO_PONDER)
    run = ("tournament", "run", file, "--out", tmp_path / "run")
    refused = asara(*run, "--sandbox", "none")
    assert refused.returncode == 2
    assert "cup.toml: ponder = false: only bots in the sandbox can be frozen" in one(refused.stderr)
    monkeypatch.setattr(Sandbox, "can_freeze", False)
    refused = asara(*run, "--sandbox", "bubblewrap")
    assert refused.returncode == 2
    assert "no control groups with a freezer can be created" in one(refused.stderr)
    assert not (tmp_path / "run").exists()


def one(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.long
def test_a_bot_keeps_its_connection_while_it_is_frozen_for_minutes(
    sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = "[clocks]\ntime_bank_s = 600\n"
    bots = {"pensive": pensive(70, 1), "waits": GOOD}
    file = write_tournament(tmp_path, bots, HEADER + NO_PONDER + clocks)
    end = play(file, tmp_path / "run", sandbox=sandbox)
    assert {seat.detail for result in end.results for seat in result.seats} == {""}
    logged = "".join(capsys.readouterr())
    assert "again=False" in logged
    assert "again=True" not in logged
