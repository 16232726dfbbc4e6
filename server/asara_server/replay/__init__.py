"""Replays: a finished match as a file, holding all that is needed to play it again."""

from asara_server.replay.drive import Step, UnsoundError, drive, replay_match
from asara_server.replay.file import (
    ReplayFile,
    parse_file,
    parse_replay,
    read_replay,
    replay_bytes,
    replay_records,
    signed_bytes,
    write_file,
    write_replay,
)
from asara_server.replay.keys import KeyFileError, SigningKey, load_or_make_key
from asara_server.replay.records import Replay, ReplayError, ReplayHeader, replay_of
from asara_server.replay.show import show

__all__ = [
    "KeyFileError",
    "Replay",
    "ReplayError",
    "ReplayFile",
    "ReplayHeader",
    "SigningKey",
    "Step",
    "UnsoundError",
    "drive",
    "load_or_make_key",
    "parse_file",
    "parse_replay",
    "read_replay",
    "replay_bytes",
    "replay_match",
    "replay_of",
    "replay_records",
    "show",
    "signed_bytes",
    "write_file",
    "write_replay",
]
