"""A referee that fails in a match."""

import pytest

from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.referee import Referee


def fail_once(monkeypatch: pytest.MonkeyPatch) -> list[MatchSpec]:
    """Make the first match void. Return a list that collects the matches that are to be played."""
    really_play = Referee.play
    asked: list[MatchSpec] = []

    async def play(self: Referee, spec: MatchSpec) -> MatchRecord:
        asked.append(spec)
        if len(asked) > 1:
            return await really_play(self, spec)
        return MatchRecord(
            ends=(),
            records=(),
            started_unix_ms=0,
            duration_us=1,
            void_reason="the referee failed",
        )

    monkeypatch.setattr(Referee, "play", play)
    return asked
