"""A process with the real referee, served as `asara serve` does it, and matches that never stop."""

import asyncio
import secrets
from itertools import count
from pathlib import Path
from typing import Final

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.event_loop import run
from asara_server.eventlog.journal import Durability, Journal
from asara_server.logs import configure
from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee
from scripts.benchmark.children import obey, options, usage

#: Bots are held between rounds, and no clock may run out meanwhile.
CLOCKS: Final = ClockSettings(start_up_s=600, bank_s=250)


def at_table(table: int, bots: list[str], seats: int) -> list[str]:
    """Who plays there; every bot is at as many tables as any other."""
    first = table * seats
    return [bots[(first + seat) % len(bots)] for seat in range(seats)]


class Court:
    """A referee, the bots that it admits, and the matches that they play."""

    def __init__(self, bots: list[str], rules: str, seats: int, journal: Journal | None) -> None:
        self.referee = Referee(journal=journal)
        self._journal = journal
        self._bots = bots
        self._rules = Rules(load_edition(), parse_rule_sets(rules), seats)
        self._running: list[asyncio.Task[None]] = []
        for name in bots:
            self.referee.register_bot(name, name)

    async def start(self, matches: int) -> dict[str, float]:
        """Play so many matches at once from now on; returns when all have begun."""
        for table in range(matches):
            self._running.append(asyncio.create_task(self._play_on(table)))
        while len(self.referee.running_matches()) < matches:  # noqa: ASYNC110 - the referee tells nobody
            await asyncio.sleep(0.01)
        return {}

    async def _play_on(self, table: int) -> None:
        """One match after the other, between the same bots."""
        names = at_table(table, self._bots, self._rules.seats)
        players = tuple(Player(name, name) for name in names)
        for number in count(1):
            spec = MatchSpec(
                f"m{table}-{number}", self._rules, players, CLOCKS, secrets.token_bytes(32)
            )
            record = await self.referee.play(spec)
            assert not record.void
            if self._journal is not None:
                self._journal.end(spec.match_id, "", None)


async def main(
    address: str, bots: list[str], rules: str, seats: int, durability: Durability | None
) -> None:
    configure("error")  # matches are cut when the benchmark ends
    folder = Path(address.removeprefix("unix:")).parent
    journal = None if durability is None else Journal(folder / "journal.sqlite", durability)
    court = Court(bots, rules, seats, journal)
    serving = await serve(court.referee, address)
    await obey({"start": court.start, "usage": usage})
    await serving.server.stop(None)


if __name__ == "__main__":
    run(main(**options()))
