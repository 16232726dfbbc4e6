"""The output of `scripts/test`: how to run a failed test alone, and what was left out."""

import shlex
from pathlib import Path

import pytest

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
"""Typical seconds of a test; the first beginning of its name counts."""
_OTHERS_S = 0.1


def expected_s(nodeid: str) -> float:
    """Return the typical seconds of a test in its file."""
    return next((s for begin, s in _TYPICAL_S.items() if nodeid.startswith(begin)), _OTHERS_S)


class Summary:
    """A pytest plugin that lists failed tests with their commands, and writes down skipped ones."""

    def __init__(self, left_out: Path) -> None:
        self._left_out = left_out
        self._failed: dict[str, None] = {}
        self._skipped: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            self._skipped.setdefault(reason, []).append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._failed:
            terminalreporter.section("each failed test alone")
            for nodeid in self._failed:
                terminalreporter.write_line(f".venv/bin/pytest {shlex.quote(nodeid)}")
        with self._left_out.open("a", encoding="utf-8") as file:
            for reason, nodeids in sorted(self._skipped.items()):
                files = sorted({nodeid.partition("::")[0] for nodeid in nodeids})
                more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
                tests = "1 test" if len(nodeids) == 1 else f"{len(nodeids)} tests"
                file.write(f"{reason}: {tests} in {files[0]}{more}\n")
