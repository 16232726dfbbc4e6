"""Private copies of an entry's files, in memory.

If two processes read one file, they share its pages in the kernel's cache, its inode and its locks,
and can tell each other about hidden cards through them, as can one bot in two matches that share a
deal. So every process of a bot gets a copy of its entry's files of its own: directories in a file
system in memory, into which an archive is unpacked before the program starts. The archive is
written once and read by every start, so that a start walks no directory.
"""

import errno
import io
import os
import stat
import tarfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from asara_server.tournament.sandbox.spec import MIB, CopiedFile, PrivateCopy

_PAGE: Final = 4096
MAX_FILES: Final = 100_000
_SEALS: Final = 0x1 | 0x2 | 0x4 | 0x8
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE."""
_ADD_SEALS: Final = 1033
_FIRST_DESCRIPTOR: Final = 10
"""The shell that starts a bot uses lower ones."""


class CopyTooLargeError(OSError):
    """An entry's files exceed the limit of private copies; `strerror` says what to do."""

    def __init__(self, what: str) -> None:
        super().__init__(
            errno.EFBIG,
            f"its directory {what}; every bot gets a copy of it in memory, so name large files and "
            "directories that its bots only read as `readable`",
        )


@dataclass(frozen=True, slots=True)
class _Member:
    """A file, directory or link to be copied."""

    source: Path
    target: Path
    """Its path in the sandbox."""
    stat: os.stat_result


def copy_into_memory(
    paths: Iterable[tuple[Path, Path]], excluded: Iterable[Path], limit_mb: int
) -> PrivateCopy:
    """Read files and directories, each given as its path on this machine and in the sandbox.

    Links are copied as links. `excluded` paths, of either kind, are left out, and so are devices,
    pipes, sockets and files that this process may not read. Raises CopyTooLargeError.
    """
    directories: list[Path] = []
    files: list[CopiedFile] = []
    descriptors: list[int] = []
    pairs = tuple(paths)
    members = _bounded(_members(pairs, frozenset(excluded)), limit_mb)
    try:
        for source, target in pairs:
            if source.is_dir():
                directories.append(target)
            elif (content := _open_regular(source)) is not None:
                with content:
                    mode = stat.S_IMODE(os.fstat(content.fileno()).st_mode) & 0o777
                    descriptor = memory_file(content.read())
                descriptors.append(descriptor)
                files.append(CopiedFile(target, mode, descriptor))
        archive = None
        if directories:
            alone = {file.path for file in files}
            archive = _archive(member for member in members if member.target not in alone)
            descriptors.append(archive)
    except BaseException:
        _close_all(descriptors)
        raise
    size, largest = _memory_needed(members)
    copy = PrivateCopy(tuple(directories), tuple(files), archive, size, largest)
    weakref.finalize(copy, _close_all, descriptors)
    return copy


def check_size(paths: Iterable[tuple[Path, Path]], excluded: Iterable[Path], limit_mb: int) -> None:
    """Raise CopyTooLargeError if these paths cannot be copied."""
    _bounded(_members(tuple(paths), frozenset(excluded)), limit_mb)


class PrivateCopies:
    """The private copies of the entries of a run, each read when it is needed first."""

    def __init__(self) -> None:
        self._copies: dict[tuple[tuple[Path, Path], ...], PrivateCopy] = {}
        self._lock = threading.Lock()

    def get(
        self, paths: Sequence[tuple[Path, Path]], excluded: Iterable[Path], limit_mb: int
    ) -> PrivateCopy:
        """Return the copy of these paths; see `copy_into_memory`. Any thread may call it."""
        key = tuple(paths)
        with self._lock:
            if key not in self._copies:
                self._copies[key] = copy_into_memory(key, excluded, limit_mb)
            return self._copies[key]

    def close(self) -> None:
        """Release the copies; those that a process still starts from stay open until it has."""
        with self._lock:
            self._copies.clear()


def memory_file(data: bytes) -> int:
    """Return the descriptor of a file in memory that holds these bytes."""
    with io.FileIO(os.memfd_create("asara", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "r+") as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        file.seek(0)
        return duplicate(file.fileno())


def duplicate(descriptor: int) -> int:
    """Return another descriptor of an open file, above those that the starting shell uses."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)


def reopened(descriptor: int) -> int:
    """Open a file in memory once more, for reading from its beginning."""
    opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return duplicate(opened)
    finally:
        os.close(opened)


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _members(pairs: Iterable[tuple[Path, Path]], excluded: frozenset[Path]) -> Iterator[_Member]:
    """Yield what is to be copied, directories before their content, not the top directories."""
    for source, target in pairs:
        try:
            top = source.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(top.st_mode):
            yield _Member(source, target, top)
            continue
        folders = [(source, target)]
        while folders:
            folder, inside = folders.pop()
            try:
                with os.scandir(folder) as scan:
                    found = sorted(scan, key=lambda one: one.name)
            except OSError:
                continue
            for one in found:
                path = folder / one.name
                if path in excluded or inside / one.name in excluded:
                    continue
                with suppress(OSError):
                    member = _Member(path, inside / one.name, one.stat(follow_symlinks=False))
                    mode = member.stat.st_mode
                    if stat.S_ISDIR(mode):
                        folders.append((path, inside / one.name))
                    if stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                        yield member


def _bounded(members: Iterable[_Member], limit_mb: int) -> list[_Member]:
    found = []
    size = 0
    for member in members:
        found.append(member)
        if stat.S_ISREG(member.stat.st_mode):
            size += member.stat.st_size
        if size > limit_mb * MIB:
            raise CopyTooLargeError(f"holds more than {limit_mb:,} MiB (limits.directory_mb)")
        if len(found) > MAX_FILES:
            raise CopyTooLargeError(f"holds more than {MAX_FILES:,} files")
    return found


def _memory_needed(members: Iterable[_Member]) -> tuple[int, int]:
    """Return the bytes of whole pages that all members take, and the size of the largest file."""
    sizes = [member.stat.st_size for member in members if not stat.S_ISDIR(member.stat.st_mode)]
    return sum(-(-size // _PAGE) * _PAGE for size in sizes), max(sizes, default=0)


def _archive(members: Iterable[_Member]) -> int:
    """Write a tar archive into a sealed file in memory, and return its descriptor."""
    import fcntl

    descriptor = memory_file(b"")
    with (
        os.fdopen(os.dup(descriptor), "wb", buffering=1 << 20) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for member in members:
            info = tarfile.TarInfo(str(member.target).lstrip("/"))
            info.mode = stat.S_IMODE(member.stat.st_mode) & 0o777
            info.mtime = int(member.stat.st_mtime)
            if stat.S_ISDIR(member.stat.st_mode):
                info.type = tarfile.DIRTYPE
                info.mode |= stat.S_IRWXU
                tar.addfile(info)
            elif stat.S_ISLNK(member.stat.st_mode):
                info.type = tarfile.SYMTYPE
                with suppress(OSError):
                    info.linkname = str(member.source.readlink())
                    tar.addfile(info)
            elif (content := _open_regular(member.source)) is not None:
                with content:
                    info.size = member.stat.st_size
                    tar.addfile(info, _Padded(content))
    fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
    return descriptor


class _Padded(io.RawIOBase):
    """A file that never ends too early: one that shrinks while it is read continues with zeros."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        return data + bytes(max(0, size - len(data)))


def _open_regular(path: Path) -> IO[bytes] | None:
    """Open a file that is not a link, or return None if that is impossible."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
