"""Runs the conformance cases against a client, then prints and writes the results."""

import asyncio
import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asara_server import system
from asara_server.bounded_file import MIB, read_bounded
from asara_server.cli.commands.conformance import Conformance
from asara_server.cli.display.conformance import ResultLines, show_cases, show_summary
from asara_server.cli.errors import UserError
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.interruption import until_signal
from asara_server.conformance.case import Case
from asara_server.conformance.catalogue import (
    SelectionError,
    all_cases,
    known_failing,
    selected,
)
from asara_server.conformance.level import Level
from asara_server.conformance.program import ProgramError
from asara_server.conformance.reports import as_junit
from asara_server.conformance.runner import play_case, play_cases
from asara_server.conformance.verdict import CaseResult, Verdict
from asara_server.tournament.config.tournament_file import Entry

_FIRST = "hello-and-goodbye"
"""The case that runs first, because no other case can pass without it."""


def run_selected(options: Conformance, _log: LogOptions) -> int:
    """Run or list the selected cases; return the exit status."""
    command, patterns = tuple(options.command or ()), options.patterns or []
    if options.list_cases:  # without a level, all cases
        show_cases(_selection(patterns, options.level or Level.KIT))
        return 0
    cases = _selection(patterns, options.level)
    known = _known(options.known_failing)
    inputs = [options.known_failing] if options.known_failing else []
    if options.junit_file is not None:
        check_output("--junit", options.junit_file, inputs=inputs)
    if not system.UNIX_SOCKETS:
        raise UserError(f"this test of clients {system.NEEDS_UNIX}")
    bot = _built(command)
    jobs = options.jobs or 2 * (os.cpu_count() or 1)
    began = time.monotonic()
    try:
        run = _Run(cases, bot, jobs, known)
        results = asyncio.run(_play_until_signal(run))
    except ProgramError as error:
        raise UserError(str(error), status=1) from None
    show_summary(command, results, time.monotonic() - began)
    if options.junit_file is not None:
        write_output(options.junit_file, as_junit(results))
    return 0 if all(result.verdict.good for result in results) else 1


def _selection(patterns: list[str], level: Level | None) -> list[Case]:
    try:
        cases = selected(all_cases(), patterns, level)
    except SelectionError as error:
        raise UserError(str(error)) from None
    if not cases:
        raise UserError("--level and --case leave no case; see --list")
    return cases


def _known(path: Path | None) -> frozenset[str]:
    if path is None:
        return frozenset()
    try:
        return known_failing(read_bounded(path, MIB).decode(), all_cases())
    except OSError as error:
        raise UserError(f"--known-failing {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"--known-failing {path}: is not a text in UTF-8") from None
    except SelectionError as error:
        raise UserError(f"--known-failing {path}: {error}") from None


def _built(command: tuple[str, ...]) -> Entry:
    """Return the bot for these words, built and ready to start; raise UserError if that fails."""
    if not command:
        raise UserError(
            "pass the bot to test: its folder, or its command after --, for example: "
            "asara conformance -- python my_bot.py"
        )
    bots = find_bots([command[0] if len(command) == 1 else shlex.join(command)])
    (built,) = built_bots(bots, sandbox=None)
    return built


@dataclass(frozen=True, slots=True)
class _Run:
    """The cases to run, and the settings for running them."""

    cases: Sequence[Case]
    bot: Entry
    jobs: int
    known: frozenset[str]


async def _play_until_signal(run: _Run) -> list[CaseResult]:
    """Run the cases; a signal kills all programs and raises UserError."""
    results: dict[str, CaseResult] = {}
    await until_signal(
        _play(run, results), lambda: f"stopped after {len(results)} of {len(run.cases)} cases"
    )
    return [results[case.name] for case in run.cases]


async def _play(run: _Run, results: dict[str, CaseResult]) -> None:
    """Run the cases, print each result, and add it to `results`."""
    lines = ResultLines(run.cases)

    def take(result: CaseResult) -> None:
        judged = _judged(result, run.known)
        results[result.case.name] = judged
        lines.show(judged)

    first = await _play_first(run.bot, run.known)
    rest = [case for case in run.cases if case.name != _FIRST]
    if len(rest) < len(run.cases):
        take(first)
    async for result in play_cases(rest, run.bot, run.jobs):
        take(result)


async def _play_first(bot: Entry, known: frozenset[str]) -> CaseResult:
    """Run the first case; raise UserError if the program does not connect to a referee at all."""
    (case,) = selected(all_cases(), [_FIRST])
    result = await play_case(case, bot)
    if result.verdict is Verdict.FAILED and not result.streams and _FIRST not in known:
        last = result.printed.rpartition("\n")[2]
        printed = f"; it printed: {last}" if last else ", and printed nothing"
        if result.seen.startswith("the program printed"):
            printed = ""
        raise UserError(
            f"{bot.command[0]}: no stream was opened at ASARA_ADDRESS: {result.seen}{printed}",
            status=1,
        )
    return result


def _judged(result: CaseResult, known: frozenset[str]) -> CaseResult:
    """Return the result, taking the list of known failures into account."""
    if result.case.name not in known:
        return result
    passed = result.verdict is Verdict.PASSED
    return replace(result, verdict=Verdict.UNEXPECTED if passed else Verdict.KNOWN)
