"""Levels of cases: what a client may be expected to do."""

from enum import StrEnum


class Level(StrEnum):
    """What a case belongs to; each level includes those before it."""

    PROTOCOL = "protocol"
    """What `proto/README.md` says; any legal action passes."""
    CLIENT = "client"
    """What users of a client expect, as `clients/README.md` says; any legal action passes."""
    KIT = "kit"
    """What makes two clients interchangeable, as `clients/README.md` says: moves and files."""

    @property
    def page(self) -> str:
        """The page that demands the cases of this level."""
        return "proto/README.md" if self is Level.PROTOCOL else "clients/README.md"
