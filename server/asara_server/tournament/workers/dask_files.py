"""Sends the files of entries to cluster workers that do not share them with the runner.

A worker recognises a shared file or directory by its inode and modification time. All other files
are sent as tar archives that depend only on their content. Each archive's name is the SHA-256 of
the archive and of the paths to which its links may lead. A worker receives each archive once, in
parts, checks its hash, and unpacks it in its own folder, where later runs find it too (see
`build_output`). Files of the referee or of other entries are never packed (see `own_files`).
"""

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asara_server.tournament.bots.build.build_output import (
    ArchiveStream,
    BuildOutputError,
    OutputLimits,
    unpack_output,
)
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.sandbox.own_files import EntryFiles
from asara_server.tournament.sandbox.private_copy import CopySource, check_size, write_archive
from asara_server.tournament.sandbox.spec import ReservedPaths
from asara_server.tournament.sandbox.system_mounts import system_paths
from asara_server.tournament.schedule.match_settings import MatchSettings, ReadableCopy
from asara_server.tournament.workers.block_job import RunSettings, WorkerError
from asara_server.tournament.workers.block_player import use_files

PART_BYTES: Final = 4 << 20
_FOLDER: Final = "asara-files"
_HEADER_BYTES: Final = 512
"""Minimum bytes that each file and folder takes in an archive."""
_DISK_RATIO: Final = 9
"""Maximum disk bytes per archive byte: a folder takes an additional block."""


class Archive(NamedTuple):
    """A packed directory or file."""

    sha256: str
    path: Path
    file: str
    """Name of the file in the archive; "" if the archive holds the content of a directory."""
    home: Path
    """Path of the directory in the sandbox."""
    readable: tuple[Path, ...]
    """Paths outside the directory to which links in the archive may lead."""
    target: Path
    """The packed path on the runner's machine, with all links resolved."""


class Packer:
    """Packs the files of a run's entries, each when it is first needed."""

    def __init__(self, settings: MatchSettings, private: ReservedPaths) -> None:
        """Files in `private.hidden` are never packed."""
        self._settings = settings
        self._private = private
        self._files = EntryFiles(settings.entries, private, settings.limits)
        self._folder = tempfile.TemporaryDirectory(prefix="asara-archives-")
        self._packed: dict[tuple[str, Path], Archive] = {}

    def pack(self, name: str, path: Path) -> Archive:
        """Pack the directory of an entry, or one of its `readable` paths.

        Raises WorkerError and OSError.
        """
        key = name, path
        if key not in self._packed:
            entry = self._settings.entry(name)
            if path == self._settings.directory(entry):
                source, root = self._directory(entry), entry.directory
            else:
                source = CopySource(((path.resolve(), path),), frozenset(self._private.hidden))
                root = path if path.is_dir() else path.parent
            number, part = tempfile.mkstemp(dir=self._folder.name)
            with os.fdopen(number, "wb") as file:
                write_archive(source, root, file)
            readable = tuple(one for path in entry.readable for one in (path, path.resolve()))
            with Path(part).open("rb") as packed:
                digest = _digest(packed, root, readable)
            file_name = "" if path.is_dir() else path.name
            self._packed[key] = Archive(
                digest, Path(part), file_name, root, readable, path.resolve()
            )
        return self._packed[key]

    def _directory(self, entry: Entry) -> CopySource:
        """Return the part of an entry's directory that its bots see."""
        built = self._settings.build_directories.get(entry.name)
        source = self._files.of(entry, built).source
        outside = [path for _, path in source.pairs if not path.is_relative_to(entry.directory)]
        if outside:
            raise WorkerError(
                f"entry {entry.name}: its program {outside[0]} is outside of its folder "
                f"{entry.directory}; set `directory` to a folder that holds it, or use a file "
                "system that all machines share"
            )
        try:
            check_size(source, self._settings.limits.directory_mib)
        except OSError as error:
            raise WorkerError(f"entry {entry.name}: {error.strerror}") from None
        return source

    def close(self) -> None:
        self._folder.cleanup()


