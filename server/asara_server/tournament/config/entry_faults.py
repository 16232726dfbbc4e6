"""Handles faults of a single entry: the fault is reported, and the other entries play."""

from asara_server.logs import logger


def fault_text(error: Exception) -> str:
    """Describe an exception: the system's own message, or the exception's type and text."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def entry_fault(entry: str, doing: str, error: Exception) -> str:
    """Log an exception caused by one entry, with its place, and return a sentence about it."""
    logger("runner").error("entry failed", entry=entry, doing=doing, exc_info=error)
    return f"{doing}: {fault_text(error)}"
