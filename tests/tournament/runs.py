"""Whole runs, played in this process."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.executor import Executor
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, RunHooks, Runner
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.plan import planned_matches
from asara_server.tournament.standings.match_result import MatchResult

KEY = SigningKey.new()


def play(
    file: Path,
    out: Path,
    executor: Executor | None = None,
    *,
    finished: Callable[[Runner, MatchResult], None] = lambda runner, result: None,
    enough: Callable[[], bool] | None = None,
    sandbox: Sandbox | None = None,
    resume: bool = False,
) -> RunEnd:
    """Play a tournament with an executor, or resume it."""
    tournament = load_tournament(file)

    async def scenario() -> RunEnd:
        opened = RunDirectory.reopen(out) if resume else (RunDirectory.create(out), None)
        with closing(opened[0]) as directory:
            runner = Runner(
                tournament,
                planned_matches(tournament),
                directory=directory,
                key=KEY,
                hooks=RunHooks(lambda result: finished(runner, result), enough),
                resumed=opened[1],
                sandbox=sandbox,
                executor=executor,
            )
            return await runner.run()

    return asyncio.run(scenario())
