"""Archives of entries' files: the same content, the same hash, and nothing that is not theirs."""

import io
import tarfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.sandbox.spec import ReservedPaths
from asara_server.tournament.schedule.match_settings import MatchSettings
from asara_server.tournament.workers.block_job import WorkerError
from asara_server.tournament.workers.dask_files import Archive, ArchiveStore, Packer

FILE = """
seats = 2
rules = "basic"

[[entries]]
name = "ann"
command = "./bot"
directory = "ann"

[[entries]]
name = "bob"
command = "./bot"
directory = "bob"
"""


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    folder = tmp_path / "cup"
    for name in ("ann", "bob"):
        (folder / name / "data").mkdir(parents=True)
        (folder / name / "bot").write_text("#!/bin/sh\n")
        (folder / name / "bot").chmod(0o755)
        (folder / name / "data" / "book").write_text(name)
        (folder / name / "link").symlink_to("/usr/bin/env")
    (folder / "ann" / "secret.key").write_text("private")
    (folder / "cup.toml").write_text(FILE)
    return folder


def packer(cup: Path) -> Packer:
    tournament = load_tournament(cup / "cup.toml")
    private = ReservedPaths((cup / "ann" / "secret.key",), (cup,))
    return Packer(MatchSettings.of(tournament, None, {}), private)


def store_all(store: ArchiveStore, archive: Archive, data: bytes, part: int = 1000) -> None:
    for offset in range(0, len(data), part):
        store.add_part(archive.sha256, offset, data[offset : offset + part])
    store.unpack(archive.sha256, archive.home, archive.readable)


def test_an_archive_depends_on_the_content_only_and_arrives_whole(
    cup: Path, tmp_path: Path
) -> None:
    with closing(packer(cup)) as first, closing(packer(cup)) as second:
        archive = first.pack("ann", cup / "ann")
        data = archive.path.read_bytes()
        assert second.pack("ann", cup / "ann").sha256 == archive.sha256
        assert second.pack("bob", cup / "bob").sha256 != archive.sha256
    store = ArchiveStore(tmp_path)
    assert not store.has(archive.sha256)
    store_all(store, archive, data)
    assert store.has(archive.sha256)
    place = store.place(archive)
    found = {path.relative_to(place).as_posix() for path in place.rglob("*")}
    assert found == {"bot", "data", "data/book", "link"}  # and not the key
    assert (place / "bot").stat().st_mode & 0o111
    assert (place / "link").readlink() == Path("/usr/bin/env")
    assert place.stat().st_mode & 0o077 == 0
    assert not list(place.parent.glob("*.tar"))


def test_a_single_readable_file_keeps_its_name(cup: Path, tmp_path: Path) -> None:
    with closing(packer(cup)) as packed:
        archive = packed.pack("ann", cup / "ann" / "data" / "book")
        store = ArchiveStore(tmp_path)
        store_all(store, archive, archive.path.read_bytes())
    assert store.place(archive).read_text() == "ann"


def test_a_program_outside_of_its_directory_is_not_sent(cup: Path) -> None:
    text = (cup / "cup.toml").read_text()
    (cup / "cup.toml").write_text(text.replace('"./bot"', '"../bob/bot"', 1))
    with closing(packer(cup)) as packed, pytest.raises(WorkerError, match="is outside of its"):
        packed.pack("ann", cup / "ann")


def test_an_archive_that_arrives_changed_is_refused(cup: Path, tmp_path: Path) -> None:
    with closing(packer(cup)) as packed:
        archive = packed.pack("ann", cup / "ann")
        data = bytearray(archive.path.read_bytes())
    data[600] ^= 1
    store = ArchiveStore(tmp_path)
    with pytest.raises(WorkerError, match="arrived changed"):
        store_all(store, archive, bytes(data))
    assert not store.has(archive.sha256)


def test_links_lead_to_the_entrys_own_paths_only(cup: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    text = (cup / "cup.toml").read_text()
    (cup / "cup.toml").write_text(text + f'readable = ["{library}"]\n')
    (cup / "bob" / "own").symlink_to(cup / "bob" / "data" / "book")
    (cup / "bob" / "library").symlink_to(library / "book")
    (cup / "bob" / "ann").symlink_to("../ann/bot")
    (cup / "bob" / "key").symlink_to(cup / "ann" / "secret.key")
    with closing(packer(cup)) as packed:
        archive = packed.pack("bob", cup / "bob")
        store = ArchiveStore(tmp_path)
        store_all(store, archive, archive.path.read_bytes())
    place = store.place(archive)
    names = {path.name for path in place.iterdir() if path.is_symlink()}
    assert names == {"link", "own", "library"}
    assert (place / "own").read_text() == "bob"


def test_a_forged_archive_is_refused(tmp_path: Path) -> None:
    """The cases are those of `unpack_output`."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../out"))
    data = file.getvalue()
    home = tmp_path / "home"
    digest = sha256(bytes(home) + b"\0\0" + data).hexdigest()
    store = ArchiveStore(tmp_path)
    with pytest.raises(WorkerError, match="cannot be unpacked: what came was not written as"):
        store_all(store, Archive(digest, tmp_path, "", home, (), home), data)
    assert not store.has(digest)
    assert not (tmp_path / "asara-files" / "out").exists()
