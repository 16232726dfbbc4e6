"""`asara bundle`: a zip file for the author of each entry of a run."""

from dataclasses import dataclass
from typing import ClassVar

from asara_server.cli.options.common import RunDirectoryArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Write a zip file for the author of each entry.

    Each zip file in DIR/bundles contains one entry's output and the replays of its matches, but
    nothing that other bots printed. The run must be stopped or finished.
    """

    session: ClassVar = "exports:write_bundles"

    directory: RunDirectoryArgument
