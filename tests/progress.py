"""The output of `scripts/test`: progress, how to run a failed test alone, and what was left out."""

import shlex
import time
from collections import defaultdict
from pathlib import Path

import pytest

_EVERY_S = 30
"""Seconds between two lines of progress where the output is no terminal."""

_TYPICAL_S = {
    "tests/languages/test_new.py": 40.0,
    "tests/languages/": 10.0,
    "tests/web/browser/test_ends.py": 20.0,
    "tests/web/browser/test_play.py": 8.0,
    "tests/web/browser/": 2.0,
    "tests/tournament/": 1.0,
    "tests/contract/": 0.5,
    "tests/cli/": 0.5,
    "tests/env/": 0.3,
}
"""Typical seconds of a test that was never timed here; the first beginning of its name counts."""
_OTHERS_S = 0.1

_DURATIONS = "asara/durations"
"""Key in pytest's cache: the seconds that each test took the last time."""


def expected_s(nodeid: str) -> float:
    """Return the typical seconds of a test in its file."""
    return next((s for begin, s in _TYPICAL_S.items() if nodeid.startswith(begin)), _OTHERS_S)


class Progress:
    """A pytest plugin that replaces the dots by one line with an estimate of what is left.

    The estimate knows from the cache how long each test took the last time.
    """

    def __init__(self, config: pytest.Config, left_out: Path) -> None:
        self._config = config
        self._left_out = left_out
        self._cache: pytest.Cache | None = getattr(config, "cache", None)  # it can be turned off
        self._known: dict[str, float] = (
            self._cache.get(_DURATIONS, {}) if self._cache is not None else {}
        )
        self._taken: defaultdict[str, float] = defaultdict(float)
        self._expected: dict[str, float] = {}
        self._waiting_s = 0.0
        self._total_s = 0.0
        self._failed: dict[str, None] = {}
        self._skipped: dict[str, list[str]] = {}
        self._started = time.monotonic()
        self._shown = self._started

    @property
    def _reporter(self) -> pytest.TerminalReporter:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(reporter, pytest.TerminalReporter)
        return reporter

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:  # empty if xdist's workers collect
            self._begin([item.nodeid for item in session.items])

    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        if not self._expected:  # all workers collect the same
            self._begin(ids)

    def _begin(self, nodeids: list[str]) -> None:
        self._expected = {n: self._known.get(n) or expected_s(n) for n in nodeids}
        self._total_s = self._waiting_s = sum(self._expected.values())
        self._started = self._shown = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no letter for a test; its category is counted in the last line all the same."""
        if hasattr(report, "wasxfail"):
            return None
        if report.failed:
            return ("failed" if report.when == "call" else "error"), "", ""
        return ("skipped" if report.skipped else "passed" if report.when == "call" else ""), "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._taken[report.nodeid] += report.duration
        if report.failed and report.nodeid not in self._failed:
            self._failed[report.nodeid] = None
            self._say(f"FAILED  {alone(report.nodeid)}")
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            self._skipped.setdefault(reason, []).append(report.nodeid)
        if report.when == "teardown":
            self._waiting_s -= self._expected.get(report.nodeid, 0)
            self._show()

    def _show(self) -> None:
        """Show the line of progress, now and then."""
        now = time.monotonic()
        terminal = self._reporter.isatty
        if now - self._shown < (1 if terminal else _EVERY_S):
            return
        self._shown = now
        elapsed = now - self._started
        done = self._total_s - self._waiting_s
        left = elapsed * self._waiting_s / done if done else 0
        failed = f", {len(self._failed)} failed" if self._failed else ""
        line = (
            f"{len(self._taken)} of {len(self._expected)} tests in {clock(elapsed)}{failed}, "
            f"about {clock(left)} left"
        )
        if terminal:
            self._reporter.rewrite(line, erase=True)
        else:
            self._reporter.write_line(line)

    def _say(self, line: str) -> None:
        if self._reporter.isatty:
            self._reporter.rewrite("", erase=True)
            self._reporter.rewrite("")
        self._reporter.write_line(line)

    def pytest_sessionfinish(self) -> None:
        if self._reporter.isatty:
            self._reporter.rewrite("", erase=True)
        if self._cache is not None:
            self._cache.set(_DURATIONS, self._known | self._taken)

    def pytest_terminal_summary(self) -> None:
        if self._failed:
            self._reporter.section("each failed test alone")
            for nodeid in self._failed:
                self._reporter.write_line(alone(nodeid))
        with self._left_out.open("a", encoding="utf-8") as file:
            for reason, nodeids in sorted(self._skipped.items()):
                files = sorted({nodeid.partition("::")[0] for nodeid in nodeids})
                more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
                tests = "1 test" if len(nodeids) == 1 else f"{len(nodeids)} tests"
                file.write(f"{reason}: {tests} in {files[0]}{more}\n")


def alone(nodeid: str) -> str:
    """Return the command that runs one test alone."""
    return f".venv/bin/pytest {shlex.quote(nodeid)}"


def clock(seconds: float) -> str:
    whole_minutes, rest = divmod(round(seconds), 60)
    return f"{whole_minutes}:{rest:02}"
