"""Kept builds: what has not changed is not built again, and nothing else is taken for it."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

import asara
from asara_server.tournament.bots.build.build import EntryBuilder
from asara_server.tournament.bots.build.build_cache import BuildCache, KeptBuild
from asara_server.tournament.config.tournament_file import Entry, Limits
from asara_server.tournament.sandbox.bubblewrap import Sandbox

BUILD = "cat part.txt >bot.py; head -c 16 /dev/urandom | od -An -tx1 >made; ln -s made link\n"
LIMITS = Limits(build_mib=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/part.txt").write_text("print()\n")
    (tmp_path / "mine/build.sh").write_text(BUILD)
    (tmp_path / "shared.txt").write_text("1")
    return tmp_path


def entry(folder: Path, **changed: object) -> Entry:
    table = {
        "name": "mine",
        "directory": str(folder / "mine"),
        "build": "sh build.sh",
        "command": "python bot.py",
        "readable": [str(folder / "shared.txt")],
    }
    return Entry.model_validate({**table, **changed})


class Builds:
    """Builds an entry in one run after another, with one cache."""

    def __init__(self, folder: Path, cache: BuildCache | None = None) -> None:
        self.folder = folder
        self.cache = cache or BuildCache(folder / "cache")
        self.runs = 0
        self.begun: list[str] = []

    def build(
        self, one: Entry, limits: Limits = LIMITS, sandbox: Sandbox | None = None
    ) -> tuple[str, bool]:
        """Return what the build has made, "" if it failed, and whether it was kept."""
        self.runs += 1
        run = self.folder / f"run-{self.runs}"
        (run / "logs").mkdir(parents=True)
        builder = EntryBuilder(
            run / "builds",
            run / "logs",
            limits,
            sandbox=sandbox,
            changed=lambda: self.begun.extend(builder.building),
            cache=self.cache,
        )
        asyncio.run(builder.build([one], 1))
        made = builder.build_directory(one) / "link"
        return made.read_text() if made.exists() else "", one.name in builder.unchanged


def test_what_has_not_changed_is_not_built_again(folder: Path, sandbox: Sandbox) -> None:
    builds = Builds(folder)
    first, kept = builds.build(entry(folder), sandbox=sandbox)
    assert (first != "", kept) == (True, False)
    assert builds.build(entry(folder), sandbox=sandbox) == (first, True)
    assert builds.begun == ["mine"]
    os.utime(Path(asara.__file__).parent)  # as when Python writes __pycache__ there
    again = Builds(folder / "other", BuildCache(folder / "cache"))
    assert again.build(entry(folder), sandbox=sandbox) == (first, True)


def test_whatever_a_build_depends_on_has_it_built_again(folder: Path, sandbox: Sandbox) -> None:
    builds = Builds(folder)
    seen = {builds.build(entry(folder), sandbox=sandbox)[0]}

    def built_again(one: Entry, limits: Limits = LIMITS) -> None:
        made, kept = builds.build(one, limits, sandbox)
        assert not kept
        assert made not in {"", *seen}
        seen.add(made)

    built_again(entry(folder, build="sh -e build.sh"))
    built_again(entry(folder, environment={"CFLAGS": "-O3"}))
    built_again(entry(folder), Limits(build_mib=21))
    built_again(entry(folder, name="yours"))  # never that of another entry
    (folder / "shared.txt").write_text("2")
    built_again(entry(folder))
    (folder / "mine/part.txt").write_text("print(1)\n")
    built_again(entry(folder))
    (folder / "mine/part.txt").chmod(0o755)
    built_again(entry(folder))
    assert len(list((folder / "cache").iterdir())) == 2  # one build for each entry


def test_a_build_that_failed_or_was_not_contained_is_not_kept(
    folder: Path, sandbox: Sandbox
) -> None:
    builds = Builds(folder)
    (folder / "mine/build.sh").write_text(BUILD + "exit 1\n")
    assert builds.build(entry(folder), sandbox=sandbox) == ("", False)
    (folder / "mine/build.sh").write_text("true\n")  # leaves no program
    assert builds.build(entry(folder), sandbox=sandbox) == ("", False)
    (folder / "mine/build.sh").write_text(BUILD)
    assert builds.build(entry(folder))[0]  # without a sandbox
    assert list(archives(folder)) == []


def test_a_build_whose_files_changed_meanwhile_is_not_kept(folder: Path, sandbox: Sandbox) -> None:
    class Late(BuildCache):
        def place(self, one: Entry, limits: Limits, *rest: object) -> KeptBuild:
            kept = super().place(one, limits, *rest)  # type: ignore[arg-type]
            with (folder / "mine/part.txt").open("a") as file:
                file.write("\n")
            return kept

    assert Builds(folder, Late(folder / "cache")).build(entry(folder), sandbox=sandbox)[0]
    assert list(archives(folder)) == []


def test_a_kept_build_is_read_only_and_used_only_if_it_is_whole_and_nobody_elses(
    folder: Path, sandbox: Sandbox
) -> None:
    builds = Builds(folder)
    first, _ = builds.build(entry(folder), sandbox=sandbox)
    [archive] = archives(folder)
    assert archive.stat().st_mode & 0o777 == 0o400
    assert archive.parent.stat().st_mode & 0o777 == 0o700
    assert (folder / "cache").stat().st_mode & 0o777 == 0o700
    content = archive.read_bytes()
    archive.chmod(0o600)
    archive.write_bytes(content[:1_000])
    second, kept = builds.build(entry(folder), sandbox=sandbox)
    assert (second not in {first, ""}, kept) == (True, False)
    (folder / "cache").chmod(0o777)  # anybody could have put it there
    assert builds.build(entry(folder), sandbox=sandbox)[1] is False


def archives(folder: Path) -> Iterable[Path]:
    return (folder / "cache").glob("*/*")
