"""Whole runs, played in this process."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from asara_game.rules import parse_rule_sets
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.match_runner import Executor
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, Runner, RunSetup
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import ScheduledMatch, planned_matches
from asara_server.tournament.standings.match_result import MatchResult

KEY = SigningKey.new()
BASIC = parse_rule_sets("basic")


def matches_at(*tables: tuple[str, ...]) -> list[ScheduledMatch]:
    """The matches m0, m1 and so on: one for each table."""
    return [ScheduledMatch(f"m{i}", 1, BASIC, entries) for i, entries in enumerate(tables)]


def by_id(end: RunEnd) -> dict[str, MatchResult]:
    return {result.match_id: result for result in end.results}


def play(
    file: Path,
    out: Path,
    executor: Executor | None = None,
    *,
    begun: Callable[[Runner], None] = lambda runner: None,
    finished: Callable[[Runner, MatchResult], None] = lambda runner, result: None,
    enough: Callable[[], bool] | None = None,
    sandbox: Sandbox | None = None,
    resume: bool = False,
    matches: Sequence[ScheduledMatch] | None = None,
) -> RunEnd:
    """Play a tournament with an executor, or resume it; `matches` take the place of its own."""
    tournament = load_tournament(file)

    async def scenario() -> RunEnd:
        opened = RunDirectory.reopen(out) if resume else RunDirectory.create(out)
        with closing(opened) as directory:
            planned = planned_matches(tournament) if matches is None else matches
            setup = RunSetup(tournament, planned, directory, KEY, sandbox, executor)
            runner = Runner(setup, finished=lambda result: finished(runner, result), enough=enough)
            begun(runner)
            return await runner.run()

    return asyncio.run(scenario())
