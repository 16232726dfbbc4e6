"""Archives that a build may have forged."""

import io
import os
import random
import shutil
import stat
import tarfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.bounded_file import MIB
from asara_server.tournament.bots.unpack_build import (
    ArchiveStream,
    BuildOutputError,
    OutputLimits,
    UnfinishedOutputError,
    unpack_output,
)

HOME = Path("/home/ann/bot")
"""Path of the folder in the sandbox."""
SHOWN = (Path("/usr"),)

ONE_MIB = OutputLimits(MIB)

Member = Callable[[tarfile.TarFile], None]


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = ""
) -> Member:
    def fill(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size, info.mode = kind, target, len(content), 0o6755
        tar.addfile(info, io.BytesIO(content))

    return fill


def folder(name: str) -> Member:
    return member(name, kind=tarfile.DIRTYPE)


def link(name: str, target: str) -> Member:
    return member(name, kind=tarfile.SYMTYPE, target=target)


def twin(name: str, target: str) -> Member:
    return member(name, kind=tarfile.LNKTYPE, target=target)


def archive(*members: Member) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for fill in members:
            fill(tar)
    return data.getvalue()


def unpack_bytes(data: bytes, made: Path, limits: OutputLimits = ONE_MIB) -> list[str]:
    descriptor = os.memfd_create("archive")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    with ArchiveStream(descriptor) as stream:
        return unpack_output(stream, made, limits, home=HOME, shown=SHOWN)


def unpack(tmp_path: Path, *members: Member) -> Path:
    unpack_bytes(archive(*members), tmp_path / "made")
    return tmp_path / "made"


def test_links_stay_inside_or_lead_to_what_the_sandbox_shows(tmp_path: Path) -> None:
    kept = {
        "deep/up": "../file",
        "deep/same": "./up",
        "nowhere": "no/such/file",
        "loop": "loop",
        "deep/home": "/home/ann/bot/file",
        "top": "/home/ann/bot/",
        "system": "/usr/bin/env",
    }
    left_out = {
        "outside": "../secret",
        "deep/outside": "../../secret",
        "by-name": "deep/../../secret",
        "by-link": "top/../secret",
        "absolute": "/etc/passwd",
        "not-home": "/home/ann/bot2",
        "by-home": "/home/ann/bot/../secret",
        "by-system": "/usr/../etc/passwd",
        "empty": "",
    }
    links = [link(name, target) for name, target in {**kept, **left_out}.items()]
    made = tmp_path / "made"
    data = archive(folder("deep"), *links, member("file", b"text"))
    assert unpack_bytes(data, made) == list(left_out)
    found = {path for path in made.rglob("*") if path.is_symlink()}
    assert {path.relative_to(made).as_posix() for path in found} == set(kept)
    assert (made / "deep/home").read_text() == (made / "deep/same").read_text() == "text"
    assert (made / "top").readlink() == Path()
    assert (made / "system").readlink() == Path("/usr/bin/env")


@pytest.mark.parametrize(
    "members",
    [
        [member("../secret", b"text")],
        [link("a", ".."), member("a/secret", b"text")],
        [link("a", "../secret"), member("a", b"text")],
        [link("a", "../secret"), member("b", b"text"), twin("a", "b")],
        [link("a", ".."), member("secret", b"text"), twin("a", "secret")],
        [link("a", "../new"), member("b", b"text"), twin("a", "b")],
        [link("a", "../secret"), link("a", "../secret")],
        [folder("a"), link("a", "..")],
        [folder("a"), folder("a")],
        [member("a"), member("a/b")],
        [member("missing/file", b"text")],
        [twin("twin", "../secret")],
        [twin("twin", "/etc/passwd")],
        [twin("twin", "missing")],
        [folder("a"), twin("twin", "a")],
        [link("a", ".."), twin("twin", "a")],
        [link("a", ".."), twin("twin", "a/secret")],
        [link("a", "a"), twin("twin", "a/secret")],
    ],
)
def test_what_no_archiver_writes_is_refused(tmp_path: Path, members: list[Member]) -> None:
    (tmp_path / "secret").write_text("hidden")
    with pytest.raises(BuildOutputError, match="was not written as an archive"):
        unpack(tmp_path, *members)
    assert (tmp_path / "secret").read_text() == "hidden"
    assert {path.name for path in tmp_path.iterdir()} == {"secret", "made"}


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([member("file", bytes(2 << 20))], "needs more than 1 MiB of disk"),
        ([folder("/".join("d" * depth)) for depth in range(1, 50)], "nested more than 40 levels"),
        ([member("x" * 70_000)], "names that are too long"),
        ([link("x", "y" * 70_000)], "names that are too long"),
        ([member("x" * 300)], "names that are too long"),
        ([member("a", bytes(600_000)), twin("b", "a")], "needs more than 1 MiB of disk"),
        ([folder(str(number)) for number in range(300)], "needs more than 1 MiB of disk"),
        ([member("x", kind=tarfile.FIFOTYPE)] * 3000, "needs more than 1 MiB of disk"),
    ],
)
def test_limits_hold(tmp_path: Path, members: list[Member], reason: str) -> None:
    with pytest.raises(BuildOutputError, match=reason):
        unpack(tmp_path, *members)


def test_what_is_left_out_counts_as_well(tmp_path: Path) -> None:
    data = archive(*[member("x", kind=tarfile.FIFOTYPE)] * 11)
    with pytest.raises(BuildOutputError, match="has more than 10 files"):
        unpack_bytes(data, tmp_path / "made", OutputLimits(MIB, files=10))


def test_an_archive_that_ends_early_is_refused(tmp_path: Path) -> None:
    whole = archive(member("file", bytes(5000)))
    for length in (0, 100, 600, 3000, 512 + 5120):
        with pytest.raises(UnfinishedOutputError, match="was not written to its end"):
            unpack_bytes(whole[:length], tmp_path / f"made{length}")


