"""Private copies of an entry's files, in memory.

Processes that read the same file share its pages in the kernel's cache, its inode and its locks.
Through these, two bots could tell each other about hidden cards, and so could one bot in two
matches with the same deal. Every process of a bot therefore gets its own copy of its entry's files.
The copy is a file system in memory, into which an archive is unpacked before the program starts.
The archive is written once and read at every start, so no start has to walk a directory.
"""

import errno
import io
import os
import stat
import tarfile
import threading
import weakref
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from asara_server.bounded_file import MIB
from asara_server.tournament.sandbox.resources import BUILD_CACHE

_PAGE: Final = 4096
DIRECTORY_LIMIT: Final = "limits.directory_mib"
BUILD_LIMIT: Final = "limits.build_mib"
"""Names of the limits on copies for bots and for builds."""
MAX_FILES: Final = 100_000
_MOST_COUNTED: Final = 3 * MAX_FILES
"""Maximum number of files examined to find a directory's largest parts; more count as too large."""
_SEALS: Final = 0x1 | 0x2 | 0x4 | 0x8
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE."""
_ADD_SEALS: Final = 1033
_FIRST_DESCRIPTOR: Final = 10
"""Lowest descriptor to use; the shell that starts a bot uses the lower ones."""


class CopyTooLargeError(OSError):
    """Raised if an entry's files are too large for private copies; `strerror` gives the remedy."""

    def __init__(self, excess: str) -> None:
        self.excess = excess
        """How the folder exceeds a limit, as a phrase that follows "its folder"."""
        super().__init__(
            errno.EFBIG,
            f"its folder {excess}; every bot gets a copy of it in memory, so name large files and "
            "folders that its bots only read as `readable`",
        )


@dataclass(frozen=True)
class CopiedFile:
    """A single file of an entry that sees no directory."""

    path: Path
    """The file's path in the sandbox."""
    mode: int
    content: int
    """Descriptor of a file in memory with the content."""


@dataclass(frozen=True)
class PrivateCopy:
    """The content of the directories and files that are copied for every process of an entry."""

    directories: tuple[Path, ...] = ()
    """The directories' paths in the sandbox."""
    files: tuple[CopiedFile, ...] = ()
    archive: int | None = None
    """Descriptor of the archive of all directories, with paths relative to the root, or None."""
    size: int = 0
    """Memory that a copy needs, in bytes."""
    largest: int = 0
    """Size of the largest file, in bytes."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A file, directory or link to copy."""

    source: Path
    target: Path
    """The member's path in the sandbox."""
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class CopySource:
    """Files and directories to copy, with exclusions.

    Directories of runs, build caches, devices, pipes, sockets, and files that this process may not
    read are always left out.
    """

    pairs: tuple[tuple[Path, Path], ...]
    """Pairs of the path on this machine and the path in the sandbox."""
    excluded: frozenset[Path] = frozenset()
    """Excluded paths in the sandbox."""
    dot_folders: bool = True
    """False to leave out folders whose names begin with a dot."""
    kept: frozenset[Path] = frozenset()
    """Paths that are copied regardless of a leading dot or their size."""

    def without(self, paths: Iterable[Path]) -> "CopySource":
        """Return a copy of this source with additional excluded paths."""
        return replace(self, excluded=self.excluded.union(paths))


def copy_into_memory(
    source: CopySource, limit_mib: int, limit_name: str = DIRECTORY_LIMIT
) -> PrivateCopy:
    """Read the files and directories, copying links as links. Raises CopyTooLargeError."""
    directories: list[Path] = []
    files: list[CopiedFile] = []
    descriptors: list[int] = []
    pairs = source.pairs
    found = _bounded(_members(source), limit_mib, limit_name)
    try:
        for path, target in pairs:
            if path.is_dir():
                directories.append(target)
            elif (content := _open_regular(path)) is not None:
                with content:
                    mode = stat.S_IMODE(os.fstat(content.fileno()).st_mode) & 0o777
                    descriptor = memory_file(content.read())
                descriptors.append(descriptor)
                files.append(CopiedFile(target, mode, descriptor))
        archive = None
        if directories:
            alone = {file.path for file in files}
            archive = _archive(member for member in found if member.target not in alone)
            descriptors.append(archive)
    except BaseException:
        _close_all(descriptors)
        raise
    size, largest = _memory_needed(found)
    copy = PrivateCopy(tuple(directories), tuple(files), archive, size, largest)
    weakref.finalize(copy, _close_all, descriptors)
    return copy


def check_size(source: CopySource, limit_mib: int, limit_name: str = DIRECTORY_LIMIT) -> None:
    """Raise CopyTooLargeError if the files and directories are too large to copy."""
    _bounded(_members(source), limit_mib, limit_name)


def copy_size(source: CopySource) -> int:
    """Return the size of a private copy's files, in bytes."""
    return sum(one.stat.st_size for one in _members(source) if stat.S_ISREG(one.stat.st_mode))


