"""Unpacks what a build has made, from an archive that nobody vouches for.

A contained build works in memory. When it has succeeded, its directory leaves the sandbox as a tar
archive, which the build may have forged. So this module reads the few kinds of members that it
needs itself, within limits of its own, and writes nothing outside its folder. Regular files,
directories and links survive, with permissions but without set-uid and set-gid bits; a second name
of a file becomes a file of its own, and devices, pipes and sockets are left out.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from asara_server.tournament.sandbox.spec import MIB

_BLOCK: Final = 512
_CHUNK: Final = 1 << 20
_MAX_NAME: Final = 1 << 16
"""Bytes of a path or of the target of a link."""
_FILES, _HARD_LINK, _LINK, _FOLDER = b"0\0", b"1", b"2", b"5"
_LONG_TARGET, _LONG_NAME = b"K", b"L"

MAX_FILES: Final = 100_000
MAX_DEPTH: Final = 40
"""Levels of nested directories."""


class BuildOutputError(Exception):
    """What a build left cannot be used; the text continues "its directory ..."."""


@dataclass(slots=True)
class _Member:
    kind: bytes
    name: str
    target: str
    """Target of a link."""
    mode: int
    size: int
    """Bytes of content that follow."""
    mtime: int


def unpack_output(archive: IO[bytes], folder: Path, limit_mb: int) -> None:
    """Unpack into `folder`, which must not exist yet.

    Raises BuildOutputError, OSError, or EOFError if the archive ends too early.
    """
    folder.mkdir(mode=0o700)
    folders: dict[tuple[str, ...], Path] = {(): folder}
    left = limit_mb * MIB
    count = 0
    for member in _members(archive):
        parts = tuple(part for part in member.name.split("/") if part not in {"", "."})
        if not parts:
            continue
        count += 1
        if count > MAX_FILES:
            raise BuildOutputError(f"has more than {MAX_FILES:,} files")
        if len(parts) > MAX_DEPTH + 1:
            raise BuildOutputError(f"is nested more than {MAX_DEPTH} levels deep")
        if ".." in parts or parts[:-1] not in folders:
            raise BuildOutputError("was not written as an archive of files")
        path = folders[parts[:-1]] / parts[-1]
        size = member.size
        if member.kind == _HARD_LINK:
            size = _size_of_link(folder, member)
        left -= size
        if left < 0:
            raise BuildOutputError(f"needs more than {limit_mb:,} MiB of disk")
        if member.kind == _FOLDER:
            path.mkdir(mode=member.mode & 0o777 | 0o700)
            folders[parts] = path
        elif member.kind == _LINK:
            path.symlink_to(member.target)
        elif member.kind == _HARD_LINK:
            shutil.copy2(folder / member.target, path, follow_symlinks=False)
        elif member.kind in _FILES:
            _write_file(path, member, archive)
        else:
            _skip(archive, member.size)


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


def remove_privileges(folder: Path) -> None:
    """Remove set-uid and set-gid bits from the files below a folder. Raises OSError."""
    for top, _, files in os.walk(folder):
        for name in files:
            path = Path(top, name)
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                    path.chmod(stat.S_IMODE(mode) & 0o777)


def _size_of_link(folder: Path, member: _Member) -> int:
    """Return the size of the file that the member is a second name of."""
    original = folder / member.target
    inside = Path(os.path.normpath(original)).is_relative_to(folder)
    if inside and original.parent.resolve().is_relative_to(folder.resolve()):
        with suppress(OSError):
            if original.is_symlink() or original.is_file():
                return original.lstat().st_size
    raise BuildOutputError("was not written as an archive of files")


def _members(archive: IO[bytes]) -> Iterator[_Member]:
    """Yield the members, whose content must be read before the next one."""
    long_name = long_target = None
    while header := archive.read(_BLOCK):
        if not header.strip(b"\0"):
            break  # the end of the archive
        member = _parse(header)
        if member.kind in {_LONG_NAME, _LONG_TARGET}:
            if member.size > _MAX_NAME:
                raise BuildOutputError("has names that are too long")
            text = _text(_read(archive, member.size))
            _skip(archive, -member.size % _BLOCK)
            if member.kind == _LONG_NAME:
                long_name = text
            else:
                long_target = text
            continue
        member.name = long_name or member.name
        member.target = long_target or member.target
        long_name = long_target = None
        yield member
    while archive.read(_CHUNK):  # the writer waits until all of it is read
        pass


def _parse(header: bytes) -> _Member:
    try:
        if len(header) < _BLOCK:
            raise EOFError
        if header[257:262] != b"ustar":
            raise ValueError
        size = header[124:136]
        number = int.from_bytes(size[1:], "big") if size[0] == 0x80 else _octal(size)
        member = _Member(
            kind=header[156:157],
            name=_text(header[:100]),
            target=_text(header[157:257]),
            mode=_octal(header[100:108]),
            size=number,
            mtime=_octal(header[136:148]) if header[136] < 0x80 else 0,
        )
    except ValueError:
        raise BuildOutputError("was not written as an archive of files") from None
    if member.kind in {_FOLDER, _LINK, _HARD_LINK}:
        member.size = 0
    return member


def _octal(field: bytes) -> int:
    number = int(field.strip(b" \0") or b"0", 8)
    if number < 0:
        raise ValueError
    return number


def _text(field: bytes) -> str:
    return os.fsdecode(field.partition(b"\0")[0])


def _read(archive: IO[bytes], size: int) -> bytes:
    data = archive.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _skip(archive: IO[bytes], size: int) -> None:
    while size > 0:
        size -= len(_read(archive, min(size, _CHUNK)))


def _write_file(path: Path, member: _Member, archive: IO[bytes]) -> None:
    mode = member.mode & 0o777 | 0o600
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        left = member.size
        while left:
            left -= file.write(_read(archive, min(left, _CHUNK)))
        os.fchmod(descriptor, mode)
    with suppress(OSError, OverflowError):
        os.utime(path, (member.mtime, member.mtime))
    _skip(archive, -member.size % _BLOCK)
