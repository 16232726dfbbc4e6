"""Runs the randomised tests with new seeds, and adds failures to tests/found_cases.json."""

import argparse
import secrets
import sys
import time
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests import found_cases

ROOT = Path(__file__).parent.parent.parent
KINDS = "not languages and not browser and not compiled"
"""Marks of the tests to choose from, long tests included."""


class Fuzz:
    """A pytest plugin that runs the collected tests over and over."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.rounds = 0
        self.failed: dict[str, int] = {}
        """Failed tests with their seeds; a failed test does not run again."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        while True:
            items = [item for item in session.items if item.nodeid not in self.failed]
            if not items:
                return True
            for item, following in zip(items, [*items[1:], None], strict=True):
                if time.monotonic() >= self.until:
                    return True
                self._run(item, following)
            self.rounds += 1

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        assert isinstance(item, pytest.Function)
        seed = secrets.randbelow(2**31)
        with found_cases.drawing(item, seed):
            reports = runtestprotocol(item, log=False, nextitem=following)
        for report in reports:
            if report.failed:
                self.failed[item.nodeid] = seed
                found_cases.add(item.nodeid, seed)
                print(f"\n{item.nodeid}, seed {seed}\n{report.longreprtext}")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item for item in items if isinstance(item, pytest.Function) and found_cases.draws(item)
        ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="how long (10)")
    parser.add_argument(
        "targets", nargs="*", default=["tests"], metavar="TARGET", help="tests, as for pytest (all)"
    )
    options = parser.parse_args()
    fuzz = Fuzz(time.monotonic() + 60 * options.minutes)
    words = ["-q", "-p", "no:cacheprovider", "-n", "0", "-m", KINDS, *options.targets]
    status = pytest.main(words, [fuzz])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return int(status)
    print(f"\n{fuzz.rounds} rounds; {len(fuzz.failed)} tests failed")
    for test, seed in fuzz.failed.items():
        print(f"  {test}: seed {seed}; it is now a case of {found_cases.FILE.relative_to(ROOT)}")
    return int(bool(fuzz.failed))


if __name__ == "__main__":
    sys.exit(main())
