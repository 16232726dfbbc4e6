"""Who plays the matches of a run: a referee in the runner's own process, or workers elsewhere.

Either takes what waits from the course of the run and hands in results; the rest of a run is the
same (see `runner`).
"""

import asyncio
from collections.abc import Callable, Sequence

from asara_server.referee.referee import Referee
from asara_server.replay.file import replay_records
from asara_server.tournament.execution.executor import FINISH_S, ExecutionContext
from asara_server.tournament.execution.local_referee import LocalReferee, local_referee
from asara_server.tournament.execution.match_queue import MatchQueue
from asara_server.tournament.execution.remote_lobby import RemoteLobby
from asara_server.tournament.run.progress import RunProgress


class LocalExecutor:
    """A referee in this process, so many matches at once as the tournament says."""

    def __init__(
        self,
        watch: Callable[[Referee], None] = lambda referee: None,
        opened: Callable[[str], None] = lambda address: None,
    ) -> None:
        """`watch` is given the referee before it plays, `opened` the address where bots dial in
        from other machines.
        """
        self._watch = watch
        self._opened = opened
        self._lobby: RemoteLobby | None = None

    @property
    def awaited(self) -> Sequence[str]:
        return () if self._lobby is None else self._lobby.awaited

    async def play(self, progress: RunProgress, context: ExecutionContext) -> None:
        """Raises ServeError where bots on other machines cannot be let in."""
        referee = Referee(journal=progress.directory.journal)
        self._watch(referee)
        entries = context.match_settings.entries
        lobby = RemoteLobby(referee, context.remote, entries, progress.directory.write_remote)
        async with (
            lobby.open(self._opened),
            local_referee(
                context.match_settings,
                referee,
                edition=context.edition,
                secret_of=context.secret_of,
                sandbox=context.sandbox,
                logs=progress.directory.logs,
                excluded=progress.out | progress.suspended,
            ) as local,
        ):
            lobby.begin(local.pool)
            self._lobby = lobby
            line = MatchQueue(progress.waiting(), lobby)
            workers = [
                asyncio.create_task(_work(progress, local, line))
                for _ in range(min(context.concurrency, len(line)))
            ]
            stopper = asyncio.create_task(_stop(progress, referee, line))
            try:
                await asyncio.gather(*workers)
                if progress.stopping.is_set():
                    await stopper
            finally:
                for task in (*workers, stopper):
                    task.cancel()
                await asyncio.gather(*workers, stopper, return_exceptions=True)
                progress.out = {
                    n: why for n, why in local.pool.out.items() if n not in progress.suspended
                }


async def _work(progress: RunProgress, local: LocalReferee, line: MatchQueue) -> None:
    """Play one match after the other until none waits."""
    async for match, attempt in line:
        if not progress.begin(match.deal_block):
            return
        played = None
        async for played in local.match_runner.play(match, attempt):
            records = None if played.replay is None else replay_records(played.replay)
            suspended = progress.take(played.result, records, local.pool.out)
            for name, why in suspended.items():
                await local.pool.exclude(name, why)
        line.over(match)
        if played is None:
            return
        progress.close(match, played.result)


async def _stop(progress: RunProgress, referee: Referee, line: MatchQueue) -> None:
    await progress.stopping.wait()
    line.close()
    progress.cut += await referee.stop(finish_s=FINISH_S)
