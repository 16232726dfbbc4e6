"""When the file of tokens is read again, and what is said if it cannot be."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from asara_server.tournament.config.token_store import TokenError
from asara_server.tournament.execution import remote_bots
from asara_server.tournament.execution.remote_bots import TokenWatcher


class File:
    """A path whose inode, size and time a test sets."""

    def __init__(self) -> None:
        self.found = SimpleNamespace(st_ino=1, st_size=2, st_ctime_ns=3)
        self.missing = False

    def __str__(self) -> str:
        return "tokens.toml"

    def stat(self) -> SimpleNamespace:
        if self.missing:
            raise FileNotFoundError
        return self.found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every reading of a file whose only token is valid."""
    found: list[object] = []

    def read(path: object) -> Any:
        found.append(path)
        return SimpleNamespace(tokens=[SimpleNamespace(sha256="aa", name="ann", revoked=None)])

    monkeypatch.setattr(remote_bots, "read_tokens", read)
    return found


@pytest.mark.parametrize("changed", ["st_ino", "st_size", "st_ctime_ns"])
def test_a_file_is_read_again_if_its_inode_size_or_time_is_another(
    reads: list[object], changed: str
) -> None:
    file = File()
    tokens = TokenWatcher(cast(Path, file))
    for _ in range(2):
        tokens.reload_if_changed()
    assert len(reads) == 1
    setattr(file.found, changed, 9)
    for _ in range(2):
        tokens.reload_if_changed()
    assert len(reads) == 2


@pytest.mark.usefixtures("reads")
def test_tokens_stay_valid_without_a_readable_file_and_the_log_says_why_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise TokenError("line 3: no token")

    file = File()
    tokens = TokenWatcher(cast(Path, file))
    tokens.reload_if_changed()
    with capture_logs() as logs:
        file.missing = True
        for _ in range(2):
            tokens.reload_if_changed()
        file.missing = False
        monkeypatch.setattr(remote_bots, "read_tokens", refuse)
        tokens.reload_if_changed()
    assert [(each["event"], each["log_level"], each["why"]) for each in logs] == [
        ("previous tokens stay valid", "warning", "tokens.toml: does not exist any more"),
        ("previous tokens stay valid", "warning", "line 3: no token"),
    ]
    assert tokens.name_of("aa") == "ann"