@pytest.mark.parametrize("data", [b"", archive(member("file", b"text"))], ids=["nothing", "all"])
def test_who_holds_the_pipe_open_is_not_waited_for(tmp_path: Path, data: bytes) -> None:
    """A process that has outlived its build could; the limit is set while it is waited for."""
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    with ArchiveStream(read_end) as stream:
        later = threading.Timer(0.3, lambda: stream.limit_waiting(0.1))
        later.start()
        with pytest.raises(UnfinishedOutputError, match="was not written in time"):
            unpack_output(stream, tmp_path / "made", OutputLimits(MIB), home=HOME)
        later.join()
    os.close(write_end)


@pytest.mark.parametrize("endless", [archive(link("l", "x" * 90))[:512], bytes(512), b"x" * 512])
def test_an_endless_archive_ends_soon(tmp_path: Path, endless: bytes) -> None:
    read_end, write_end = os.pipe()

    def feed() -> None:
        try:
            while True:
                os.write(write_end, endless * 100)
        except BrokenPipeError:
            os.close(write_end)

    feeder = threading.Thread(target=feed)
    feeder.start()
    with ArchiveStream(read_end) as stream, pytest.raises(BuildOutputError):
        unpack_output(stream, tmp_path / "made", OutputLimits(1 << 40), home=HOME)
    feeder.join()


KINDS = (*b"00\x0011112222555536LKx?",)
SIZES = (*(b"0", b"5", b"1000") * 4, b"\x80" + (1 << 62).to_bytes(11, "big"), b"\xff" * 12, b"-1")
LIMITS = OutputLimits(64 << 10, files=6, depth=3)


def random_archive(draw: random.Random, canary: Path) -> bytes:
    """Return a sequence of members as a stranger may write them, possibly cut off."""
    canary_name = os.fsencode(canary)
    near = (b"a", b"b", b"c", b"a/b", b"./a", b"a/a", b"a/b/c", b".", b"\xff")
    far = (
        *(b"..", b"../canary", b"../canary/a", b"../../canary", b"a/../../canary", canary_name),
        *(b"../b", b"a/..", b"", b"/usr/bin/env", b"/usr/../etc/passwd", b"/home/ann/bot/a"),
        *(b"n" * 300, b"a/b/c/d/e"),
    )
    data = bytearray()
    for _ in range(draw.randrange(1, 8)):
        kind, size, content = draw.choice(KINDS), draw.choice(SIZES), b""
        name = draw.choice(near if draw.random() < 0.95 else far)
        target = draw.choice(near + far)
        if kind in b"LK":
            content = draw.choice((*near, *far, b"x" * 65_000))
            size = b"%o" % len(content)
        elif kind in b"0\x0036x?" and size in (b"5", b"1000"):
            content = bytes(int(size, 8))
        header = bytearray(512)
        header[0:100] = name[:100].ljust(100, b"\0")
        header[100:108] = draw.choice((b"0000644", b"0006777", b"0000000")).ljust(8, b"\0")
        header[124:136] = size.ljust(12, b"\0")
        header[136:148] = draw.choice((b"14717130000", b"777777777777", b"\xff" * 12)).ljust(12)
        header[156] = kind
        header[157:257] = target[:100].ljust(100, b"\0")
        header[257:262] = b"ustar" if draw.random() < 0.99 else b"junk!"
        data += header + content + bytes(-len(content) % 512)
    data += bytes(1024)
    return bytes(data[: draw.randrange(len(data))]) if draw.random() < 0.1 else bytes(data)


def state(path: Path) -> tuple[object, ...]:
    """Return what a change to a file or folder would change, also its access from within."""
    found = path.lstat()
    content = path.read_bytes() if path.is_file() else sorted(path.iterdir())
    return (
        found.st_mode,
        found.st_nlink,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_uid,
        content,
    )


@pytest.mark.long
def test_no_sequence_of_members_reaches_outside_the_folder(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    canary = outer / "canary"
    canary.mkdir(parents=True)
    (canary / "a").write_text("unchanged")
    made = outer / "made"
    made.mkdir()
    before = [state(path) for path in (canary, canary / "a")]
    outcomes: dict[str, int] = {}
    peak = 0
    for seed in range(5_000):
        made.rmdir()
        data = random_archive(random.Random(seed), canary)
        tracemalloc.start()
        try:
            left_out = unpack_bytes(data, made, LIMITS)
            outcome = "unpacked without links" if left_out else "unpacked"
        except BuildOutputError as error:
            outcome = str(error)
        peak = max(peak, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        assert [state(path) for path in (canary, canary / "a")] == before, seed
        assert sorted(outer.iterdir()) == [canary, made], seed
        size = 0
        for top, folders, files in os.walk(made):
            for path in (Path(top, name) for name in (*folders, *files)):
                found = path.lstat()
                size += found.st_blocks * 512
                if stat.S_ISREG(found.st_mode):
                    assert path.read_bytes() != (canary / "a").read_bytes(), seed
                assert found.st_nlink == 1 or stat.S_ISDIR(found.st_mode), seed
                assert found.st_mode & 0o6000 == 0 or path.is_symlink(), seed
                end = Path(os.path.realpath(path))
                assert any(end.is_relative_to(place) for place in (made, *SHOWN)), seed
        assert size <= LIMITS.disk_bytes, seed
        shutil.rmtree(made)
        made.mkdir()
    assert peak < 8 * MIB
    # The sequences meet each rule, and many are unpacked.
    assert len(outcomes) == 8, outcomes
    assert outcomes["unpacked"] > 500, outcomes
