"""Plays a list of matches, from run.json to the standings.

Who plays them is a venue (see `venues`): a referee of its own, or workers; how far it has come is
its course (see `progress`). The results depend neither on the venue nor on how many matches run at
once. A bot that misbehaves loses its match and nobody else's.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from asara_game.edition import Edition
from asara_server.logs import logger
from asara_server.match import deal_secrets
from asara_server.replay.signing import SigningKey
from asara_server.tournament.bots.build import EntryBuilder
from asara_server.tournament.config.tournament_file import Tournament
from asara_server.tournament.execution.executor import ExecutionContext, Executor
from asara_server.tournament.execution.local_executor import LocalExecutor
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.run.directory import RunDirectory, RunInfo
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.spec import SandboxKind
from asara_server.tournament.schedule.schedule import ScheduledMatch, bot_seed
from asara_server.tournament.standings.match_result import MatchResult, utc_now
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.standings.standings import compute_standings


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    results: tuple[MatchResult, ...]
    standings: Standings
    cut: tuple[str, ...]
    """How far the matches were that were stopped in the middle, or why others have no result."""
    out: dict[str, str]
    """Entries that could not be built or did not start, and why."""
    suspended: dict[str, str]
    """Entries that faulted too often, and why."""


class Runner:
    """One run. `run` plays it to its end; `stop` ends it early."""

    def __init__(
        self,
        tournament: Tournament,
        matches: Sequence[ScheduledMatch],
        *,
        edition: Edition,
        directory: RunDirectory,
        key: SigningKey,
        finished: Callable[[MatchResult], None] = lambda result: None,
        enough: Callable[[], bool] = lambda: False,
        resumed: RunInfo | None = None,
        sandbox: Sandbox | None = None,
        executor: Executor | None = None,
    ) -> None:
        """`resumed` is what run.json says of a run that is to go on.

        Without a `sandbox` bots run with our rights. Without a `executor` a referee in this process
        plays. `finished` and `enough` are those of `RunProgress`.
        """
        self._executor = executor or LocalExecutor()
        self._tournament = tournament
        self._edition = edition
        self._resumed = resumed
        self._seed = resumed.seed if resumed else tournament.seed or secrets.token_hex(32)
        self._secret = deal_secrets.tournament_secret(self._seed)
        self._directory = directory
        self._key = key
        self._progress = RunProgress(
            matches,
            tournament.limits,
            directory,
            key,
            results=directory.catch_up() if resumed else (),
            finished=finished,
            enough=enough,
        )
        self._sandbox = None if sandbox is None else sandbox.keeping_secret(directory.path)
        self._logger = logger("runner")

    def stop(self) -> None:
        """Begin no further match, and let the running ones finish their open decisions only."""
        self._progress.stopping.set()

    @property
    def over(self) -> int:
        """Matches that need not be played any more."""
        return self._progress.over

    @property
    def awaited(self) -> Sequence[str]:
        """Entries on other machines whose bots are not there, but waited for."""
        return self._executor.awaited

    @property
    def deal_commitment(self) -> str:
        """SHA-256 of what all deals come from; to be published before `run`."""
        return deal_secrets.commitment(self._secret).hex()

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
            matches=len(self._progress.matches),
            over=len(self._progress.results),
            deal_commitment=self.deal_commitment,
            sandbox=self._sandbox_kind,
        )
        try:
            await self._play_all()
        finally:
            standings = compute_standings(
                self._tournament.title,
                [entry.name for entry in self._tournament.entries],
                len(self._progress.matches),
                self._progress.results,
            )
            self._directory.write_standings(standings)
            self._directory.write_remote(None)
            end: dict[str, object] = {"ended": utc_now(), "state": "cut short"}
            end |= {"out": self._progress.out, "suspended": self._progress.suspended}
            end["scheduled"] = len(self._progress.matches)
            if standings.complete:
                end |= {"state": "finished", "tournament_secret": self.tournament_secret}
            self._directory.write_info(info.model_copy(update=end))
            self._logger.info("run over", state=end["state"], played=standings.matches.played)
        return RunEnd(
            tuple(self._progress.results),
            standings,
            tuple(self._progress.cut),
            self._progress.out,
            dict(self._progress.suspended),
        )

    async def _play_all(self) -> None:
        settings = self._tournament
        builder = EntryBuilder(
            self._directory.builds,
            self._directory.logs,
            settings.limits,
            sandbox=self._sandbox,
        )
        self._progress.out |= await self._build(builder)
        seed = self._bots_seed
        match_settings = MatchSettings(
            entries=settings.entries,
            clocks=settings.clocks.settings(),
            limits=settings.limits,
            transport=settings.transport,
            joint=settings.deals == "joint",
            keep=settings.processes == "run",
            seeds={one.name: bot_seed(seed, one.name) for one in settings.entries if seed},
            built={one.name: builder.place(one) for one in settings.entries if one.build},
        )
        context = ExecutionContext(
            match_settings,
            self._edition,
            partial(deal_secrets.secret_of, self._secret),
            self._sandbox,
            settings.concurrency,
            settings.remote,
        )
        await self._executor.play(self._progress, context)

    async def _build(self, builder: EntryBuilder) -> dict[str, str]:
        """Build the entries, unless the run is stopped meanwhile; who cannot be built, and why."""
        building = asyncio.create_task(
            builder.build(self._tournament.entries, self._tournament.concurrency)
        )
        stopping = asyncio.create_task(self._progress.stopping.wait())
        try:
            await asyncio.wait([building, stopping], return_when=asyncio.FIRST_COMPLETED)
            return building.result() if building.done() else {}
        finally:
            building.cancel()
            stopping.cancel()
            await asyncio.gather(building, stopping, return_exceptions=True)

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
            scheduled=len(self._progress.matches),
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
