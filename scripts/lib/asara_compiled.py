"""Lets Python find the compiled copy of server/ first, unless a source file is newer.

`scripts/compile` installs this module in .venv, where it is imported whenever Python starts. It
checks the sources when one of their packages is first imported, which most bots never do.
"""

import sys


class _Finder:
    """Finds nothing itself: adds the compiled copy to the path before other finders search."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name in {"asara_codec", "asara_env", "asara_game", "asara_search", "asara_server"}:
            sys.meta_path.remove(_Finder)
            _use_compiled()


def _use_compiled() -> None:
    from contextlib import suppress
    from pathlib import Path

    packages = Path(__file__).parent
    copy = Path(sys.prefix) / "compiled"
    sources = copy.parent.parent / "server"
    with suppress(OSError, ValueError):  # incomplete, or for another Python: use the sources
        made = copy.stat().st_mtime
        new = any(file.stat().st_mtime > made for file in sources.rglob("*.py"))
        if not new and str(copy) not in sys.path:
            sys.path.insert(sys.path.index(str(packages)), str(copy))


sys.meta_path.insert(0, _Finder)
