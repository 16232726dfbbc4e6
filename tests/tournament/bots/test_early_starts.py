"""Processes that are started ahead of their matches: which, how many, and how they end."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.match.spec import ProcessPolicy
from asara_server.referee.referee import Referee
from asara_server.tournament.bots import early_starts, start_pace
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.output_log import OutputLog
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.bots.pooled_bot import PooledBot
from asara_server.tournament.bots.process import BotProcess
from asara_server.tournament.bots.start_pace import StartPace
from asara_server.tournament.bots.start_plan import SeatNeed
from asara_server.tournament.config.tournament_file import Limits, load_tournament
from asara_server.tournament.run.cost_meter import used_s
from tests.referee.harness import until
from tests.tournament import sample_bots
from tests.tournament.sample_bots import write_tournament

WAITS = "import os, time\nprint('seat', os.environ.get('ASARA_SEAT'), flush=True)\ntime.sleep(60)\n"
"""A program that starts and does not connect."""

IMPATIENT = """
import os, threading
import asara
print("seat", os.environ.get("ASARA_SEAT"), flush=True)
threading.Timer(float(os.environ["WAITS_S"]), os._exit, [7]).start()
asara.run(lambda decision, match: decision.legal_actions[0])
"""
"""A bot that connects and then ends, although it has not played."""


def need(entry: str, match: int = 1, seat: int = 0, place: int = 0) -> SeatNeed:
    return SeatNeed(entry, place, f"m{match}", seat, imminent=True)


class Pool:
    """A pool of real processes, and the seats that it will need."""

    def __init__(self, pool: BotPool, folder: Path, at_once: int) -> None:
        self.pool = pool
        self.folder = folder
        self.needs: list[SeatNeed] = []
        pool.look_ahead(lambda: self.needs, at_once)

    def start_ahead(self, *needs: SeatNeed) -> None:
        self.needs = list(needs)
        self.pool.start_ahead()

    async def acquire(self, wanted: SeatNeed) -> PooledBot:
        self.needs = [one for one in self.needs if one != wanted]
        return await self.pool.acquire(wanted.entry, wanted.match_id, wanted.seat, wanted.place)

    def running(self, *entries: str) -> int:
        return sum(len(self.pool.process_ids(entry)) for entry in entries)

    async def started(self, entry: str, number: int) -> None:
        await until(lambda: self.running(entry) == number)

    async def nothing_more(self, *entries: str) -> int:
        """The number of processes after a while in which more could have been started."""
        await asyncio.sleep(0.5)
        return self.running(*entries)

    def log(self, wanted: SeatNeed) -> str:
        path = self.folder / "logs" / wanted.match_id / f"{wanted.seat}-{wanted.entry}.log"
        return path.read_text() if path.exists() else ""


@asynccontextmanager
async def open_pool(
    folder: Path,
    programs: dict[str, str],
    processes: ProcessPolicy = "match",
    *,
    at_once: int = 2,
    environment: str = "",
    **limits: int,
) -> AsyncIterator[Pool]:
    file = write_tournament(folder, {"spare": WAITS, "other": WAITS} | programs)
    line = f"environment = {{ {environment} }}\n" if environment else ""
    file.write_text(file.read_text().replace('.py"\n', f'.py"\n{line}'))
    (folder / "logs").mkdir()
    referee = Referee()
    addresses = BotAddresses(referee, "unix")
    pool = BotPool(
        referee,
        addresses,
        load_tournament(file).entries,
        processes=dict.fromkeys(programs, processes),
        limits=Limits(**{"memory_mb": 16, **limits}),
        seeds={},
        logs=folder / "logs",
    )
    try:
        yield Pool(pool, folder, at_once)
    finally:
        await pool.close()
        addresses.close()
        await referee.stop(finish_s=0)


@pytest.fixture(autouse=True)
def _many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start as many at once as is wanted, however busy this machine is."""
    monkeypatch.setattr(early_starts, "usable_cores", lambda: 64)


async def test_a_process_is_ready_when_its_match_begins(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": sample_bots.GOOD}) as table:
        table.start_ahead(need("ann", seat=1))
        await table.started("ann", 1)
        (pid,) = table.pool.process_ids("ann")
        await until(lambda: table.pool.start_up_s("ann") is not None)
        assert not list((tmp_path / "logs").iterdir())
        bot = await table.acquire(need("ann", seat=1))
        assert bot.process is not None
        assert bot.process.pid == pid
        assert bot.start_up_s is not None
        printed = table.log(need("ann", seat=1))
        assert f"process {pid}: python " in printed
        assert f"process {pid}, started ahead of this match" in printed


async def test_a_process_of_one_match_plays_in_its_seat_only(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}) as table:
        ahead = [need("ann", 1, 0), need("ann", 1, 1), need("ann", 2, 0)]
        table.start_ahead(*ahead)
        await table.started("ann", 3)
        for wanted in reversed(ahead):
            bot = await table.acquire(wanted)
            await until(lambda: f"seat {wanted.seat}" in table.log(wanted))  # noqa: B023
            assert bot.match_id == wanted.match_id
        assert table.running("ann") == 3
        await table.acquire(need("ann", 3, 0))
        assert table.running("ann") == 4


