"""One entry never ends a run: what goes wrong with it is said of it, and the others play."""

from asara_server.logs import logger


def fault_text(error: Exception) -> str:
    """Return in words what went wrong: the system's own, or the kind of the exception with its."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def entry_fault(entry: str, doing: str, error: Exception) -> str:
    """Log an exception that came from one entry, with its place, and return a sentence about it."""
    logger("runner").error("entry failed", entry=entry, doing=doing, exc_info=error)
    return f"{doing}: {fault_text(error)}"
