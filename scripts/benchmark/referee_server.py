"""A child process with the real referee, at an address of this machine, and endless matches."""

import asyncio
import secrets
from itertools import count
from pathlib import Path
from typing import Final

from asara_codec.clocks import Clocks
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.event_loop import run
from asara_server.journal.journal import Journal
from asara_server.logs import configure
from asara_server.match.spec import MatchSpec, Player
from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee
from asara_server.tournament.run.directory import JOURNAL
from scripts.benchmark.children import options, serve_commands, usage

CLOCKS: Final = Clocks(start_up_us=600_000_000, bank_us=250_000_000)
"""Long enough for the pauses between rounds, while bots hold back their answers."""


def bots_of(match: int, bots: list[str], seats: int) -> list[str]:
    """Return the bots of a match by seat; every bot plays equally many matches."""
    first = match * seats
    return [bots[(first + seat) % len(bots)] for seat in range(seats)]


class MatchLoop:
    """A referee with registered bots that keeps a constant number of matches running."""

    def __init__(self, bots: list[str], rules: str, seats: int, journal: Journal) -> None:
        self.referee = Referee(journal=journal)
        self._journal = journal
        self._bots = bots
        self._rules = Rules(load_edition(), parse_rule_sets(rules), seats)
        self._running: list[asyncio.Task[None]] = []
        for name in bots:
            self.referee.register_bot(name, name)

    async def start(self, matches: int) -> dict[str, float]:
        """Keep this number of matches running from now on; return when all have begun."""
        for match in range(matches):
            self._running.append(asyncio.create_task(self._repeat(match)))
        while self.referee.running_match_count < matches:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)
        return {}

    async def _repeat(self, match: int) -> None:
        """Play one match after another between the same bots."""
        names = bots_of(match, self._bots, self._rules.seats)
        players = tuple(Player(name, name) for name in names)
        for number in count(1):
            spec = MatchSpec(
                f"m{match}-{number}", self._rules, players, CLOCKS, secrets.token_bytes(32)
            )
            record = await self.referee.play(spec)
            assert not record.void
            if self._journal is not None:
                self._journal.end(spec.match_id, "")


async def main(address: str, bots: list[str], rules: str, seats: int) -> None:
    """Serve until the benchmark ends. The journal is next to the socket, for the page."""
    configure("error")  # matches are cut when the benchmark ends
    folder = Path(address.removeprefix("unix:")).parent
    matches = MatchLoop(bots, rules, seats, Journal(folder / JOURNAL))
    running = await serve(matches.referee, address)
    await serve_commands({"start": matches.start, "usage": usage})
    await running.stop(None)


if __name__ == "__main__":
    run(main(**options()))
