"""The options -v and -q, which every command has."""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How much of the log a command shows on the terminal."""

    verbose: int = 0
    """How many times -v is given."""

    @property
    def level(self) -> str | None:
        """Lowest level shown on the terminal; None shows nothing."""
        return (None, "info", "debug")[min(self.verbose, 2)]

    def after_output(self) -> Self:
        """Return the options for a command whose first -v shows the bots' output, not more log."""
        return replace(self, verbose=max(self.verbose - 1, 0))
