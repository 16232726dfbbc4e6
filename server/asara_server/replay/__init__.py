"""Replays: a finished match as a file, holding all that is needed to play it again."""

from asara_server.replay.drive import Step, replay_match
from asara_server.replay.file import parse_replay, read_replay, replay_bytes, write_replay
from asara_server.replay.records import (
    ForfeitRecord,
    MoveRecord,
    Record,
    RejectionRecord,
    Replay,
    ReplayError,
    ReplayHeader,
)
from asara_server.replay.show import show

__all__ = [
    "ForfeitRecord",
    "MoveRecord",
    "Record",
    "RejectionRecord",
    "Replay",
    "ReplayError",
    "ReplayHeader",
    "Step",
    "parse_replay",
    "read_replay",
    "replay_bytes",
    "replay_match",
    "show",
    "write_replay",
]
