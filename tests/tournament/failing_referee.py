"""A referee that fails, as the one of a run may."""

import pytest

from asara_server.match.inputs import StartRecord
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee


def fail_once(monkeypatch: pytest.MonkeyPatch) -> list[MatchSpec]:
    """Let the first match be void; the matches that referees are asked to play, as they are."""
    really_play = Referee.play
    asked: list[MatchSpec] = []

    async def play(self: Referee, spec: MatchSpec) -> MatchRecord:
        asked.append(spec)
        if len(asked) > 1:
            return await really_play(self, spec)
        return MatchRecord(
            spec,
            results=(),
            records=(StartRecord((), ()),),
            events=(),
            void=True,
            digests=(),
            limits=LimitSettings().match_limits,
            started_unix_ms=0,
            duration_us=1,
        )

    monkeypatch.setattr(Referee, "play", play)
    return asked
