"""The messages of a match that a seat has received so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from asara.v1.play_pb2 import MatchStarted

__all__ = ["MatchMessages"]


class MatchMessages(Protocol):
    """The members that worlds are made from; `asara.Match` and the sidecar's matches have them.

    Objects are compared by identity and support weak references.
    """

    @property
    def match_id(self) -> str: ...

    @property
    def seat(self) -> int: ...

    @property
    def started(self) -> MatchStarted: ...

    @property
    def messages(self) -> Sequence[bytes]:
        """The bytes of each PlayResponse, in the order received; the list only grows."""
        ...