async def test_a_process_that_lives_on_plays_whichever_match_comes_first(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}, "run") as table:
        table.start_ahead(need("ann", 1, 0))
        await table.started("ann", 1)
        await table.acquire(need("ann", 2, 1))
        assert table.running("ann") == 1
        await until(lambda: "seat None" in table.log(need("ann", 2, 1)))
        assert table.log(need("ann", 1, 0)) == ""


async def test_a_place_in_mirrored_blocks_has_its_own_processes(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}, "run") as table:
        table.start_ahead(need("ann", 1, place=0), need("ann", 2, place=1))
        await table.started("ann", 2)
        bots = [await table.acquire(need("ann", 3 + n, place=n)) for n in (0, 1)]
        assert [bot.place for bot in bots] == [0, 1]
        assert table.running("ann") == 2


async def test_a_match_takes_over_a_start_that_has_just_begun(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}) as table:
        table.start_ahead(need("ann"))
        await asyncio.sleep(0)
        await table.acquire(need("ann"))
        assert await table.nothing_more("ann") == 1


@pytest.mark.parametrize("processes", ["match", "run"])
async def test_a_process_that_ends_before_it_connects_is_a_failed_start_of_its_match(
    tmp_path: Path, processes: ProcessPolicy
) -> None:
    async with open_pool(tmp_path, {"ann": sample_bots.EXITS}, processes) as table:
        table.start_ahead(need("ann"))
        await until(lambda: any(bot.ending for bot in table.pool._idle))
        assert await table.nothing_more("ann") == 0
        bot = await table.acquire(need("ann"))
        assert bot.ending == "exited with status 1"
        assert "cannot load model.bin" in bot.error_lines()
        assert table.log(need("ann")).count(": python ") == 1
        assert "cannot load model.bin" in table.log(need("ann"))


async def test_a_bot_that_does_not_wait_for_its_match_is_started_with_it(tmp_path: Path) -> None:
    programs = {"ann": IMPATIENT}
    async with open_pool(tmp_path, programs, environment='WAITS_S = "0.3"') as table:
        table.start_ahead(need("ann"), need("ann", 2))
        await until(lambda: "exited with status 7" in table.log(need("ann")))
        await until(lambda: table.running("ann") == 0)
        table.pool.start_ahead()
        assert await table.nothing_more("ann") == 0
        bot = await table.acquire(need("ann"))
        assert not bot.ending
        assert table.log(need("ann")).count(": python ") == 2


async def test_an_entry_that_is_out_or_suspended_has_no_processes_ahead(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS, "bob": WAITS}) as table:
        table.start_ahead(need("ann"), need("bob"))
        await table.started("ann", 1)
        await table.started("bob", 1)
        await table.pool.suspend("ann", "it forfeits too often")
        await table.pool.exclude("bob", "it was not built")
        table.pool.start_ahead()
        assert await table.nothing_more("ann", "bob") == 0


async def test_after_its_last_failed_start_no_process_of_an_entry_is_left(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}, failed_starts=1) as table:
        table.start_ahead(need("ann", 1), need("ann", 2))
        await table.started("ann", 2)
        bot = await table.acquire(need("ann", 1))
        await table.pool.release(bot, Termination.NEVER_STARTED)
        await until(lambda: table.running("ann") == 0)
        assert (await table.acquire(need("ann", 2))).process is None


async def test_when_a_run_stops_the_processes_that_have_not_played_end(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS, "bob": WAITS}) as table:
        table.start_ahead(need("ann"), need("bob"))
        await table.started("bob", 1)
        await table.acquire(need("ann"))
        await table.pool.stop_starting_ahead()
        table.pool.start_ahead()
        assert table.running("ann") == 1
        assert await table.nothing_more("bob") == 0


async def test_nothing_is_started_for_bots_that_are_started_elsewhere(tmp_path: Path) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}) as table:
        table.pool.add_guest("ann", "a-token")
        table.start_ahead(need("ann"), need("remote"))
        assert await table.nothing_more("ann", "remote") == 0


