"""Error messages for libraries that are not installed."""

from __future__ import annotations

from asara.installing import install_command

__all__ = ["missing"]


def missing(library: str, extra: str) -> ImportError:
    """Return the error for a failed import, with the extra that installs the library."""
    return ImportError(
        f"{library} is not installed; install the extra {extra!r}: {install_command(extra)}"
    )
