"""Cases of a test that only `scripts/test --all` runs, and how much of a simulation it runs."""

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

FIGURES: Final = bool(os.environ.get("ASARA_FIGURES"))
"""True if the tests print the figures of the documents: ASARA_FIGURES=1 pytest -s."""


def others_long(cases: Iterable[Any], every: int) -> list[Any]:
    """Mark the cases as long, except the first one and every `every`-th one after it.

    A case is one value, a tuple of values, or a `pytest.param`.
    """
    return [case if not n % every else _long(case) for n, case in enumerate(cases)]


def simulated(number: int, part: int = 10) -> int:
    """Return how many tournaments or duels to simulate: a part of the number for `FIGURES`."""
    return number if FIGURES else number // part


def _long(case: Any) -> Any:
    if hasattr(case, "marks"):  # a pytest.param
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.long])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