@pytest.mark.parametrize("most", [0, 2])
async def test_no_more_processes_wait_than_may_be_idle(tmp_path: Path, most: int) -> None:
    async with open_pool(tmp_path, {"ann": WAITS}, idle_processes=most) as table:
        table.start_ahead(*(need("ann", number) for number in range(5)))
        await table.started("ann", most)
        assert await table.nothing_more("ann") == most


async def test_an_idle_process_that_is_needed_soon_is_kept_and_another_makes_room(
    tmp_path: Path,
) -> None:
    programs = dict.fromkeys(("ann", "bob", "cid"), WAITS)
    async with open_pool(tmp_path, programs, "run", idle_processes=2) as table:
        for name in ("ann", "bob"):
            await table.pool.release(await table.acquire(need(name)), Termination.COMPLETED)
        table.start_ahead(need("ann", 2, 0), need("cid", 2, 1))
        await table.started("cid", 1)
        await table.started("bob", 0)
        assert table.running("ann") == 1
        bot = await table.acquire(need("ann", 2, 0))
        assert "kept from an earlier match" in table.log(need("ann", 2, 0))
        assert not bot.ending


async def test_nothing_is_started_ahead_of_its_match_if_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 100 << 20
    monkeypatch.setattr(early_starts, "free_memory", lambda: free)
    async with open_pool(tmp_path, {"ann": WAITS}, memory_mb=64) as table:
        table.start_ahead(need("ann"))
        assert await table.nothing_more("ann") == 0
        free = 130 << 20  # for it and, in reserve, for one of those that play
        table.start_ahead(need("ann", 1), need("ann", 2))
        assert await table.nothing_more("ann") == 1


class Starting:
    """A process that starts, with the processor time that the test gives it."""

    pid = 0
    running = True
    contained = True

    def __init__(self) -> None:
        self.used_s = 0.1

    def group_ns(self) -> int:
        return round(self.used_s * 1e9)


def test_processes_that_load_make_others_wait_and_those_that_sleep_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StartPace, "_has_idle_processor", lambda *_: False)
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    loads, sleeps = Starting(), Starting()
    pace = StartPace(2)
    assert pace.permits([], 0)
    assert not pace.permits([None], 0)  # about to run
    assert not pace.permits([sleeps], 0)  # nothing is known of it yet
    for _ in range(3):
        now_s += 0.25
        loads.used_s += 0.01  # it gets little, because others want to run as well
        pace.permits([sleeps, loads], 0)
    assert pace.permits([sleeps], 0)
    assert not pace.permits([sleeps, loads], 0)
    assert pace.permits([sleeps, loads], 1)
    assert StartPace(4).permits([loads], 0)
    assert not StartPace(4).permits([loads, sleeps], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is known on Linux only")
async def test_the_processor_time_of_a_process_that_starts_is_known(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "log", 1000)
    code = [sys.executable, "-c", "while True: pass"]
    process = await BotProcess.start(code, tmp_path, os.environ, log)
    try:
        await until(lambda: (used_s(process) or 0) > 0.05)
    finally:
        await process.stop()
    assert (start_pace._idle_s() or 0) > 0


def log_of(folder: Path, *parts: Sequence[bytes], limit: int = 1000) -> str:
    """The file of a log that gets some output in memory, and then some in its file."""
    log = OutputLog(None, limit)
    for data in parts[0]:
        log.write(data)
    assert not (folder / "m").exists()
    log.switch_to(folder / "m" / "0-ann.log")
    for data in parts[1]:
        log.write(data)
    log.close()
    return (folder / "m" / "0-ann.log").read_text()


def test_output_of_before_the_match_begins_the_log_of_the_match(tmp_path: Path) -> None:
    assert log_of(tmp_path, [b"load", b"ing\n"], [b"ready\n"]) == "loading\nready\n"


@pytest.mark.parametrize(("before", "after"), [(1500, 0), (800, 700)])
def test_output_of_before_the_match_counts_for_the_limit(
    tmp_path: Path, before: int, after: int
) -> None:
    printed = log_of(tmp_path, [b"x" * before], [b"x" * after])
    assert printed.count("x") == 1000
    assert printed.endswith("# cut: only 1,000 bytes are kept\n")


def test_a_log_of_an_earlier_part_of_the_run_has_room_for_the_rest_only(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "0-ann.log"
    path.write_text("y" * 600)
    log = OutputLog(None, 1000)
    log.write(b"x" * 500)
    log.switch_to(path)
    log.write(b"z")
    log.close()
    assert path.read_text() == "y" * 600 + "x" * 400 + "\n# cut: only 1,000 bytes are kept\n"
