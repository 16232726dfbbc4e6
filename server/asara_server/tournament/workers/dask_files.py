"""Sends the files of entries to the workers of a cluster that do not share them with the runner.

A worker recognises a shared file or directory by its inode and its time. All others are sent by
hash, each once to a worker.
"""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asara_server.tournament.sandbox.filesystem_view import ReadableCopy
from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.workers.backend import WorkerError
from asara_server.tournament.workers.block_job import RunSettings
from asara_server.tournament.workers.block_player import use_files
from asara_server.tournament.workers.entry_archives import (
    PART_BYTES,
    Archive,
    ArchiveError,
    ArchiveStore,
    Packer,
)

if TYPE_CHECKING:
    from distributed import Client, Worker

_SHARE: Final = "use a file system that all machines share, at the same path"


class FileSender:
    """Sends the files of one run. Its methods wait for the scheduler."""

    def __init__(self, client: "Client", settings: RunSettings, private: SandboxConfig) -> None:
        """`private` are paths that no worker gets; see `Sandbox`."""
        self._client = client
        self._settings = settings
        config = settings.requirements.sandbox_config or SandboxConfig((), ())
        every = SandboxConfig((*private.hidden, *config.hidden), (*private.shared, *config.shared))
        played = settings.match_settings
        self._packer = Packer(played.entries, played.limits, every)

    def send(self, workers: list[str]) -> set[str]:
        """Give these workers the files that they lack; return those that have all now.

        Raises WorkerError if that is impossible, and OSError if the scheduler has gone.
        """
        requirements = self._settings.requirements
        ours = requirements.marks()
        theirs = self._run(requirements.marks, workers)
        lacking = {
            worker: [
                path
                for path, mark, found in zip(requirements.paths, ours, marks, strict=True)
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
        """Send these paths, each with its entry, to a worker; False if it has died meanwhile."""
        played = self._settings.match_settings
        directories: dict[str, Archive] = {}
        readable_copies: dict[Path, tuple[Archive, Path]] = {}
        entries = {entry.name: entry for entry in played.entries}
        try:
            for name, path in paths:
                built = played.build_directories.get(name)
                if path == (built or entries[name].directory):
                    directories[name] = self._packer.directory(name, built)
                elif self._settings.requirements.sandbox_config is None:
                    raise ArchiveError(
                        f"entry {name}: {path} is not there; without a sandbox, bots find "
                        f"`readable` paths only on a shared file system: {_SHARE}, or contain them"
                    )
                else:
                    readable_copies[path] = self._packer.readable(name, path), path.resolve()
        except (ArchiveError, OSError) as error:
            raise WorkerError(f"worker {worker}: {error}") from None
        for archive in {
            *directories.values(),
            *(archive for archive, _ in readable_copies.values()),
        }:
            if not self._send_archive(worker, archive):
                return False
        answer = self._run(
            partial(_use_archives, self._settings.run_id, directories, readable_copies), [worker]
        )
        return worker in answer

    def _send_archive(self, worker: str, archive: Archive) -> bool:
        digest = archive.sha256
        has = self._run(partial(_has_archive, digest), [worker])
        if worker not in has:
            return False
        if has[worker]:
            return True
        with archive.path.open("rb") as file:
            offset = 0
            while data := file.read(PART_BYTES):
                if worker not in self._run(partial(_add_part, digest, offset, data), [worker]):
                    return False
                offset += len(data)
        return worker in self._run(
            partial(_unpack, digest, archive.home, archive.readable), [worker]
        )

    def _run(self, function: Any, workers: list[str]) -> dict[str, Any]:
        return ask_workers(self._client, function, workers) if workers else {}

    def close(self) -> None:
        self._packer.close()


def ask_workers(client: "Client", function: Any, workers: list[str] | None) -> dict[str, Any]:
    """Call a function on these workers, or on all, and return the answers of those that live.

    A worker that dies meanwhile has no answer. Raises WorkerError if the function failed on a
    worker, and OSError if the scheduler has gone.
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
    """Return True for the error of a connection, which has no file."""
    return isinstance(error, OSError) and not error.filename and error.errno is None


# On a worker


def _store(worker: "Worker") -> ArchiveStore:
    return ArchiveStore(Path(worker.local_directory).resolve())


def _has_archive(sha256: str, *, dask_worker: "Worker") -> bool:
    return _store(dask_worker).has(sha256)


def _add_part(sha256: str, offset: int, data: bytes, *, dask_worker: "Worker") -> None:
    _store(dask_worker).add_part(sha256, offset, data)


async def _unpack(
    sha256: str, home: Path, readable: tuple[Path, ...], *, dask_worker: "Worker"
) -> None:
    await asyncio.to_thread(_store(dask_worker).unpack, sha256, home, readable)


def _use_archives(
    run_id: str,
    directories: dict[str, Archive],
    readable_copies: dict[Path, tuple[Archive, Path]],
    *,
    dask_worker: "Worker",
) -> None:
    store = _store(dask_worker)
    use_files(
        run_id,
        {name: store.place(one.sha256, one.file) for name, one in directories.items()},
        {
            path: ReadableCopy(store.place(one.sha256, one.file), target)
            for path, (one, target) in readable_copies.items()
        },
    )
