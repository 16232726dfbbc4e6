"""The limit on this process's open files, which include sockets, pipes and logs."""

from typing import Final

from asara_server.network.addresses import ServeError
from asara_server.referee.limits import LimitSettings

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

_OWN_FILES: Final = 80
"""Files that the program itself needs: libraries, journal, results, metrics, event loop, gRPC."""

_FILES_PER_CONNECTION: Final = 3
"""Files for a forwarded connection: the client's socket, and both ends of the one to the server."""


class OpenFilesError(ServeError):
    """Raised when the system permits fewer open files than a run may need."""

    status = 1


def raise_open_files_limit() -> int | None:
    """Raise the soft limit to the hard limit; return the new limit, or None if unlimited."""
    if resource is None:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return None if hard == resource.RLIM_INFINITY else hard


def require_open_files(
    limits: LimitSettings,
    *,
    processes: int,
    remote_bots: int | None = None,
    more: int = 0,
    remedy: str,
) -> None:
    """Raise the limit as far as possible; raise OpenFilesError if bots could still exceed it.

    The files suffice however bots and unknown clients behave. `processes` is the number of bot
    processes. `remote_bots` is the number of bots on other machines; None if they have no address
    to connect to. `more` files are for other purposes.
    """
    # A process needs the socket of its address, its connections, its output, its log, two files of
    # its control group, and memory files while it starts.
    needed = _OWN_FILES + more + processes * (limits.bot_connections + 8)
    if remote_bots is not None:
        connections = limits.unknown_connections + 2 * remote_bots
        needed += _FILES_PER_CONNECTION * connections + limits.handshakes_per_second
    limit = raise_open_files_limit()
    if limit is not None and limit < needed:
        raise OpenFilesError(
            f"the system lets this program open {limit} files, and the run may need {needed}: "
            f"raise the limit (ulimit -n {needed}), or {remedy}"
        )
