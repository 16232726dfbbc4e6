"""Replays: a finished match as a file, holding all that is needed to play it again."""

from asara_server.replay.records import (
    ForfeitRecord,
    MoveRecord,
    Record,
    RejectionRecord,
    Replay,
    ReplayHeader,
)

__all__ = [
    "ForfeitRecord",
    "MoveRecord",
    "Record",
    "RejectionRecord",
    "Replay",
    "ReplayHeader",
]
