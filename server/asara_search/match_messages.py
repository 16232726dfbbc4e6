"""A match as far as a seat has received its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from asara.v1.play_pb2 import MatchStarted

__all__ = ["MatchMessages"]


class MatchMessages(Protocol):
    """All that worlds are made from: `asara.Match` has these members, and so has the sidecar's.

    Objects are compared by identity and can be referred to weakly.
    """

    @property
    def match_id(self) -> str: ...

    @property
    def seat(self) -> int: ...

    @property
    def started(self) -> MatchStarted: ...

    @property
    def messages(self) -> Sequence[bytes]:
        """The bytes of each PlayResponse of the match, in the order received; it only grows."""
        ...
