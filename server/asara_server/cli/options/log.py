"""The options --log-level and --log-format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options --log-level and --log-format."""

    level: str | None
    """Lowest level that the terminal shows; None shows nothing."""
    form: str
    """`console` or `json`."""
