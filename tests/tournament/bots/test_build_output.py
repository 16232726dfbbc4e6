"""Archives that a build may have forged."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.tournament.bots.build_output import BuildOutputError, unpack_output


def archive(fill: Callable[[tarfile.TarFile], None], form: int = tarfile.GNU_FORMAT) -> io.BytesIO:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=form) as tar:
        fill(tar)
    data.seek(0)
    return data


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = ""
) -> Callable[[tarfile.TarFile], None]:
    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size, info.mode = kind, target, len(content), 0o6755
        tar.addfile(info, io.BytesIO(content))

    return fill


def unpack(tmp_path: Path, *members: Callable[[tarfile.TarFile], None], limit_mb: int = 1) -> Path:
    def fill_all(tar: tarfile.TarFile) -> None:
        for fill in members:
            fill(tar)

    unpack_output(archive(fill_all), tmp_path / "made", limit_mb)
    return tmp_path / "made"


def test_files_folders_and_links_are_unpacked(tmp_path: Path) -> None:
    name = "folder/" + "long" * 50
    folder = unpack(
        tmp_path,
        member("./", kind=tarfile.DIRTYPE),
        member("./folder", kind=tarfile.DIRTYPE),
        member(f"./{name}", b"text" * 1000),
        member("link", kind=tarfile.SYMTYPE, target="x" * 300),
        member("twin", kind=tarfile.LNKTYPE, target=f"./{name}"),
        member("pipe", kind=tarfile.FIFOTYPE),
        member("device", kind=tarfile.CHRTYPE),
    )
    assert {path.name for path in folder.iterdir()} == {"folder", "link", "twin"}
    assert (folder / name).read_bytes() == b"text" * 1000 == (folder / "twin").read_bytes()
    assert (folder / name).stat().st_mode & 0o7777 == 0o755
    assert str((folder / "link").readlink()) == "x" * 300


@pytest.mark.parametrize(
    "members",
    [
        (member("../outside", b"text"),),
        (member("a", kind=tarfile.SYMTYPE, target="/tmp"), member("a/outside", b"text")),
        (member("missing/file", b"text"),),
        (member("twin", kind=tarfile.LNKTYPE, target="../secret"),),
        (member("twin", kind=tarfile.LNKTYPE, target="/etc/passwd"),),
        (
            member("a", kind=tarfile.SYMTYPE, target=".."),
            member("twin", kind=tarfile.LNKTYPE, target="a/secret"),
        ),
    ],
)
def test_nothing_is_read_or_written_outside(
    tmp_path: Path, members: tuple[Callable[[tarfile.TarFile], None], ...]
) -> None:
    (tmp_path / "secret").write_text("hidden")
    with pytest.raises(BuildOutputError, match="was not written as an archive"):
        unpack(tmp_path, *members)
    assert not (tmp_path / "outside").exists()
    assert all(path.is_symlink() for path in (tmp_path / "made").iterdir())


def test_what_exists_already_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        unpack(
            tmp_path,
            member("a", kind=tarfile.SYMTYPE, target="../secret"),
            member("a", b"text"),
        )


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([member("file", bytes(2 << 20))], "needs more than 1 MiB of disk"),
        ([member("/".join("d" * 50), b"")], "nested more than 40 levels"),
        ([member("x" * 70_000, b"")], "names that are too long"),
        (
            [member("a", bytes(600_000)), member("b", kind=tarfile.LNKTYPE, target="a")],
            "needs more than 1 MiB of disk",
        ),
    ],
)
def test_limits_hold(
    tmp_path: Path, members: list[Callable[[tarfile.TarFile], None]], reason: str
) -> None:
    with pytest.raises(BuildOutputError, match=reason):
        unpack(tmp_path, *members)


def test_an_archive_that_ends_early_is_refused(tmp_path: Path) -> None:
    whole = archive(member("file", bytes(5000))).getvalue()
    for length in (100, 600, 3000):
        with pytest.raises(EOFError):
            unpack_output(io.BytesIO(whole[:length]), tmp_path / f"made{length}", 1)


@pytest.mark.parametrize("noise", [b"x" * 1024, b"\xff" * 2048])
def test_what_is_no_archive_is_refused(tmp_path: Path, noise: bytes) -> None:
    with pytest.raises(BuildOutputError, match="was not written as an archive"):
        unpack_output(io.BytesIO(noise), tmp_path / "made", 1)
