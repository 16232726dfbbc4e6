"""Runs the conformance cases against a client, then prints and writes the results."""

import asyncio
import os
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.text import Text

from asara_server import system
from asara_server.bounded_file import MIB, read_bounded
from asara_server.cli.commands.conformance import Conformance
from asara_server.cli.display.console import out, show_line
from asara_server.cli.display.quantities import duration
from asara_server.cli.options.bots import find_bots
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, write_output
from asara_server.cli.sessions.bot_build import built_bots
from asara_server.cli.sessions.signals import until_signal
from asara_server.conformance.case import Case, Level
from asara_server.conformance.catalogue import (
    SelectionError,
    all_cases,
    known_failing,
    selected,
)
from asara_server.conformance.runner import play_case, play_cases
from asara_server.conformance.verdict import CaseResult, Verdict, as_junit
from asara_server.text import count, plain
from asara_server.tournament.config.tournament_file import Entry
from asara_server.user_error import UserError

_MARKS: Final = {
    Verdict.PASSED: ("ok", "green"),
    Verdict.FAILED: ("FAIL", "bold red"),
    Verdict.KNOWN: ("known", "yellow"),
    Verdict.UNEXPECTED: ("FAIL", "bold red"),
}
_MARK_WIDTH: Final = 6
_LONGEST_SEEN: Final = 400
_MOST_NAMED: Final = 10
"""Maximum number of failed cases in a suggested command; with more, it would be far too long."""
_NOUNS: Final = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "failed",
    Verdict.KNOWN: "failed as known",
    Verdict.UNEXPECTED: "passed unexpectedly",
}
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
    run = _Run(cases, bot, jobs, known)
    results = asyncio.run(_play_until_signal(run))
    show_summary(command, results, time.monotonic() - began)
    if options.junit_file is not None:
        write_output(options.junit_file, as_junit(results))
    return 0 if all(result.verdict.good for result in results) else 1


def _selection(patterns: list[str], level: Level | None) -> list[Case]:
    cases = selected(all_cases(), patterns, level)
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
        printed = f"; it printed: {last}" if last else "; its standard error was empty"
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


class ResultLines:
    """Prints a line for each case, and more lines for each case that fails."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._width = max(len(case.name) for case in cases) + 2
        self._printed = ""

    def show(self, result: CaseResult) -> None:
        """Print the result of a case; if it failed, also what was expected and what was seen."""
        mark, style = _MARKS[result.verdict]
        line = Text.assemble(
            (f"{mark:<{_MARK_WIDTH}}", style), f"{result.case.name:<{self._width}}"
        )
        match result.verdict:
            case Verdict.PASSED:
                line.append(result.seen.replace(result.expected, f"{result.expected} as expected"))
                self._print(line)
            case Verdict.UNEXPECTED:
                line.append("passes, although it is listed as failing; remove it there")
                self._print(line)
            case _:
                line.append(f"expected {plain(result.expected, longest=_LONGEST_SEEN)}")
                self._print(line)
                self._detail("seen", result.seen)
        if result.verdict is Verdict.FAILED:
            self._detail("proves", result.case.proves)
            self._detail("says", f"{result.case.level.page}: {result.case.says}")
            self._show_printed(result.printed)

    def describe(self, case: Case) -> None:
        """Print what a case proves."""
        self._print(Text(f"{case.name:<{self._width}}{case.proves}"), self._width)

    def _show_printed(self, printed: str) -> None:
        """Print the last lines of standard error, unless the previous case printed the same."""
        if printed and printed == self._printed:
            self._detail("stderr", "the same as above")
            return
        for number, line in enumerate(printed.splitlines()):
            self._detail("" if number else "stderr", line.expandtabs(4), style="dim")
        self._printed = printed or self._printed

    def _detail(self, label: str, text: str, style: str = "") -> None:
        blanks = " " * (_MARK_WIDTH + self._width)
        shown = plain(text, longest=_LONGEST_SEEN)
        self._print(Text.assemble(blanks, (f"{label:<9}", "dim"), (shown, style)))

    def _print(self, line: Text, indent: int = 0) -> None:
        show_line(line, indent=indent or _MARK_WIDTH + self._width)


def show_summary(command: Sequence[str], results: Sequence[CaseResult], seconds: float) -> None:
    """Print how many cases passed, and the command that repeats the failed ones."""
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[verdict]} {_NOUNS[verdict]}" for verdict in Verdict if counts[verdict]]
    good = all(result.verdict.good for result in results)
    text = f"{count(len(results), 'case')} in {duration(seconds)}: {', '.join(parts)}"
    out.print(Text(text, style="bold green" if good else "bold red"), soft_wrap=True)
    if not good and len(results) > 1:
        bad = [result.case.name for result in results if not result.verdict.good]
        patterns = " ".join(f"--case {name}" for name in bad[:_MOST_NAMED])
        which = "Again:" if len(bad) <= _MOST_NAMED else f"The first {_MOST_NAMED} again:"
        again = f"{which} asara conformance {patterns} -- {shlex.join(command)}"
        out.print(plain(again, longest=None), soft_wrap=True)


def show_cases(cases: Sequence[Case]) -> None:
    """Print all cases by level, with their names and what they prove."""
    lines = ResultLines(cases)
    for level, group in groupby(cases, key=lambda case: case.level):
        out.print(Text(f"{level}: {level.page}", style="bold"), soft_wrap=True)
        for case in group:
            lines.describe(case)
