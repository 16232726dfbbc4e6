"""Loads files that bots share into the kernel's cache before the first bot reads them.

What a bot has loaded first is dropped from the cache when it ends (see `Cgroup.empty_caches`), so
that it leaves no marks there. Large files that all bots of an entry read would then come from the
disk at every start. Loaded by this process, they stay.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

_MAX_BYTES: Final = 4 << 30
"""Bytes loaded of one path, which may be a directory."""
_SYSTEM_FOLDERS: Final = frozenset(map(Path, ("/", "/usr", "/usr/local")))


def load_program(word: str, search_path: str) -> None:
    """Load the program that the first word of a command names, and the libraries beside it.

    The interpreter of this process is loaded already, with the modules that bots import.
    """
    found = shutil.which(word, path=search_path)
    if found is None:
        return
    program = Path(found).resolve()
    if program == Path(sys.executable).resolve():
        return
    load(program)
    home = program.parent.parent
    if program.parent.name == "bin" and home not in _SYSTEM_FOLDERS:
        load(home / "lib")


@cache
def load(path: Path) -> None:
    """Load a file, or all files of a directory, once in this process."""
    left = _MAX_BYTES
    for file in _files(path):
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                left -= os.fstat(descriptor).st_size
                if left < 0:
                    return
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        for name in names:
            yield Path(folder, name)
