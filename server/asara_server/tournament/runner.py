"""Plays a list of matches with bot processes against a referee of its own.

So many matches run at once as the tournament says, in the order of the schedule; the results do
not depend on how many these are. A bot that misbehaves loses its match and nobody else's.
"""

import asyncio
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from asara_game.edition import Edition
from asara_server import deals
from asara_server.logs import logger
from asara_server.referee import Referee
from asara_server.replay import SigningKey, replay_bytes
from asara_server.tournament.arena import ATTEMPTS, Arena, Played, utc_now
from asara_server.tournament.builds import Builder
from asara_server.tournament.config import Tournament
from asara_server.tournament.directory import RunDirectory, RunInfo
from asara_server.tournament.pool import Pool
from asara_server.tournament.reach import local_address
from asara_server.tournament.reception import Line, Reception
from asara_server.tournament.results import MatchResult, attempt_name
from asara_server.tournament.sandbox import Sandbox, SandboxKind
from asara_server.tournament.schedule import Match
from asara_server.tournament.standings import Standings, compute_standings
from asara_server.tournament.suspension import Suspensions

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
    """Entries that could not be built or did not start, and why."""
    suspended: dict[str, str]
    """Entries that faulted too often, and why."""


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
        enough: Callable[[], bool] = lambda: False,
        resumed: RunInfo | None = None,
        sandbox: Sandbox | None = None,
        watch: Callable[[Referee], None] = lambda referee: None,
        opened: Callable[[str], None] = lambda address: None,
    ) -> None:
        """`resumed` is what run.json says of a run that is to go on.

        Without a `sandbox` bots run with our rights. `watch` is given the referee before it plays,
        `opened` the address where bots dial in from other machines.
        `enough` is asked after every match. Once it says so no further deal block begins, the begun
        ones are played to their end, and they are then the whole schedule.
        """
        self._watch = watch
        self._opened = opened
        self._reception: Reception | None = None
        self._tournament = tournament
        self._matches = matches
        self._edition = edition
        self._resumed = resumed
        self._seed = resumed.seed if resumed else tournament.seed or secrets.token_hex(32)
        self._secret = deals.tournament_secret(self._seed)
        self._directory = directory
        self._key = key
        self._finished = finished
        self._enough = enough
        self._decided = False
        self._stopping = asyncio.Event()
        self._results: list[MatchResult] = directory.catch_up() if resumed else []
        self._begun = {result.deal_block for result in self._results}
        """Deal blocks of which a match was begun."""
        self._open = Counter(match.block for match, _ in self._to_play() if match.mirrored)
        """Matches to be played of each mirrored block that is not over."""
        self._held: dict[str, list[str]] = defaultdict(list)
        """By such a block, the replays that may not be read yet."""
        for result in self._results:
            self._write_replay(result)
        self._cut: list[str] = []
        self._out: dict[str, str] = {}
        self._sandbox = None if sandbox is None else sandbox.keeping_secret(directory.path)
        self._suspensions = Suspensions(matches, tournament.limits)
        for result in self._results:
            self._suspensions.take(result)
        self._logger = logger("runner")

    def stop(self) -> None:
        """Begin no further match, and let the running ones finish their open decisions only."""
        self._stopping.set()

    @property
    def over(self) -> int:
        """Matches that need not be played any more."""
        return len(self._matches) - len(self._to_play())

    @property
    def awaited(self) -> list[str]:
        """Entries on other machines whose bots are not there, but waited for."""
        return [] if self._reception is None else self._reception.awaited

    @property
    def deal_commitment(self) -> str:
        """SHA-256 of what all deals come from; to be published before `run`."""
        return deals.commitment(self._secret).hex()

    @property
    def tournament_secret(self) -> str:
        """Which opens the commitment; nobody may know it before all matches are played."""
        return self._secret.hex()

    async def run(self) -> RunEnd:
        """Play the matches. Whatever happens, processes are ended and the standings written.

        A run that goes on plays what its journal does not have. Raises ServeError where bots on
        other machines cannot be let in.
        """
        info = self._info()
        self._directory.write_info(info)
        self._directory.write_public_key(self._key.public_pem)
        self._logger.info(
            "run resumed" if self._resumed else "run started",
            matches=len(self._matches),
            over=len(self._results),
            deal_commitment=self.deal_commitment,
            sandbox=self._sandbox_kind,
        )
        try:
            await self._play_all()
        finally:
            standings = compute_standings(
                self._tournament.title,
                [entry.name for entry in self._tournament.entries],
                len(self._matches),
                self._results,
            )
            self._directory.write_standings(standings)
            self._directory.write_remote(None)
            end: dict[str, object] = {"ended": utc_now(), "state": "cut short"}
            end |= {"out": self._out, "suspended": self._suspensions.suspended}
            end["scheduled"] = len(self._matches)
            if standings.complete:
                end |= {"state": "finished", "tournament_secret": self.tournament_secret}
            self._directory.write_info(info.model_copy(update=end))
            self._logger.info("run over", state=end["state"], played=standings.matches.played)
        return RunEnd(
            tuple(self._results),
            standings,
            tuple(self._cut),
            self._out,
            dict(self._suspensions.suspended),
        )

    async def _play_all(self) -> None:
        settings = self._tournament
        referee = Referee(journal=self._directory.journal)
        self._watch(referee)
        reception = Reception(referee, settings, self._directory.write_remote)
        async with (
            local_address(referee, settings.transport) as address,
            reception.open(self._opened),
        ):
            builder = Builder(
                self._directory.builds,
                self._directory.logs,
                settings.limits,
                sandbox=self._sandbox,
            )
            excluded = await self._build(builder)
            pool = Pool(
                referee,
                address,
                [entry for entry in settings.entries if not entry.remote],
                keep=settings.processes == "run",
                limits=settings.limits,
                seed=self._bots_seed,
                logs=self._directory.logs,
                sandbox=self._sandbox,
                built={
                    entry.name: builder.place(entry) for entry in settings.entries if entry.build
                },
            )
            for name, why in (excluded | self._suspensions.suspended).items():
                await pool.exclude(name, why)
            arena = Arena(
                referee,
                pool,
                edition=self._edition,
                clocks=settings.clocks.settings(),
                secret=self._secret,
                joint=settings.deals == "joint",
            )
            reception.begin(pool)
            self._reception = reception
            line = Line(self._to_play(), reception)
            at_once = min(settings.concurrency, len(line))
            workers = [asyncio.create_task(self._work(arena, pool, line)) for _ in range(at_once)]
            stopper = asyncio.create_task(self._stop_referee(referee, line))
            try:
                await asyncio.gather(*workers)
                if self._stopping.is_set():
                    await stopper
            finally:
                for task in (*workers, stopper):
                    task.cancel()
                await asyncio.gather(*workers, stopper, return_exceptions=True)
                await pool.close()
                suspended = self._suspensions.suspended
                self._out = {n: why for n, why in pool.out.items() if n not in suspended}

    async def _build(self, builder: Builder) -> dict[str, str]:
        """Build the entries, unless the run is stopped meanwhile; who cannot be built, and why."""
        building = asyncio.create_task(
            builder.build(self._tournament.entries, self._tournament.concurrency)
        )
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([building, stopping], return_when=asyncio.FIRST_COMPLETED)
            return building.result() if building.done() else {}
        finally:
            building.cancel()
            stopping.cancel()
            await asyncio.gather(building, stopping, return_exceptions=True)

    async def _stop_referee(self, referee: Referee, line: Line) -> None:
        await self._stopping.wait()
        line.close()
        self._cut += await referee.stop(finish_s=FINISH_S)

    def _to_play(self) -> list[tuple[Match, int]]:
        """The matches that have no result yet, with the attempt to begin with."""
        over = {result.match_id for result in self._results if not result.void}
        failed = Counter(result.match_id for result in self._results)
        waiting = [
            (match, failed[match.match_id] + 1)
            for match in self._matches
            if match.match_id not in over and failed[match.match_id] < ATTEMPTS
        ]
        begun = self._directory.journal.unfinished
        return sorted(waiting, key=lambda one: attempt_name(one[0].match_id, one[1]) not in begun)

    async def _work(self, arena: Arena, pool: Pool, line: Line) -> None:
        """Play one match after the other until none waits."""
        async for match, attempt in line:
            if self._stopping.is_set():
                return
            if self._decided and match.deal_block not in self._begun:
                return
            self._begun.add(match.deal_block)
            played = None
            async for played in arena.play(match, attempt):
                self._keep(played)
                for name, why in self._suspensions.take(played.result, pool.out).items():
                    self._logger.warning("entry is suspended", entry=name, why=why)
                    await pool.exclude(name, why)
            line.over(match)
            if played is None:
                return
            self._close(match, played.result)
            self._finished(played.result)
            if not self._decided and self._enough():
                self._decided = True
                self._matches = [
                    match for match in self._matches if match.deal_block in self._begun
                ]

    def _keep(self, played: Played) -> None:
        """Leave on disk what a match ended with."""
        replay = None if played.replay is None else replay_bytes(played.replay, self._key)
        self._directory.keep(played.result, replay)
        self._results.append(played.result)
        self._write_replay(played.result)

    def _write_replay(self, result: MatchResult) -> None:
        """Let everybody read the replay, unless it tells the deal of matches still to come."""
        if self._open[result.block]:
            self._held[result.block].append(result.played_as)
        else:
            self._directory.write_replays([result.played_as])

    def _close(self, match: Match, last: MatchResult) -> None:
        """With the last match of a block that is to be played, its deal may be known."""
        over = not last.void or last.attempt >= ATTEMPTS
        if over and self._open[match.block]:
            self._open[match.block] -= 1
            if not self._open[match.block]:
                self._directory.write_replays(self._held.pop(match.block, ()))

    @property
    def _bots_seed(self) -> str | None:
        """What bots' dice come from, and their nonces; None for joint deals: they draw their own.

        Nonces that follow from our seed would bind us to nothing. But a seed in the file asks for
        a run that can be repeated, nonces included.
        """
        return self._tournament.seed if self._tournament.deals == "joint" else self._seed

    def _info(self) -> RunInfo:
        if self._resumed is not None:
            again = {
                "state": "running",
                "ended": None,
                "resumed": utc_now(),
                "sandbox": self._sandbox_kind,
            }
            return self._resumed.model_copy(update=again)
        return RunInfo(
            asara=version("asara"),
            title=self._tournament.title,
            entries=tuple(entry.name for entry in self._tournament.entries),
            scheduled=len(self._matches),
            seed=self._seed,
            seed_drawn=self._tournament.seed is None,
            deals=self._tournament.deals,
            blocks=self._tournament.blocks,
            deal_commitment=self.deal_commitment,
            edition=self._edition.name,
            edition_sha256=self._edition.sha256.hex(),
            started=utc_now(),
            sandbox=self._sandbox_kind,
            remote=self._tournament.remote_entries,
        )

    @property
    def _sandbox_kind(self) -> SandboxKind:
        return "none" if self._sandbox is None else "bubblewrap"
