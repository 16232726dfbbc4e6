"""Plays a list of matches with bot processes against a referee of its own.

So many matches run at once as the tournament says, in the order of the schedule; the results do
not depend on how many these are. A bot that misbehaves loses its match and nobody else's.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from asara_game.edition import Edition
from asara_server import deals
from asara_server.logs import logger
from asara_server.referee import Referee
from asara_server.replay import SigningKey, write_replay
from asara_server.tournament.arena import Arena, Played, utc_now
from asara_server.tournament.config import Tournament
from asara_server.tournament.directory import RunDirectory, RunInfo
from asara_server.tournament.pool import Pool
from asara_server.tournament.reach import local_address
from asara_server.tournament.results import MatchResult
from asara_server.tournament.schedule import Match
from asara_server.tournament.standings import Standings, compute_standings

FINISH_S = 5.0
"""Seconds that running matches have for their open decisions when the run is stopped."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    results: tuple[MatchResult, ...]
    standings: Standings
    cut: tuple[str, ...]
    """How far the matches were that were stopped in the middle; they have no result."""
    out: dict[str, str]
    """Entries that did not start, and why."""


class Runner:
    """One run. `run` plays it to its end; `stop` ends it early."""

    def __init__(
        self,
        tournament: Tournament,
        matches: Sequence[Match],
        *,
        edition: Edition,
        directory: RunDirectory,
        key: SigningKey,
        finished: Callable[[MatchResult], None] = lambda result: None,
    ) -> None:
        self._tournament = tournament
        self._scheduled = len(matches)
        self._waiting: Iterator[Match] = iter(matches)
        self._edition = edition
        self._seed = tournament.seed or secrets.token_hex(32)
        self._secret = deals.tournament_secret(self._seed)
        self._directory = directory
        self._key = key
        self._finished = finished
        self._stopping = asyncio.Event()
        self._results: list[MatchResult] = []
        self._cut: list[str] = []
        self._out: dict[str, str] = {}
        self._logger = logger("runner")

    def stop(self) -> None:
        """Begin no further match, and let the running ones finish their open decisions only."""
        self._stopping.set()

    @property
    def deal_commitment(self) -> str:
        """SHA-256 of what all deals come from; to be published before `run`."""
        return deals.commitment(self._secret).hex()

    @property
    def tournament_secret(self) -> str:
        """Which opens the commitment; nobody may know it before all matches are played."""
        return self._secret.hex()

    async def run(self) -> RunEnd:
        """Play the matches. Whatever happens, processes are ended and the standings written."""
        info = self._info()
        self._directory.write_info(info)
        self._directory.write_public_key(self._key.public_pem)
        self._logger.info(
            "run started", matches=self._scheduled, deal_commitment=self.deal_commitment
        )
        try:
            await self._play_all()
        finally:
            standings = compute_standings(
                self._tournament.title,
                [entry.name for entry in self._tournament.entries],
                self._scheduled,
                self._results,
            )
            self._directory.write_standings(standings)
            end: dict[str, str] = {"ended": utc_now(), "state": "cut short"}
            if standings.complete:
                end |= {"state": "finished", "tournament_secret": self.tournament_secret}
            self._directory.write_info(info.model_copy(update=end))
            self._logger.info("run over", state=end["state"], played=standings.matches.played)
        return RunEnd(tuple(self._results), standings, tuple(self._cut), self._out)

    async def _play_all(self) -> None:
        settings = self._tournament
        referee = Referee()
        async with local_address(referee, settings.transport) as address:
            pool = Pool(
                referee,
                address,
                settings.entries,
                keep=settings.processes == "run",
                limits=settings.limits,
                seed=self._bots_seed,
                logs=self._directory.logs,
            )
            arena = Arena(
                referee,
                pool,
                edition=self._edition,
                clocks=settings.clocks.settings(),
                secret=self._secret,
                joint=settings.deals == "joint",
            )
            at_once = min(settings.concurrency, self._scheduled)
            workers = [asyncio.create_task(self._work(arena)) for _ in range(at_once)]
            stopper = asyncio.create_task(self._stop_referee(referee))
            try:
                await asyncio.gather(*workers)
                if self._stopping.is_set():
                    await stopper
            finally:
                for task in (*workers, stopper):
                    task.cancel()
                await asyncio.gather(*workers, stopper, return_exceptions=True)
                await pool.close()
                self._out = pool.out

    async def _stop_referee(self, referee: Referee) -> None:
        await self._stopping.wait()
        self._cut += await referee.stop(finish_s=FINISH_S)

    async def _work(self, arena: Arena) -> None:
        """Play one match after the other until none waits."""
        for match in self._waiting:
            if self._stopping.is_set():
                return
            played = None
            async for played in arena.play(match):
                self._keep(played)
            if played is None:
                return
            self._finished(played.result)

    def _keep(self, played: Played) -> None:
        """Leave on disk what a match ended with: the replay first, for the results tell of it."""
        if played.replay is not None:
            name = f"{played.replay.header.match_id}.asara"
            write_replay(self._directory.replays / name, played.replay, self._key)
        self._directory.append(played.result)
        self._results.append(played.result)

    @property
    def _bots_seed(self) -> str | None:
        """What bots' dice come from, and their nonces; None for joint deals: they draw their own.

        Nonces that follow from our seed would bind us to nothing. But a seed in the file asks for
        a run that can be repeated, nonces included.
        """
        return self._tournament.seed if self._tournament.deals == "joint" else self._seed

    def _info(self) -> RunInfo:
        return RunInfo(
            asara=version("asara"),
            title=self._tournament.title,
            seed=self._seed,
            seed_drawn=self._tournament.seed is None,
            deals=self._tournament.deals,
            deal_commitment=self.deal_commitment,
            edition=self._edition.name,
            edition_sha256=self._edition.sha256.hex(),
            started=utc_now(),
        )
