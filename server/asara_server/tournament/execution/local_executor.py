"""Plays the matches of a run with a referee in the runner's own process."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Protocol

from asara_server.logs import logger
from asara_server.match.spec import SECOND_US
from asara_server.network.live_feed import live_feed
from asara_server.network.open_files import files_needed, require_open_files
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.waits import Wait
from asara_server.replay.file import replay_records
from asara_server.tournament.bots.output_log import OutputTap
from asara_server.tournament.bots.pool import BotPool
from asara_server.tournament.config.tournament_file import usable_cores
from asara_server.tournament.execution.executor import FINISH_S, ExecutionContext
from asara_server.tournament.execution.extra_match import ExtraMatch
from asara_server.tournament.execution.local_referee import LocalReferee, local_referee
from asara_server.tournament.execution.look_ahead import LookAhead
from asara_server.tournament.execution.match_queue import MatchQueue
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.execution.remote_authenticator import RemoteAuthenticator
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.execution.remote_lobby import RemoteLobby
from asara_server.tournament.run.cost_meter import CostMeter
from asara_server.tournament.run.costs import RunCosts
from asara_server.tournament.run.progress import RunProgress
from asara_server.tournament.sandbox.kernel_limits import warn_of_epoll_watches


class LocalExecutor:
    """Plays as many matches at once as the tournament says. Only it serves remote bots."""

    name = "local"

    def __init__(
        self,
        on_referee: Callable[[Referee], None] = lambda referee: None,
        on_listening: Callable[[str], None] = lambda address: None,
        show_output: Callable[[str], OutputTap] | None = None,
        *,
        strangers: bool = False,
    ) -> None:
        """`on_referee` is called with the referee before it plays.

        `on_listening` is called with the address to which bots on other machines connect.
        `show_output` is called with the entry of every process, and returns its tap.
        `strangers` says that the bots may be other people's: then the log names limits of the
        kernel by which one bot could stop all.
        """
        self._on_referee = on_referee
        self._on_listening = on_listening
        self._show_output = show_output
        self._strangers = strangers
        self._handing_over = asyncio.Event()
        self._referee: Referee | None = None
        self._remote_bots: RemoteBots | None = None
        self._meter: CostMeter | None = None

    def hand_over(self) -> None:
        """Begin no further deal block: `play` returns when those that have begun are over."""
        self._handing_over.set()

    @property
    def awaited(self) -> Sequence[str]:
        return () if self._remote_bots is None else self._remote_bots.awaited_entries()

    @property
    def waits(self) -> Sequence[Wait]:
        return () if self._referee is None else self._referee.waits()

    @property
    def stalled_s(self) -> float:
        return 0.0 if self._referee is None else self._referee.clock.stood_us / SECOND_US

    @property
    def costs(self) -> RunCosts:
        return RunCosts() if self._meter is None else self._meter.costs

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Raises ServeError if bots on other machines cannot be served, and OpenFilesError."""
        progress.void_lost(resumable=True)
        journal = progress.directory.journal
        meter = self._meter = CostMeter(journal, cores=usable_cores(), slots=context.concurrency)
        try:
            await self._play(progress, context, meter)
        finally:
            meter.stop()

    async def _play(
        self, progress: RunProgress, context: ExecutionContext, meter: CostMeter
    ) -> None:
        referee = self._referee = Referee(journal=progress.directory.journal)
        processes = _most_processes(progress, context)
        _require_open_files(referee.limits, processes, context)
        if context.sandbox is not None and self._strangers:
            memory_mb = context.match_settings.limits.memory_mb
            warn_of_epoll_watches(processes, memory_mb, logger("sandbox"))
        self._on_referee(referee)
        wait_s = context.remote.wait_s if context.remote else 0.0
        bots = RemoteBots(referee, context.match_settings.entries, wait_s=wait_s)
        lobby = _remote_lobby(progress, context, referee, bots)
        async with (
            live_feed(referee, progress.directory.path),
            lobby.open(self._on_listening) if lobby else nullcontext(),
            local_referee(
                context.match_settings,
                referee,
                edition=context.edition,
                secret_of=context.secret_of,
                sandbox=context.sandbox,
                logs=progress.directory.logs,
                out=progress.out,
                suspended=progress.suspended,
                show_output=self._show_output,
                meter=meter,
            ) as local,
        ):
            if lobby:
                lobby.start_waiting(local.pool)
            self._remote_bots = bots
            queue = MatchQueue(progress.pending_matches(), bots)
            at_once = min(context.concurrency, len(queue))
            ahead = LookAhead(
                queue.upcoming,
                local.pool.start_up_s,
                concurrency=at_once,
                most=at_once + context.match_settings.limits.idle_processes,
            )
            local.pool.look_ahead(ahead.needs, at_once)
            play = partial(_play_matches, progress, local, queue, ahead, meter)
            players = [asyncio.create_task(play()) for _ in range(at_once)]
            # One match at a time is a promise: no process that met its deal runs beside it.
            if len(players) > 1 and context.extra_match and lobby is None:
                players.append(_extra_player(players, play, meter))
            stopper = asyncio.create_task(_stop_when_told(progress, referee, queue, local.pool))
            handover = asyncio.create_task(self._drop_others(progress, queue))
            try:
                await asyncio.gather(*players)
                if progress.stopping.is_set():
                    await stopper
            finally:
                tasks = (*players, stopper, handover)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                progress.exclude(local.pool.exclusions.out)

    async def _drop_others(self, progress: RunProgress, queue: MatchQueue) -> None:
        await self._handing_over.wait()
        queue.restrict(lambda match: progress.has_begun(match.deal_block))


