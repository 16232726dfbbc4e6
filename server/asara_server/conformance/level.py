"""Levels of cases: what a client may be expected to do."""

from enum import StrEnum


class Level(StrEnum):
    """What a case belongs to; each level includes those before it."""

    PROTOCOL = "protocol"
    """What every bot must do, from `proto/README.md`; any legal action passes."""
    CLIENT = "client"
    """What users of a client expect, from `clients/behaviour.md`; any legal action passes."""
    KIT = "kit"
    """What makes two clients interchangeable, from `clients/behaviour.md`: moves and files."""

    @property
    def page(self) -> str:
        """The page that demands the cases of this level."""
        return "proto/README.md" if self is Level.PROTOCOL else "clients/behaviour.md"
