from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

from tests.contract.client.scripted import ScriptedReferee


@pytest.fixture
def referee() -> Iterator[ScriptedReferee]:
    # Not tmp_path: the path of a unix socket holds about a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="asara") as directory:
        running = ScriptedReferee(f"unix:{directory}/socket")
        try:
            yield running
        finally:
            running.stop()


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ADDRESS", "TOKEN", "SEAT", "SEED", "CA", "TRANSCRIPT"):
        monkeypatch.delenv(f"ASARA_{name}", raising=False)
