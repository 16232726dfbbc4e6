import pytest

from asara_server.cli.display import progress
from asara_server.cli.sessions import ask, bot_build, bot_check


@pytest.fixture(autouse=True)
def _no_progress_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in this process print no lines that only a busy machine sees."""
    monkeypatch.setattr(progress, "LINE_INTERVAL_S", 3600.0)
    monkeypatch.setattr(ask, "_NOTICE_S", 3600.0)
    monkeypatch.setattr(bot_build, "_SHOWN_S", 3600.0)
    monkeypatch.setattr(bot_build, "SLOW_INTERVAL_S", 3600.0)
    monkeypatch.setattr(bot_check, "SLOW_INTERVAL_S", 3600.0)
