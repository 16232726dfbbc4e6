"""Plays a run, from its tournament to its standings.

An executor plays the matches (see `execution` and `workers`), and `RunProgress` records how far the
run is. The results depend neither on the executor nor on the number of concurrent matches. A bot
that misbehaves loses its own matches only.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from asara_server.journal.journal import Fact
from asara_server.logs import logger
from asara_server.match import deal_secrets
from asara_server.match.deal_secrets import draw_seed
from asara_server.replay.signing import SigningKey
from asara_server.tournament.bots.build import EntryBuilder, FailedBuild
from asara_server.tournament.bots.living_bots import end_recorded, others_have_bots
from asara_server.tournament.config.tournament_file import MatchSettings, Tournament
from asara_server.tournament.execution.match_runner import ExecutionContext, Executor, LocalExecutor
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.directory import RunDirectory, wait_for_writers
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.run.read_run import run_standings
from asara_server.tournament.run.run_record import RUN
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.sandbox.filesystem_view import oversized_entries
from asara_server.tournament.sandbox.machine_limits import effective_limits
from asara_server.tournament.sandbox.resources import SandboxKind
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, utc_now, utc_text
from asara_server.tournament.standings.model import Standings
from asara_server.tournament.trust.manifest import ScheduleRule, new_manifest
from asara_server.tournament.trust.signed_documents import sign_end, signed_beginning

_WORKERS_END_S = 20.0
"""Seconds given to the workers of a killed runner to end."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    results: tuple[MatchResult, ...]
    standings: Standings
    unfinished: tuple[str, ...]
    """One line for each match or block without a result: its progress, or the reason."""
    out: dict[str, str]
    """Entries that could not be built or started, with the reasons."""
    suspended: dict[str, str]
    """Entries suspended because they forfeited too often, with the reasons."""
    costs: RunCosts
    """The costs of the run, over all of its sessions."""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Everything that a run is made of."""

    tournament: Tournament
    schedule: Sequence[ScheduledMatch]
    directory: RunDirectory
    key: SigningKey
    sandbox: Sandbox | None = None
    """None if bots run with the rights of this process."""
    executor: Executor | None = None
    """None if a referee in this process plays the matches."""
    schedule_rule: ScheduleRule = "groups"
    """How the schedule was made."""


class Runner:
    """One run. `run` plays it to its end; `stop` ends it early.

    Everything of `progress` and `executor` is for display only.
    """

    def __init__(
        self,
        setup: RunSetup,
        *,
        finished: Callable[[MatchResult], None] = lambda result: None,
        enough: Callable[[], bool] | None = None,
        build_failed: Callable[[FailedBuild], None] = lambda failed: None,
    ) -> None:
        """If a run has begun in the directory, it is resumed.

        `finished` is called with a match's final result as soon as the match is over, and `enough`
        after it; once `enough` returns True, no further block begins.
        """
        tournament, schedule, directory = setup.tournament, setup.schedule, setup.directory
        key, sandbox = setup.key, setup.sandbox
        if sandbox is not None:  # the manifest records what bots get
            limits = effective_limits(tournament.limits, sandbox.tools.ceilings)
            tournament = tournament.model_copy(update={"limits": limits})
        self.executor = setup.executor or LocalExecutor()
        self._tournament = tournament
        self._resumed = resumed = directory.info if directory.record.begun else None
        self._seed = resumed.seed if resumed else tournament.seed or draw_seed()
        self._secret = deal_secrets.tournament_secret(self._seed)
        self._directory = directory
        self._key = key
        self._build_failed = build_failed
        self.progress = RunProgress(
            tournament,
            schedule,
            directory,
            key,
            finished=finished,
            enough=enough,
            legs=setup.schedule_rule != "rotations",
            contained=sandbox is not None,
            others=others_have_bots,
        )
        self._sandbox = None if sandbox is None else sandbox.with_hidden(directory.path)
        self._logger = logger("runner")
        self._schedule = tuple(schedule)
        self._manifest = new_manifest(
            tournament,
            schedule,
            public_key=key.public,
            tournament_file=directory.tournament_text,
            deal_commitment=self.deal_commitment,
            schedule_rule=setup.schedule_rule,
            may_end_early=enough is not None,
            looks=self.progress.looks,
            sandbox=self._sandbox_kind,
        )
        self._begun = False

    def stop(self) -> None:
        """Start no further matches; running matches finish only their open decisions."""
        self.progress.stopping.set()

    @property
    def costs(self) -> RunCosts:
        """The costs of the run so far, over all of its sessions."""
        earlier = self._resumed.costs if self._resumed else None
        return (earlier or RunCosts()) + self.executor.costs

    @property
    def building(self) -> Mapping[str, str]:
        """Entries being built, each with the time its build began (ISO 8601, UTC)."""
        return self._directory.info.building if self._directory.record.begun else {}

    @property
    def to_build(self) -> Sequence[str]:
        """Entries whose build has not started yet."""
        return self._directory.info.to_build if self._directory.record.begun else ()

    @property
    def deal_commitment(self) -> str:
        """SHA-256 of the tournament's secret, in hexadecimal. Publish it before `run`."""
        return deal_secrets.commitment(self._secret).hex()

    @property
    def manifest_sha256(self) -> str:
        """SHA-256 of the manifest, available after `begin`. Publish it before `run`."""
        return self._directory.info.manifest_sha256

    def begin(self, *, prepare: bool = False) -> None:
        """Write everything that is decided before the first match; if the run is resumed, check it.

        With `prepare`, the journal records that no match has been played yet, so playing the run
        starts by resuming it. Raises RunError if the run was started with other settings.
        """
        manifest = signed_beginning(self._directory, self._manifest, self._key)
        state = "prepared" if prepare else "running"
        self._directory.note(*manifest, Fact(RUN, {**self._beginning(), "state": state}))
        self._directory.export()
        self._directory.journal.facts.clear()
        self._directory.write_public_key(self._key.public_pem)
        self._begun = True

    async def run(self) -> RunEnd:
        """Play all matches that have no result yet, calling `begin` first if necessary.

        All bots are ended and the standings are written even if the run fails or is cancelled.
        Raises ServeError if remote bots cannot be served, and RunError like `begin`.
        """
        progress = self.progress
        if not self._begun:
            self.begin()
        self._logger.info(
            "run resumed" if self._resumed else "run started",
            matches=len(progress.schedule),
            over=len(progress.results),
            manifest=self.manifest_sha256,
            deal_commitment=self.deal_commitment,
            sandbox=self._sandbox_kind,
        )
        try:
            await self._play()
        finally:
            standings = self._write_end()
        return RunEnd(
            results=tuple(progress.results),
            standings=standings,
            unfinished=tuple(progress.unfinished),
            out=dict(progress.out),
            suspended=dict(progress.suspended),
            costs=self.costs,
        )

    async def _play(self) -> None:
        tournament = self._tournament
        progress = self.progress
        if self._resumed:
            await asyncio.to_thread(wait_for_writers, self._directory.path, _WORKERS_END_S)
            progress.recover_blocks()
            await self._resume_legs()
        builder = EntryBuilder(
            self._directory.builds,
            self._directory.logs,
            tournament.limits,
            sandbox=self._sandbox,
            changed=lambda: self._note_builds(builder),
        )
        await self._build(builder)
        self._directory.change(to_build=(), building={})
        built = {e.name: builder.build_directory(e) for e in tournament.entries if e.build}
        if self._sandbox is not None:
            playing = [e for e in tournament.entries if e.name not in progress.out]
            oversized = await asyncio.to_thread(
                oversized_entries, self._sandbox, playing, built, tournament.limits
            )
            progress.exclude(oversized)
        match_settings = MatchSettings.of(tournament, self._bots_seed, built)
        context = ExecutionContext(
            match_settings,
            partial(deal_secrets.secret_of, self._secret),
            self._sandbox,
            tournament.jobs,
            remote=tournament.remote,
        )
        self._logger.info("executor", name=self.executor.name)
        self._directory.change(executor=self.executor.name)
        await self.executor.play(progress, context)

    async def _resume_legs(self) -> None:
        """End any bots of earlier sessions, since they may know deals that are still to be
        played.
        """
        cgroups = self._sandbox.cgroup_parents if self._sandbox is not None else ()
        survivors = await end_recorded(self._directory.processes, cgroups)
        self.progress.end_shared_deals(survivors)

    async def _build(self, builder: EntryBuilder) -> None:
        """Build the entries, unless the run is stopped; entries whose build fails are out.

        An entry that was already out in an earlier session is not built again.
        """

        def failed(build: FailedBuild) -> None:
            printed = {**self._directory.info.build_output, build.entry: build.printed}
            self._directory.change(build_output=printed)
            self.progress.exclude({build.entry: build.why})
            self._build_failed(build)

        out = self.progress.out
        entries = [entry for entry in self._tournament.entries if entry.name not in out]
        building = asyncio.create_task(builder.build(entries, self._tournament.jobs, failed))
        stopping = asyncio.create_task(self.progress.stopping.wait())
        try:
            await asyncio.wait([building, stopping], return_when=asyncio.FIRST_COMPLETED)
            if building.done():
                building.result()
        finally:
            building.cancel()
            stopping.cancel()
            await asyncio.gather(building, stopping, return_exceptions=True)

    def _note_builds(self, builder: EntryBuilder) -> None:
        building = {name: utc_text(at) for name, at in builder.building.items()}
        built = {} if building else {"built": utc_now()}
        self._directory.change(to_build=builder.to_build, building=building, **built)

    @property
    def _bots_seed(self) -> str | None:
        """Return the text from which the bots' seeds are derived, or None if bots draw their own
        seeds.

        In joint deals, nonces derived from our seed would not bind us. Bots therefore draw their
        own seeds unless the tournament file sets one; with a set seed, the whole run can be
        repeated.
        """
        return self._tournament.seed if self._tournament.deals == "joint" else self._seed

    def _beginning(self) -> dict[str, object]:
        """Return what changes when the run begins or is resumed, which may only be prepared so far.

        Folders that have no usable `bot.toml` now are added to the earlier ones.
        """
        left_out = {one.folder: one.why for one in self._tournament.left_out}
        begun = self._resumed
        if begun is None:
            seed_drawn = self._tournament.seed is None
            return {
                "seed": self._seed,
                "seed_drawn": seed_drawn,
                "started": utc_now(),
                "left_out": left_out,
            }
        changes = {"left_out": {**begun.left_out, **left_out}}
        if begun.state == "prepared":
            return changes | {"started": utc_now()}
        return changes | {
            "ended": None,
            "resumed": utc_now(),
            "resumed_with": (*begun.resumed_with, version("asara")),
            "to_build": (),
            "building": {},
        }

    def _write_end(self) -> Standings:
        """Write the standings and how the run ended, and return the standings."""
        progress = self.progress
        info = self._directory.info.model_copy(update={"scheduled": len(progress.schedule)})
        standings = run_standings(info, progress.results)
        self._directory.remove_remote()
        end: dict[str, object] = {}
        stalled_s = self.executor.stalled_s
        if stalled_s is not None:
            end["stalled_s"] = round((self._directory.info.stalled_s or 0.0) + stalled_s, 3)
        if self.costs != RunCosts():
            end["costs"] = self.costs
        if standings.complete and standings.matches.played:
            end["leader"] = standings.overall[0].entry
            end["leader_ranks"] = standings.overall[0].ranks
        self._directory.change(**end)
        sign_end(
            self._directory,
            self._key,
            self._schedule,
            progress.results,
            standings,
            out=dict(progress.out),
            suspended=dict(progress.suspended),
            tournament_secret=self._secret.hex() if standings.complete else None,
        )
        state = self._directory.info.state
        self._logger.info("run ended", state=state, played=standings.matches.played)
        return standings

    @property
    def _sandbox_kind(self) -> SandboxKind:
        return "none" if self._sandbox is None else "bubblewrap"