def largest_parts(source: CopySource, limit_mib: int) -> tuple[Path, ...]:
    """Return the largest files and folders to leave out so that the rest fits; usually none.

    Only direct children of the source's directories are considered, and never `kept` ones.
    """
    with suppress(CopyTooLargeError):
        check_size(source, limit_mib)
        return ()
    parts: list[tuple[bool, int, int, Path]] = []
    counted = 0
    for top, target in source.pairs:
        for part in _children(top, target, source) if top.is_dir() else ():
            size, files = (limit_mib + 1) * MIB, 0
            if counted <= _MOST_COUNTED:
                size, files = _measure(_with_content(part, source), limit_mib)
            counted += files
            parts.append((part.target not in source.kept, size, files, part.source))
    size = files = 0
    left_out = []
    for may_leave, part_size, part_files, path in sorted(parts):
        size, files = size + part_size, files + part_files
        if may_leave and (size > limit_mib * MIB or files > MAX_FILES):
            left_out.append(path)
    return tuple(left_out)


class PrivateCopies:
    """The private copies of a run's entries, each made when it is first needed."""

    def __init__(self) -> None:
        self._copies: dict[str, PrivateCopy] = {}
        self._lock = threading.Lock()

    def get(self, entry: str, read: Callable[[], PrivateCopy]) -> PrivateCopy:
        """Return an entry's copy, using `read` to make it. Any thread may call it."""
        with self._lock:
            if entry not in self._copies:
                self._copies[entry] = read()
            return self._copies[entry]

    def close(self) -> None:
        """Release the copies. If a process is still starting from a copy, it stays open until
        then.
        """
        with self._lock:
            self._copies.clear()


def memory_file(data: bytes) -> int:
    """Return a descriptor of a file in memory with this content."""
    with io.FileIO(os.memfd_create("asara", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "r+") as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        file.seek(0)
        return duplicate(file.fileno())


def duplicate(descriptor: int) -> int:
    """Duplicate an open file's descriptor, above the descriptors that the starting shell uses."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)


def reopened(descriptor: int) -> int:
    """Reopen a file in memory, to read it from its beginning."""
    opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return duplicate(opened)
    finally:
        os.close(opened)


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _members(source: CopySource) -> Iterator[_Member]:
    """Yield what to copy, directories before their content, without the top directories."""
    for path, target in source.pairs:
        try:
            top = path.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(top.st_mode):
            for child in _children(path, target, source):
                yield from _with_content(child, source)
        else:
            yield _Member(path, target, top)


def _with_content(member: _Member, source: CopySource) -> Iterator[_Member]:
    """Yield a file, link or directory and, for a directory, its content at any depth."""
    waiting = [member]
    while waiting:
        member = waiting.pop()
        if stat.S_ISDIR(member.stat.st_mode):
            children = _children(member.source, member.target, source)
            waiting += reversed(children)
        yield member


def _children(folder: Path, inside: Path, source: CopySource) -> list[_Member]:
    """Return which children of a folder to copy; the folder is at `inside` in the sandbox."""
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda one: one.name)
    except OSError:
        return []
    if _is_run_directory({one.name for one in found}):
        return []
    members = []
    for one in found:
        path, target = folder / one.name, inside / one.name
        if target in source.excluded or one.name == BUILD_CACHE:
            continue
        with suppress(OSError):
            member = _Member(path, target, one.stat(follow_symlinks=False))
            mode = member.stat.st_mode
            if stat.S_ISDIR(mode):
                with_dot = one.name.startswith(".") and not source.dot_folders
                if not with_dot or target in source.kept:
                    members.append(member)
            elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                members.append(member)
    return members


def _is_run_directory(names: Container[str]) -> bool:
    """Return True if a directory with these file names is a run directory."""
    folders = "replays" in names and "logs" in names
    return folders and ("run.json" in names or "run.journal" in names)


def _measure(members: Iterable[_Member], limit_mib: int) -> tuple[int, int]:
    """Return the total bytes and the number of these members, counting no further than needed."""
    size = files = 0
    for member in members:
        files += 1
        size += member.stat.st_size if stat.S_ISREG(member.stat.st_mode) else 0
        if size > limit_mib * MIB or files > MAX_FILES:
            break
    return size, files


def _bounded(members: Iterable[_Member], limit_mib: int, limit_name: str) -> list[_Member]:
    found = []
    size = 0
    for member in members:
        found.append(member)
        if stat.S_ISREG(member.stat.st_mode):
            size += member.stat.st_size
        if size > limit_mib * MIB:
            raise CopyTooLargeError(f"contains more than {limit_mib:,} MiB ({limit_name})")
        if len(found) > MAX_FILES:
            raise CopyTooLargeError(f"contains more than {MAX_FILES:,} files")
    return found


def _memory_needed(members: Iterable[_Member]) -> tuple[int, int]:
    """Return the bytes of all members in whole pages, and the size of the largest file."""
    sizes = [member.stat.st_size for member in members if not stat.S_ISDIR(member.stat.st_mode)]
    return sum(-(-size // _PAGE) * _PAGE for size in sizes), max(sizes, default=0)


def _archive(members: Iterable[_Member]) -> int:
    """Write a tar archive to a sealed file in memory, and return its descriptor."""
    import fcntl

    descriptor = memory_file(b"")
    with os.fdopen(os.dup(descriptor), "wb", buffering=1 << 20) as file:
        _write_tar(members, file)
    fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
    return descriptor


def _write_tar(members: Iterable[_Member], file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for member in members:
            info = tarfile.TarInfo(str(member.target.relative_to("/")))
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


class _Padded(io.RawIOBase):
    """A file of fixed size: if it shrinks while it is read, zeros replace the missing bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        return data + bytes(max(0, size - len(data)))


def _open_regular(path: Path) -> IO[bytes] | None:
    """Open a regular file without following links; return None if that is impossible."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
