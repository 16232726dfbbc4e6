"""The address space that the program may use, which `ulimit -v` limits.

Beyond the limit, any library may fail at any point with its own message, and threads do not start.
"""

from typing import Final

from asara_server.cli.errors import UserError

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

_NEEDED_MB: Final = 2_048
"""On two cores, a tournament uses half of this. Libraries reserve more for each further core."""


def check_address_space() -> None:
    """Raise UserError if the program may use less address space than it needs."""
    if resource is None:
        return
    permitted = resource.getrlimit(resource.RLIMIT_AS)[0]
    if permitted != resource.RLIM_INFINITY and permitted < _NEEDED_MB << 20:
        raise UserError(
            f"`ulimit -v` permits {permitted >> 20:,} MiB of address space, and asara needs "
            f"{_NEEDED_MB:,}; raise it in this shell by `sudo prlimit --pid $$ --as=unlimited`"
        )
