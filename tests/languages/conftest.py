"""Lines that tests add to the summary of the run."""

from collections.abc import Callable

import pytest

_FOUND = "found"


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Return a function that adds a line to the summary of the run."""
    return lambda line: record_property(_FOUND, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        str(line)
        for report in terminalreporter.getreports("passed")
        for name, line in report.user_properties
        if name == _FOUND
    ]
    if lines:
        terminalreporter.section("counted")
        for line in lines:
            terminalreporter.write_line(line)
