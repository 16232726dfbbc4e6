"""Levels of cases: what can be expected of a client."""

from enum import StrEnum


class Level(StrEnum):
    """The level of a case; each level includes the levels before it."""

    PROTOCOL = "protocol"
    """What every bot must do, from `proto/README.md`; any legal action passes."""
    CLIENT = "client"
    """What users of a client expect, from `clients/behaviour.md`; any legal action passes."""
    KIT = "kit"
    """What makes clients interchangeable, from `clients/behaviour.md`: the same moves and files."""

    @property
    def page(self) -> str:
        """The page that defines the requirements of this level."""
        return "proto/README.md" if self is Level.PROTOCOL else "clients/behaviour.md"
