"""The pool keeps a process for the next match, unless it has ended or has to end."""

import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.network.bot_server import BotServer
from asara_server.referee.referee import Referee
from asara_server.tournament.bots.bot_addresses import BotAddresses
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import MatchSettings, load_tournament
from tests.events import until
from tests.tournament.sample_bots import GOOD, write_tournament


class Addresses(BotAddresses):
    """Addresses that can be made to report a flood."""

    async def open(self, token: str, on_flood: Callable[[str], None]) -> BotServer:
        self.report_flood = on_flood
        return await super().open(token, on_flood)


@pytest.mark.parametrize("fault", ["none", "killed", "flood"])
async def test_only_a_process_that_can_play_on_gets_another_match(
    tmp_path: Path, fault: str
) -> None:
    tournament = load_tournament(write_tournament(tmp_path, {"a": GOOD, "b": GOOD}))
    settings = MatchSettings(
        entries=tournament.entries,
        clocks=Clocks(),
        limits=tournament.limits,
        transport="unix",
        processes={"a": "run"},
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    referee = Referee()
    with closing(Addresses(referee, "unix")) as addresses:
        pool = BotPool(referee, addresses, settings, logs=logs, sandbox=None)
        try:
            bot = await pool.acquire("a", "m1", 0)
            await until(lambda: referee.is_connected(bot.token))
            if fault == "killed":
                assert bot.process is not None
                os.kill(bot.process.pid, signal.SIGKILL)
                await until(lambda: bot.ending)
            elif fault == "flood":
                addresses.report_flood("its address was flooded")
            await pool.release(bot, Termination.COMPLETED)
            again = await pool.acquire("a", "m2", 0)
            assert (again is bot) == (fault == "none")
            await until(lambda: referee.is_connected(again.token))
        finally:
            await pool.close()
