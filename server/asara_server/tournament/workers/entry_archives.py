"""Files of entries for workers that do not share a file system with the runner.

A directory or a file becomes a tar archive that depends on its content only. The SHA-256 of the
archive, and of the paths to which its links may lead, is its name. A worker receives the archive in
parts, checks its hash, and unpacks it once in a folder of its own, where further runs find it as
well (see `build_output`). Nothing of the referee or of other entries is packed (see `own_files`).
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import Final, NamedTuple

from asara_server.tournament.bots.build_output import (
    ArchiveStream,
    BuildOutputError,
    OutputLimits,
    unpack_output,
)
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.filesystem_view import copy_source
from asara_server.tournament.sandbox.own_files import EntryFiles
from asara_server.tournament.sandbox.private_copy import CopySource, check_size, write_archive
from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.sandbox.system_mounts import system_paths

PART_BYTES: Final = 4 << 20
_FOLDER: Final = "asara-files"
_HEADER_BYTES: Final = 512
"""Bytes that each file and folder takes in an archive at least."""
_DISK_RATIO: Final = 9
"""Bytes of disk that one byte of an archive takes at most: a folder takes a block more."""


class ArchiveError(Exception):
    """Files cannot be sent; the text says of which entry, why, and what to do."""


class Archive(NamedTuple):
    """A packed directory or file."""

    sha256: str
    path: Path
    file: str
    """Name of the file that it holds; "" if it holds the content of a directory."""
    home: Path
    """Path of the directory in the sandbox."""
    readable: tuple[Path, ...] = ()
    """Paths outside the directory to which its links may lead."""


class Packer:
    """Packs the files of the entries of a run, each when it is needed first."""

    def __init__(self, entries: Sequence[Entry], limits: Limits, private: SandboxConfig) -> None:
        """No file in `private.hidden` is packed. See `Sandbox` for `private`."""
        self._limits = limits
        self._private = private
        self._entries = {entry.name: entry for entry in entries}
        self._files = EntryFiles(entries, hidden=private.hidden, shared=private.shared)
        self._folder = tempfile.TemporaryDirectory(prefix="asara-archives-")
        self._packed: dict[tuple[str, Path], Archive] = {}

    def directory(self, name: str, built: Path | None) -> Archive:
        """Return what a bot of an entry sees of its directory. Raises ArchiveError and OSError.

        `built` is the directory that its build has produced.
        """
        entry = self._entries[name]
        own = self._files.of(entry)
        source = copy_source(own, entry, self._private.hidden, self._limits, built).source
        outside = [path for _, path in source.pairs if not path.is_relative_to(entry.directory)]
        if outside:
            raise ArchiveError(
                f"entry {name}: its program {outside[0]} lies outside of its directory "
                f"{entry.directory}; set `directory` to a folder that holds it, or use a file "
                "system that all machines share"
            )
        try:
            check_size(source, self._limits.directory_mb)
        except OSError as error:
            raise ArchiveError(f"entry {name}: {error.strerror}") from None
        return self._pack(name, built or entry.directory, source, entry.directory)

    def readable(self, name: str, path: Path) -> Archive:
        """Return a `readable` path of an entry. Raises OSError."""
        source = CopySource(((path.resolve(), path),), frozenset(self._private.hidden))
        return self._pack(name, path, source, path if path.is_dir() else path.parent)

    def _pack(self, name: str, path: Path, source: CopySource, root: Path) -> Archive:
        key = name, path
        if key not in self._packed:
            number, part = tempfile.mkstemp(dir=self._folder.name)
            with os.fdopen(number, "wb") as file:
                write_archive(source, root, file)
            paths = self._entries[name].readable
            readable = tuple(one for path in paths for one in (path, path.resolve()))
            with Path(part).open("rb") as packed:
                digest = _digest(packed, root, readable)
            file_name = "" if path.is_dir() else path.name
            self._packed[key] = Archive(digest, Path(part), file_name, root, readable)
        return self._packed[key]

    def close(self) -> None:
        self._folder.cleanup()


class ArchiveStore:
    """The unpacked archives of a worker."""

    def __init__(self, directory: Path) -> None:
        """`directory` belongs to the worker and ends with it."""
        self._folder = directory / _FOLDER

    def has(self, sha256: str) -> bool:
        return (self._folder / sha256).is_dir()

    def place(self, sha256: str, file: str) -> Path:
        """Return the path of a directory, or of the file in it, that was unpacked."""
        return self._folder / sha256 / file if file else self._folder / sha256

    def add_part(self, sha256: str, offset: int, data: bytes) -> None:
        """Store a part of an archive. Raises OSError."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._archive(sha256)
        with path.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.truncate()
            file.write(data)

    def unpack(self, sha256: str, home: Path, readable: Sequence[Path] = ()) -> None:
        """Check an archive of which all parts are there, and unpack it.

        Raises ArchiveError if it is not what was sent, and OSError.
        """
        archive = self._archive(sha256)
        unpacked = self._folder / f"{sha256}.new"
        try:
            with archive.open("rb") as file:
                if _digest(file, home, readable) != sha256:
                    raise ArchiveError("files of an entry arrived changed; resume the run")
                size = file.seek(0, os.SEEK_END)
            members = size // _HEADER_BYTES
            limits = OutputLimits(_DISK_RATIO * size, files=members, depth=members)
            shutil.rmtree(unpacked, ignore_errors=True)
            with ArchiveStream(os.open(archive, os.O_RDONLY)) as stream:
                shown = (*system_paths(), *readable)
                unpack_output(stream, unpacked, limits, home=home, shown=shown)
            unpacked.rename(self._folder / sha256)
        except BuildOutputError as error:
            raise ArchiveError(f"files of an entry cannot be unpacked: what came {error}") from None
        finally:
            archive.unlink(missing_ok=True)

    def _archive(self, sha256: str) -> Path:
        return self._folder / f"{sha256}.tar"


def _digest(archive: BufferedReader, home: Path, readable: Sequence[Path]) -> str:
    """Return the hash of an archive and of the paths to which its links may lead."""
    paths = b"\0".join(map(os.fsencode, (home, *readable)))
    return hashlib.file_digest(archive, lambda: hashlib.sha256(paths + b"\0\0")).hexdigest()