class ArchiveStore:
    """The archives that a worker has unpacked."""

    def __init__(self, directory: Path) -> None:
        """`directory` belongs to the worker and is removed with it."""
        self._folder = directory / _FOLDER

    def has(self, sha256: str) -> bool:
        return (self._folder / sha256).is_dir()

    def place(self, archive: Archive) -> Path:
        """Return the path of an unpacked directory, or of the file in it."""
        return self._folder / archive.sha256 / archive.file

    def add_part(self, sha256: str, offset: int, data: bytes) -> None:
        """Store a part of an archive. Raises OSError."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._archive(sha256)
        with path.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.truncate()
            file.write(data)

    def unpack(self, sha256: str, home: Path, readable: Sequence[Path] = ()) -> None:
        """Check an archive whose parts have all arrived, and unpack it.

        Raises WorkerError if the archive differs from what was sent, and OSError.
        """
        archive = self._archive(sha256)
        unpacked = self._folder / f"{sha256}.new"
        try:
            with archive.open("rb") as file:
                if _digest(file, home, readable) != sha256:
                    raise WorkerError("files of an entry arrived changed; resume the run")
                size = file.seek(0, os.SEEK_END)
            members = size // _HEADER_BYTES
            limits = OutputLimits(_DISK_RATIO * size, files=members, depth=members)
            shutil.rmtree(unpacked, ignore_errors=True)
            with ArchiveStream(os.open(archive, os.O_RDONLY)) as stream:
                shown = (*system_paths(), *readable)
                unpack_output(stream, unpacked, limits, home=home, shown=shown)
            unpacked.rename(self._folder / sha256)
        except BuildOutputError as error:
            raise WorkerError(f"files of an entry cannot be unpacked: what came {error}") from None
        finally:
            archive.unlink(missing_ok=True)

    def _archive(self, sha256: str) -> Path:
        return self._folder / f"{sha256}.tar"


def _digest(archive: BufferedReader, home: Path, readable: Sequence[Path]) -> str:
    """Return the hash of an archive and of the paths to which its links may lead."""
    paths = b"\0".join(map(os.fsencode, (home, *readable)))
    return hashlib.file_digest(archive, lambda: hashlib.sha256(paths + b"\0\0")).hexdigest()


if TYPE_CHECKING:
    from distributed import Client, Worker

_SHARE: Final = "use a file system that all machines share, at the same path"


class FileSender:
    """Sends the files of one run. Its methods wait for the scheduler."""

    def __init__(self, client: "Client", settings: RunSettings, private: ReservedPaths) -> None:
        """No worker receives anything in `private.hidden`."""
        self._client = client
        self._settings = settings
        reserved = settings.reserved or ReservedPaths()
        hidden, shared = (one + other for one, other in zip(private, reserved, strict=True))
        self._packer = Packer(settings.match_settings, ReservedPaths(hidden, shared))

    def send(self, workers: list[str]) -> set[str]:
        """Send these workers the files that they lack; return the workers that now have all files.

        Raises WorkerError if sending is impossible, and OSError if the scheduler is gone.
        """
        settings = self._settings
        ours = settings.marks()
        theirs = self._run(settings.marks, workers)
        lacking = {
            worker: [
                path
                for path, mark, found in zip(settings.paths, ours, marks, strict=True)
                if found != mark
            ]
            for worker, marks in theirs.items()
        }
        ready = set()
        for worker, paths in lacking.items():
            if not paths or self._send_to(worker, paths):
                ready.add(worker)
        return ready

    def _send_to(self, worker: str, paths: list[tuple[str, Path]]) -> bool:
        """Send these paths, each with its entry, to a worker; return False if it has died."""
        settings = self._settings.match_settings
        archives: dict[tuple[str, Path], Archive] = {}
        try:
            for name, path in paths:
                own = path == settings.directory(settings.entry(name))
                if not own and self._settings.reserved is None:
                    raise WorkerError(
                        f"entry {name}: {path} is not there; without a sandbox, bots find "
                        f"`readable` paths only on a shared file system: {_SHARE}, or contain them"
                    )
                archives[name, path] = self._packer.pack(name, path)
        except (WorkerError, OSError) as error:
            raise WorkerError(f"worker {worker}: {error}") from None
        return all(self._send_archive(worker, one) for one in {*archives.values()}) and (
            worker in self._run(partial(_use_archives, self._settings.run_id, archives), [worker])
        )

    def _send_archive(self, worker: str, archive: Archive) -> bool:
        digest = archive.sha256
        has = self._run(partial(_in_store, ArchiveStore.has, digest), [worker])
        if worker not in has:
            return False
        if has[worker]:
            return True
        with archive.path.open("rb") as file:
            offset = 0
            while data := file.read(PART_BYTES):
                add_part = partial(_in_store, ArchiveStore.add_part, digest, offset, data)
                if worker not in self._run(add_part, [worker]):
                    return False
                offset += len(data)
        unpack = partial(_in_store, ArchiveStore.unpack, digest, archive.home, archive.readable)
        return worker in self._run(unpack, [worker])

    def _run(self, function: Any, workers: list[str]) -> dict[str, Any]:
        return ask_workers(self._client, function, workers) if workers else {}

    def close(self) -> None:
        self._packer.close()


def ask_workers(client: "Client", function: Any, workers: list[str] | None) -> dict[str, Any]:
    """Call a function on these workers, or on all, and return the living workers' answers.

    A worker that dies during the call has no answer. Raises WorkerError if the function failed on a
    worker, and OSError if the scheduler is gone.
    """
    answers: dict[str, Any] = client.run(function, workers=workers, on_error="return")
    lines = [
        f"worker {worker}: {_what_failed(answer)}"
        for worker, answer in sorted(answers.items())
        if isinstance(answer, Exception) and not _has_died(answer)
    ]
    if lines:
        raise WorkerError("\n".join(lines))
    return {
        worker: answer for worker, answer in answers.items() if not isinstance(answer, Exception)
    }


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _what_failed(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: install the same version of asara there"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return first_line(error)


def _has_died(error: Exception) -> bool:
    """Return True for a connection error, which, unlike a file error, has no file name."""
    return isinstance(error, OSError) and not error.filename and error.errno is None


# On a worker


def _store(worker: "Worker") -> ArchiveStore:
    return ArchiveStore(Path(worker.local_directory).resolve())


async def _in_store(
    method: Callable[..., object], *arguments: object, dask_worker: "Worker"
) -> object:
    return await asyncio.to_thread(method, _store(dask_worker), *arguments)


def _use_archives(
    run_id: str, archives: dict[tuple[str, Path], Archive], *, dask_worker: "Worker"
) -> None:
    store = _store(dask_worker)
    use_files(
        run_id,
        {key: ReadableCopy(store.place(one), one.target) for key, one in archives.items()},
    )
