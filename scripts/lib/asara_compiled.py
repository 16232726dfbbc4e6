"""Lets Python find the compiled copy of server/ before the sources, while none of these is newer.

`scripts/compile` installs this in .venv, where it is imported whenever Python starts.
"""

import sys
from contextlib import suppress
from pathlib import Path


def _use_compiled() -> None:
    packages = Path(__file__).parent
    copy = Path(sys.prefix) / "compiled"
    sources = copy.parent.parent / "server"
    made = copy.stat().st_mtime
    if all(file.stat().st_mtime <= made for file in sources.rglob("*.py")):
        sys.path.insert(sys.path.index(str(packages)), str(copy))


with suppress(OSError, ValueError):  # half removed, or another Python: the sources do as well
    _use_compiled()
