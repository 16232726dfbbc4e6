"""The options -v and -q, which every command has."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How much of its log a command shows on the terminal."""

    verbose: int = 0
    """Number of times that -v is given."""

    @property
    def level(self) -> str | None:
        """Lowest level that the terminal shows; None shows nothing."""
        return (None, "info", "debug")[min(self.verbose, 2)]

    def after_output(self) -> Self:
        """Return the options of a command whose first -v shows what the bots print."""
        return replace(self, verbose=max(self.verbose - 1, 0))
