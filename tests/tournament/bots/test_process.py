import asyncio
import gc
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from asara_server.tournament.bots.output import OutputLog
from asara_server.tournament.bots.process import BotProcess, bot_environment
from asara_server.tournament.sandbox.bubblewrap import SandboxSpec
from tests.network.sockets import open_files
from tests.tournament.sandbox.contained import LIMITS
from tests.tournament.sandbox_config import sandbox_or_skip


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    return bot_environment(settings or {}, address="unix:/a", token="t0ken", seed=7)


def test_bots_inherit_nothing_of_the_organiser_but_what_programs_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("ASARA_TOKEN", "the organiser's")
    monkeypatch.setenv("LANG", "C.UTF-8")
    found = bot_environment({"LEVEL": "3"}, address="unix:/a", token="t", seed=7, seat=2)
    assert found.pop("PATH").split(os.pathsep)[0] == str(Path(sys.executable).parent)
    for name in ("HOME", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER"):
        found.pop(name, None)
    assert found == {
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "LEVEL": "3",
        "ASARA_ADDRESS": "unix:/a",
        "ASARA_TOKEN": "t",
        "ASARA_SEED": "7",
        "ASARA_SEAT": "2",
    }
    assert "ASARA_SEAT" not in environment()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("word", "value", "contained"),
    [("\0", "", False), ("", "\ud800", True)],
    ids=["command", "environment"],
)
def test_a_start_that_fails_in_any_way_leaves_no_descriptor(
    tmp_path: Path, word: str, value: str, contained: bool
) -> None:
    sandbox = SandboxSpec(sandbox_or_skip(), LIMITS, tmp_path) if contained else None
    # In this process, others may open and close descriptors meanwhile.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        first, second = (
            alone.submit(open_after_a_failed_start, tmp_path, word, value, sandbox).result()
            for _ in range(2)
        )
    assert second == first


def open_after_a_failed_start(
    folder: Path, word: str, value: str, sandbox: SandboxSpec | None
) -> int:
    async def scenario() -> int:
        log = OutputLog(folder / "bot.log", 1000)
        command, variables = ("python", word), environment({"VALUE": value})
        with pytest.raises(ValueError, match=r"null byte|surrogates"):
            await BotProcess.start(command, folder, variables, log, sandbox)
        log.close()
        gc.collect()
        return open_files()

    return asyncio.run(scenario())
