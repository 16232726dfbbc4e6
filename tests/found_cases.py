"""Tests that draw, and the cases that `scripts/fuzz` found in them.

In the suite a test draws the same every time, and then repeats every case of `found_cases.json`. A
case is a test and a seed: everything that the test draws follows from the seed.
"""

import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

FILE: Final = Path(__file__).with_name("found_cases.json")
_IN_A_ROUND: Final = 20

_DRAWN: Final[list[int]] = []
"""The seed of `scripts/fuzz`, while it runs a test."""


def found(test: str) -> list[int]:
    """Return the seeds with which this test failed once."""
    return [case["seed"] for case in json.loads(FILE.read_text()) if case["test"] == test]


def add(test: str, seed: int) -> None:
    cases = json.loads(FILE.read_text())
    cases.append({"test": test, "seed": seed})
    FILE.write_text(json.dumps(cases, indent=1) + "\n")


def seeds(number: int) -> list[int]:
    """Return the seeds for a test that calls this, the first `number` and those of its cases."""
    if _DRAWN:
        return list(range(_DRAWN[0], _DRAWN[0] + _IN_A_ROUND))
    caller = inspect.stack()[1]
    path = Path(caller.filename).relative_to(FILE.parents[1]).as_posix()
    cases = [
        case["seed"]
        for case in json.loads(FILE.read_text())
        if case["test"].partition("[")[0] == f"{path}::{caller.function}"
    ]
    return [*range(number), *(seed + n for seed in cases for n in range(_IN_A_ROUND))]


def draws(test: pytest.Function) -> bool:
    """Return True if `scripts/fuzz` can have a test draw something else, in a short round."""
    if seeds.__name__ in test.function.__code__.co_names:
        return True
    return hasattr(test.function, "hypothesis") and test.get_closest_marker("long") is None


@contextmanager
def drawing(test: pytest.Function, seed: int) -> Iterator[None]:
    """Have a test draw what follows from this seed."""
    function: Any = test.function
    _DRAWN.append(seed)
    if hasattr(function, "hypothesis"):
        function._hypothesis_internal_use_seed = seed  # which hypothesis refuses of other tests
    try:
        yield
    finally:
        _DRAWN.clear()
        if hasattr(function, "hypothesis"):
            function._hypothesis_internal_use_seed = None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Repeat the cases of a hypothesis test after its own examples."""
    result = yield
    if not _DRAWN and hasattr(pyfuncitem.function, "hypothesis"):
        names = inspect.signature(pyfuncitem.function).parameters
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        for seed in found(pyfuncitem.nodeid):
            with drawing(pyfuncitem, seed):
                pyfuncitem.obj(**arguments)
    return result
