"""A child process with the real referee, served as by `asara serve`, and endless matches."""

import asyncio
import secrets
import time
from itertools import count
from pathlib import Path
from typing import Final

from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.event_loop import run
from asara_server.eventlog.journal import Journal
from asara_server.logs import configure
from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.network.grpc_server import serve
from asara_server.network.live_feed import LiveFeed, live_feed
from asara_server.referee.referee import Referee
from scripts.benchmark.children import options, serve_commands
from scripts.benchmark.children import usage as usage_of_process

CLOCKS: Final = ClockSettings(start_up_s=600, bank_s=250)
"""Long enough for the pauses between rounds, in which bots hold decisions."""


def bots_of(match: int, bots: list[str], seats: int) -> list[str]:
    """Return who plays a match, by seat; every bot plays as many matches as any other."""
    first = match * seats
    return [bots[(first + seat) % len(bots)] for seat in range(seats)]


class TimedFeed(LiveFeed):
    """A live feed that adds up its own processor time, all readers included."""

    used_s = 0.0

    def _tick(self) -> None:
        began_s = time.thread_time()
        super()._tick()
        TimedFeed.used_s += time.thread_time() - began_s


async def usage() -> dict[str, float]:
    """Return what this process uses, and what its live feed used of that."""
    return {**await usage_of_process(), "feed_s": TimedFeed.used_s}


class MatchLoop:
    """A referee with registered bots, which plays a constant number of matches at once."""

    def __init__(self, bots: list[str], rules: str, seats: int, journal: Journal) -> None:
        self.referee = Referee(journal=journal)
        self._journal = journal
        self._bots = bots
        self._rules = Rules(load_edition(), parse_rule_sets(rules), seats)
        self._running: list[asyncio.Task[None]] = []
        for name in bots:
            self.referee.register_bot(name, name)

    async def start(self, matches: int) -> dict[str, float]:
        """Play this number of matches at once from now on; return when all have begun."""
        for match in range(matches):
            self._running.append(asyncio.create_task(self._repeat(match)))
        while self.referee.running_match_count < matches:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)
        return {}

    async def _repeat(self, match: int) -> None:
        """Play one match after the other between the same bots."""
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
    """Serve until the benchmark ends; the live feed is named beside the socket, as in a run."""
    configure("error")  # matches are cut when the benchmark ends
    folder = Path(address.removeprefix("unix:")).parent
    journal = Journal(folder / "run.journal")
    matches = MatchLoop(bots, rules, seats, journal)
    running = await serve(matches.referee, address)
    async with live_feed(matches.referee, folder, TimedFeed):
        await serve_commands({"start": matches.start, "usage": usage})
    await running.server.stop(None)


if __name__ == "__main__":
    run(main(**options()))
