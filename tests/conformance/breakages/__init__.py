"""Ways to break the Python client, one for each case, which replace parts of it."""

from tests.conformance.breakages import (  # noqa: F401 - they register their breakages
    connections,
    deals,
    files,
    later_versions,
    reconnection,
    refusals,
    rejections,
    settings,
    streams,
)
from tests.conformance.breakages.breakage import BREAKAGES as BREAKAGES
