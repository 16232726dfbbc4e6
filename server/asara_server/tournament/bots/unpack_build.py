"""Unpacks a directory from a tar archive that a stranger may have forged.

A sandboxed build works in memory. After a successful build, its directory leaves the sandbox as an
archive through a pipe, and the build itself can write to that pipe. For safety, this module reads
the few member types that it needs itself, and an archive cannot choose where its bytes are written:

- The folder is new, and closed to other users. Each file and folder is created anew, relative to
  the descriptor of a folder that was created here, and no link is ever followed.
- A hard link becomes a copy of the file, read and written through such descriptors.
- Symbolic links are made last. A link may point to a place in the folder, or to a path that
  programs in the sandbox see as it is on this machine, such as /usr/bin/python3. All other links
  are left out, so they cannot mislead later readers of the folder either.

Set-uid and set-gid bits, devices, pipes and sockets are left out too.
"""

import errno
import os
import re
import select
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from asara_server.bounded_file import MIB

_BLOCK: Final = 512
_CHUNK: Final = 1 << 20
_TICK_MS: Final = 100
"""Milliseconds after which a waiting reader checks its time limit again."""
_DISK_BLOCK: Final = 4_096
_MAX_NAME: Final = 4_096
"""Maximum length of a path or link target in bytes; Linux allows no more."""
_MAX_LINKS: Final = 64 * MIB
"""Maximum bytes of all links' paths and targets, which are kept in memory until the end."""
_FILES: Final = (b"0", b"\0")
_HARD_LINK, _LINK, _FOLDER, _LONG_TARGET, _LONG_NAME = b"1", b"2", b"5", b"K", b"L"

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)  # Windows has no sandbox for builds
_OPEN: Final = os.O_RDONLY | _NO_LINK
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_FORGED: Final = (errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors for names that occur twice, or whose parent is missing or not a folder."""

MAX_FILES: Final = 100_000
MAX_DEPTH: Final = 40
"""Maximum depth of nested directories."""

_Parts: TypeAlias = tuple[bytes, ...]
"""A path as its parts, without empty parts and single dots."""


class BuildOutputError(Exception):
    """Raised if a build's output cannot be used; the text completes "its directory ..."."""


class UnfinishedOutputError(BuildOutputError):
    """Raised if an archive ends too early or does not arrive in time."""


class OutputLimits(NamedTuple):
    """How much an archive may unpack."""

    disk_bytes: int
    files: int = MAX_FILES
    """Number of files, folders, links, and members that are left out."""
    depth: int = MAX_DEPTH


class ArchiveStream:
    """Reads a pipe, with a limit on the time spent waiting.

    The time limit covers only waiting. The rest of the work is limited by the archive's byte and
    member counts.
    """

    def __init__(self, descriptor: int) -> None:
        """The stream owns the descriptor and closes it at its end."""
        self._waited_s = 0.0
        self._most_waited_s = float("inf")
        self._descriptor = descriptor
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN)
        self._held = bytearray()

    def __enter__(self) -> "ArchiveStream":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes. Raises UnfinishedOutputError."""
        while len(self._held) < size:
            data = self._receive()
            if not data:
                raise UnfinishedOutputError("was not written to its end")
            self._held += data
        read = bytes(self._held[:size])
        del self._held[:size]
        return read

    def read_parts(self, size: int) -> Iterator[bytes]:
        """Yield this many bytes in parts, then skip the padding up to a whole block."""
        for start in range(0, size, _CHUNK):
            yield self.read(min(size - start, _CHUNK))
        self.read(-size % _BLOCK)

    def read_rest(self) -> None:
        """Skip the padding at the end of the archive, so that the writer can finish."""
        size = len(self._held)
        while data := self._receive():
            size += len(data)
            if size > _CHUNK:
                raise _no_archive()

    def limit_waiting(self, seconds: float) -> None:
        """From now on, wait no longer than this many seconds. Another thread may call it."""
        self._most_waited_s = self._waited_s + seconds

    def _receive(self) -> bytes:
        ready = False
        while not ready:
            began = time.monotonic()
            ready = bool(self._ready.poll(_TICK_MS))
            self._waited_s += time.monotonic() - began
            if self._waited_s > self._most_waited_s:
                raise UnfinishedOutputError("was not written in time")
        return os.read(self._descriptor, _CHUNK)


class _Member(NamedTuple):
    kind: bytes
    parts: _Parts
    target: bytes
    """The target of a link."""
    mode: int
    size: int
    """Number of content bytes that follow."""
    mtime: int


class _Folders:
    """The folders being unpacked into; each is opened from the top, one path part at a time."""

    def __init__(self, top: Path) -> None:
        self._top = os.open(top, _OPEN | os.O_DIRECTORY)
        self._latest = os.dup(self._top)
        self._parts: _Parts = ()

    def open(self, parts: _Parts) -> int:
        """Return the descriptor of a folder, valid until the next call."""
        if parts != self._parts:
            os.close(self._latest)
            self._latest, self._parts = os.dup(self._top), ()
            for part in parts:
                inner = os.open(part, _OPEN | os.O_DIRECTORY, dir_fd=self._latest)
                os.close(self._latest)
                self._latest, self._parts = inner, (*self._parts, part)
        return self._latest

    def close(self) -> None:
        os.close(self._latest)
        os.close(self._top)


def unpack_output(
    stream: ArchiveStream,
    folder: Path,
    limits: OutputLimits,
    *,
    home: Path,
    shown: Iterable[Path] = (),
) -> list[str]:
    """Unpack into `folder`, which must not exist yet; return the links that were left out.

    `home` is the folder's path inside the sandbox: links to paths below `home` become relative.
    Links may also point to a `shown` path or to anything below one. Raises only BuildOutputError.
    """
    try:
        folder.mkdir(mode=0o700)
        with closing(_Folders(folder)) as folders:
            unpacking = _Unpacking(stream, folders, limits)
            while member := _next_member(stream):
                unpacking.add(member)
            stream.read_rest()
            return unpacking.make_links(
                _parts(os.fsencode(home)), [_parts(os.fsencode(path)) for path in shown]
            )
    except OSError as error:
        if error.errno in _FORGED:
            raise _no_archive() from None
        if error.errno == errno.ENAMETOOLONG:
            raise _long_names() from None
        raise BuildOutputError(f"cannot be stored: {error.strerror}") from None


class _Unpacking:
    """An archive being unpacked, with the remainder of its limits."""

    def __init__(self, stream: ArchiveStream, folders: _Folders, limits: OutputLimits) -> None:
        self._stream = stream
        self._folders = folders
        self._limits = limits
        self._members = 0
        self._disk_left = limits.disk_bytes
        self._links: dict[_Parts, bytes] = {}
        self._links_left = _MAX_LINKS

    def add(self, member: _Member) -> None:
        """Create a file or folder, remember a link for later, or leave out any other member."""
        folder = member.parts[:-1]
        self._members += 1
        if self._members > self._limits.files:
            raise BuildOutputError(f"has more than {self._limits.files:,} files")
        if len(folder) > self._limits.depth:
            raise BuildOutputError(f"is nested more than {self._limits.depth} levels deep")
        self._charge(member.size, extra=_BLOCK)
        content = self._stream.read_parts(member.size)
        if member.kind == _HARD_LINK and member.parts:
            content = self._read_original(_parts_inside(member.target))
        if member.kind == _FOLDER and member.parts:
            self._charge(_DISK_BLOCK)
            os.mkdir(member.parts[-1], member.mode | 0o700, dir_fd=self._folders.open(folder))
        elif member.kind == _LINK and member.parts:
            self._charge(len(member.target))
            self._links_left -= len(member.target) + sum(map(len, member.parts))
            if self._links_left < 0:
                raise BuildOutputError("has too many links")
            if member.parts in self._links:
                raise _no_archive()
            self._links[member.parts] = member.target
        elif member.kind in (*_FILES, _HARD_LINK) and member.parts:
            _write_file(self._folders.open(folder), member, content)
        else:
            for _ in content:
                pass

    def _charge(self, size: int, extra: int = 0) -> None:
        """Count disk space in whole blocks, as the disk allocates it."""
        self._disk_left -= extra + -(-size // _DISK_BLOCK) * _DISK_BLOCK
        if self._disk_left < 0:
            limit = self._limits.disk_bytes // MIB
            raise BuildOutputError(f"needs more than {limit:,} MiB of disk")

    def _read_original(self, parts: _Parts) -> Iterator[bytes]:
        """Yield the content of a file that has already been unpacked."""
        if not parts:
            raise _no_archive()
        original = os.open(parts[-1], _OPEN, dir_fd=self._folders.open(parts[:-1]))
        try:
            found = os.fstat(original)
            if not stat.S_ISREG(found.st_mode):
                raise _no_archive()
            self._charge(found.st_size)
            while data := os.read(original, _CHUNK):
                yield data
        finally:
            os.close(original)

    def make_links(self, home: _Parts, shown: list[_Parts]) -> list[str]:
        """Create the links that are allowed; return the others."""
        left_out = []
        for parts, written in self._links.items():
            folder = self._folders.open(parts[:-1])
            target = _target(written, len(parts) - 1, home, shown)
            os.symlink(target or b".", parts[-1], dir_fd=folder)  # fails if the name is taken
            if target is None:
                os.unlink(parts[-1], dir_fd=folder)
                left_out.append(os.fsdecode(b"/".join(parts)))
        return left_out


def _target(target: bytes, depth: int, home: _Parts, shown: list[_Parts]) -> bytes | None:
    """Return the target of a link in a folder this deep, or None if the link is not allowed.

    ".." is allowed only at the beginning, where it leaves real folders. After a name, ".." could
    leave the target of another link.
    """
    parts = _parts(target)
    if not target.startswith(b"/"):
        up = next((number for number, part in enumerate(parts) if part != b".."), len(parts))
        return target if target and up <= depth and b".." not in parts[up:] else None
    if b".." in parts:
        return None
    if parts[: len(home)] == home:
        return b"/".join((b"..",) * depth + parts[len(home) :]) or b"."
    return target if any(parts[: len(path)] == path for path in shown) else None


def _write_file(folder: int, member: _Member, content: Iterable[bytes]) -> None:
    """Create a file named after the last part of the member's path."""
    descriptor = os.open(member.parts[-1], _CREATE, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for data in content:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
        with suppress(OSError):  # a time that this file system cannot store
            os.utime(descriptor, (member.mtime, member.mtime))
        os.fchmod(descriptor, member.mode | 0o600)


def _next_member(stream: ArchiveStream) -> _Member | None:
    """Return the next member. Its content must be read before the following member."""
    long: dict[bytes, bytes] = {}
    while (header := stream.read(_BLOCK)).strip(b"\0"):
        member = _parse(header, long)
        if member.kind not in (_LONG_NAME, _LONG_TARGET):
            return member
        if member.size > _MAX_NAME:
            raise _long_names()
        if member.kind in long:
            raise _no_archive()
        long[member.kind] = _text(b"".join(stream.read_parts(member.size)))
    return None


def _parse(header: bytes, long: dict[bytes, bytes]) -> _Member:
    kind = header[156:157]
    size, mtime = header[124:136], header[136:148]
    if header[257:262] != b"ustar":
        raise _no_archive()
    bytes_of_content = int.from_bytes(size[1:], "big") if size[0] == 0x80 else _octal(size)
    return _Member(
        kind,
        _parts_inside(long.get(_LONG_NAME, _text(header[:100]))),
        long.get(_LONG_TARGET, _text(header[157:257])),
        _octal(header[100:108]) & 0o777,
        0 if kind in (_FOLDER, _LINK, _HARD_LINK) else bytes_of_content,
        _octal(mtime) if mtime[0] < 0x80 else 0,
    )


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]*", digits):
        raise _no_archive()
    return int(digits or b"0", 8)


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _parts(path: bytes) -> _Parts:
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def _parts_inside(path: bytes) -> _Parts:
    """Return the parts of a path inside the folder."""
    parts = _parts(path)
    if b".." in parts:
        raise _no_archive()
    return parts


def _no_archive() -> BuildOutputError:
    return BuildOutputError("was not written as an archive of files")


def _long_names() -> BuildOutputError:
    return BuildOutputError("has names that are too long")


def remove_special_files(folder: Path) -> None:
    """Remove set-uid and set-gid bits, devices, pipes and sockets below a folder."""
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top, name)
            if path.is_symlink():
                continue
            if not (path.is_dir() or path.is_file()):
                path.unlink()
            elif (mode := path.stat().st_mode) & 0o6000:
                path.chmod(mode & 0o777)
