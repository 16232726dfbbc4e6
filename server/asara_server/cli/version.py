"""The output of `asara --version`, which the client alone can print as well."""

from importlib.metadata import version  # takes 20 ms
from importlib.util import find_spec


def version_line() -> str:
    """Return the name and version, and whether the rules in use are compiled."""
    module = find_spec("asara_game.engine")
    compiled = module is not None and not str(module.origin).endswith(".py")
    return f"asara {version('asara')}{' (compiled)' if compiled else ''}"
