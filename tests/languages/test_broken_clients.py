"""Every case of `asara conformance` is failed by a client that is broken in exactly that way."""

import asyncio
from collections.abc import Callable

import pytest

from asara_server.conformance.case import Case
from asara_server.conformance.runner import play_case
from asara_server.conformance.verdict import CaseResult, Verdict
from tests.conformance.test_cases import CASES, broken_client

pytestmark = pytest.mark.languages

_AT_ONCE = 6


def test_every_broken_client_fails_its_case(report: Callable[[str], None]) -> None:
    results = asyncio.run(_play_each(CASES))
    passed = [result.case.name for result in results if result.verdict is Verdict.PASSED]
    report(f"{len(CASES)} cases; {len(CASES) - len(passed)} negative clients fail theirs")
    assert passed == []


async def _play_each(cases: list[Case]) -> list[CaseResult]:
    """Play each case with its own broken client, side by side."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def play(case: Case) -> CaseResult:
        if case.waits:
            return await play_case(case, broken_client(case.name))
        async with places:
            return await play_case(case, broken_client(case.name))

    return await asyncio.gather(*map(play, cases))