def _remote_lobby(
    progress: RunProgress, context: ExecutionContext, referee: Referee, bots: RemoteBots
) -> RemoteLobby | None:
    """Return what serves bots on other machines, if the tournament has any."""
    remote = context.remote
    if remote is None:
        return None
    authenticator = RemoteAuthenticator(remote.tokens, bots)
    return RemoteLobby(referee, remote, bots, authenticator, progress.directory.write_remote)


def _most_processes(progress: RunProgress, context: ExecutionContext) -> int:
    """Return the largest number of bots that run at the same time."""
    settings = context.match_settings
    matches = [match for match, _ in progress.pending_matches()]
    seats = max((len(match.entries) for match in matches), default=0)
    idle = (context.concurrency + context.extra_match) * kept_processes(progress, settings)
    if "match" in settings.processes.values():  # those that are started ahead
        idle += sum(len(match.entries) for match in matches)
    at_once = context.concurrency + context.extra_match
    return at_once * seats + min(settings.limits.idle_processes, idle)


def kept_processes(progress: RunProgress, settings: MatchSettings) -> int:
    """Return the number of processes that all entries keep if one match is played at a time."""
    kept = sum(policy == "run" for policy in settings.processes.values())
    places = 1 + max((match.place for match, _ in progress.pending_matches()), default=0)
    return kept * places


def _require_open_files(limits: LimitSettings, processes: int, context: ExecutionContext) -> None:
    """Raise OpenFilesError if the bots of the run could exhaust the files of this process."""
    remote = sum(entry.remote for entry in context.match_settings.entries)
    needed = files_needed(
        limits, processes=processes, remote_bots=remote if context.remote else None
    )
    require_open_files(needed, "lower concurrency or limits.idle_processes")


class _PlayMatches(Protocol):
    async def __call__(self, goes_on: Callable[[], bool] = ...) -> None: ...


def _extra_player(
    players: Sequence[asyncio.Task[None]], play: _PlayMatches, meter: CostMeter
) -> asyncio.Task[None]:
    """Return a player of extra matches, which stops when one of the others has nothing to play."""
    extra, at_once = ExtraMatch(lambda: meter.costs), len(players)

    async def play_extra() -> None:
        meter.set_slots(at_once + 1)
        try:
            await play(goes_on=lambda: extra.wanted)
        finally:
            meter.set_slots(at_once)

    for player in players:
        player.add_done_callback(lambda _: extra.stop())
    return asyncio.create_task(extra.play(play_extra))


async def _play_matches(
    progress: RunProgress,
    local: LocalReferee,
    queue: MatchQueue,
    ahead: LookAhead,
    meter: CostMeter,
    goes_on: Callable[[], bool] = lambda: True,
) -> None:
    """Play one match after another until the queue is empty or `goes_on` returns False."""
    async for match, attempt in queue:
        if not progress.begin_block(match.deal_block):
            return
        ahead.begin_match(match)
        local.pool.start_ahead()
        played = None
        async for played in local.matches.play(match, attempt):
            with meter.runner_work():
                records = None if played.replay is None else replay_records(played.replay)
                if played.replay is not None:
                    meter.count_match(played.replay)
                progress.exclude(local.pool.exclusions.out)
                progress.add_processor_times(played.processor_times)
                suspended = progress.record_result(played.result, records)
            for name, why in suspended.items():
                await local.pool.suspend(name, why)
        queue.finish_match(match)
        if played is None:
            return
        ahead.finish_match(match, None if played.result.void else played.result.seconds)
        with meter.runner_work():
            progress.finish_match(match, played.result)
        if not goes_on():
            return


async def _stop_when_told(
    progress: RunProgress, referee: Referee, queue: MatchQueue, pool: BotPool
) -> None:
    await progress.stopping.wait()
    queue.close()
    _, unfinished = await asyncio.gather(
        pool.stop_starting_ahead(), referee.stop(finish_s=FINISH_S)
    )
    progress.unfinished += unfinished
