"""Limits of the kernel that all bots of a user share are compared with what bots can use."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from asara_server.logs import logger
from asara_server.tournament.sandbox import kernel_limits
from asara_server.tournament.sandbox.kernel_limits import (
    warn_of_epoll_watches,
    warn_of_processes,
)
from asara_server.tournament.sandbox.machine_limits import Ceiling


@pytest.mark.parametrize(("bots", "warned"), [(1, False), (4, True)])
def test_bots_with_the_memory_to_use_up_all_epoll_watches_are_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bots: int, warned: bool
) -> None:
    (tmp_path / "watches").write_text("5000000\n")
    monkeypatch.setattr(kernel_limits, "_WATCHES", tmp_path / "watches")
    with capture_logs() as lines:
        warn_of_epoll_watches(bots, 256, logger("sandbox"))
    assert [line["epoll_watches"] for line in lines] == [5_000_000] * warned
    assert all("sysctl fs.epoll.max_user_watches=11710886" in line["remedy"] for line in lines)


def test_a_system_without_such_a_limit_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_limits, "_WATCHES", tmp_path / "none")
    with capture_logs() as lines:
        warn_of_epoll_watches(1_000, 1_024, logger("sandbox"))
    assert lines == []


@pytest.mark.parametrize(("bots", "warned"), [(3, False), (4, True)])
def test_bots_that_could_use_up_the_processes_of_their_user_are_reported(
    bots: int, warned: bool
) -> None:
    ceilings = {"processes": Ceiling(900, "pids.max", "echo {}", extra=4)}
    with capture_logs() as lines:
        warn_of_processes(bots, 256, ceilings, logger("sandbox"))
    assert [line["remedy"].split(",")[0] for line in lines] == ["echo 1044"] * warned
