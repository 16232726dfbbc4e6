"""A process with the real referee, served as `asara serve` does it, and matches that never stop."""

import asyncio
import secrets
from itertools import count
from typing import Final

import uvloop

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.logs import configure
from asara_server.referee import Referee
from asara_server.service import serve
from asara_server.spec import ClockSettings, MatchSpec, Player
from scripts.benchmark.children import obey, options, usage

#: Bots are held between rounds, and no clock may run out meanwhile.
_CLOCKS: Final = ClockSettings(start_up_s=600, bank_s=1e6)


class Court:
    """A referee, the bots that it admits, and the matches that they play."""

    def __init__(self, bots: list[str], rules: str, seats: int) -> None:
        self.referee = Referee()
        self._bots = bots
        self._rules = Rules(load_edition(), parse_rule_sets(rules), seats)
        self._running: list[asyncio.Task[None]] = []
        for name in bots:
            self.referee.admit(name, name)

    async def start(self, matches: int) -> dict[str, float]:
        """Play so many matches at once from now on; returns when all have begun."""
        for table in range(matches):
            self._running.append(asyncio.create_task(self._play_on(table)))
        while len(self.referee.running()) < matches:  # noqa: ASYNC110 - the referee tells nobody
            await asyncio.sleep(0.01)
        return {}

    async def _play_on(self, table: int) -> None:
        """One match after the other; the bots take turns with the tables."""
        names = [self._bots[(table + seat) % len(self._bots)] for seat in range(self._rules.seats)]
        players = tuple(Player(name, name) for name in names)
        for number in count(1):
            spec = MatchSpec(
                f"m{table}-{number}", self._rules, players, _CLOCKS, secrets.token_bytes(32)
            )
            record = await self.referee.play(spec)
            assert not record.void


async def main(address: str, bots: list[str], rules: str, seats: int) -> None:
    configure("error")  # matches are cut when the benchmark ends
    court = Court(bots, rules, seats)
    serving = await serve(court.referee, address)
    await obey({"start": court.start, "usage": usage})
    await serving.server.stop(None)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(**options()))
