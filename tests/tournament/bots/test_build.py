"""Builds of entries: what a build may do, and the consequence if it fails."""

import asyncio
import gc
import os
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.tournament.bots.build import EntryBuilder
from asara_server.tournament.config.commands import check_command
from asara_server.tournament.config.tournament_file import Tournament, load_tournament
from asara_server.tournament.runner import Runner
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from tests.tournament import sample_bots
from tests.tournament.runs import by_id, matches_at, play
from tests.tournament.sample_bots import HEADER
from tests.tournament.sandbox_config import living, sandbox_or_skip

LIMITS = "[limits]\nbuild_s = 60\nbuild_mib = 20\n"

BUILD = "cat part.txt >bot.py; echo built by $(id -u); mkdir deep; touch deep/object.o"
"""Script that builds a bot."""


def enter(folder: Path, builds: Mapping[str, str]) -> Path:
    """Write a tournament with an entry for each of these build scripts, and one without a build."""
    text = HEADER + LIMITS
    for name, script in builds.items():
        (folder / name).mkdir()
        (folder / name / "part.txt").write_text(sample_bots.GOOD)
        (folder / name / "build.sh").write_text(script)
        text += sample_bots.entry_table(name, "python bot.py", build='"sh build.sh"')
    (folder / "plain.py").write_text(sample_bots.GOOD)
    text += '\n[[entries]]\nname = "plain"\ncommand = "python plain.py"\n'
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


@pytest.fixture(params=["bubblewrap", "none"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox | None:
    if request.param == "none":
        return None
    return sandbox_or_skip((tmp_path / "cup.toml",), (tmp_path,))


def build(file: Path, sandbox: Sandbox | None) -> dict[str, str]:
    """Build all entries; return those that failed with the reasons."""
    tournament: Tournament = load_tournament(file)
    run = file.parent / "run"
    (run / "logs").mkdir(parents=True, exist_ok=True)
    builder = EntryBuilder(run / "builds", run / "logs", tournament.limits, sandbox=sandbox)
    return asyncio.run(builder.build(tournament.entries, 2))


@pytest.mark.long
def test_an_entry_plays_as_it_was_built_and_the_original_stays_as_it_was(
    tmp_path: Path, sandbox: Sandbox | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run directory is relative, as with `--out run`, and a program is a file of the build."""
    program = "(echo '#!/usr/bin/env python3'; cat part.txt) >bot; chmod +x bot"
    file = enter(tmp_path, {"made": BUILD, "program": program})
    before, after = file.read_text().split('name = "program"')
    file.write_text(f'{before}name = "program"{after.replace("python bot.py", "./bot", 1)}')
    monkeypatch.chdir(tmp_path)
    matches = matches_at(("made", "plain"), ("program", "made"))
    end = play(file, Path("run"), sandbox=sandbox, matches=matches)
    assert not any(result.forfeits for result in end.results)
    assert end.out == {}
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["build.sh", "part.txt"]
    assert (tmp_path / "run/builds/made/bot.py").read_text() == sample_bots.GOOD
    assert "built by " in (tmp_path / "run/logs/build-made.log").read_text()
    assert (tmp_path / "run/builds").stat().st_mode & 0o077 == 0


@pytest.mark.long
def test_who_cannot_be_built_is_out_with_the_reason_and_the_others_play(
    tmp_path: Path, sandbox: Sandbox | None
) -> None:
    builds = {
        "made": BUILD,
        "fails": "echo no compiler; exit 2",
        "leaves-nothing": "true",
        "endless": "sleep 60 & sleep 60",
        "large": "for i in 1 2 3 4 5; do head -c 8000000 /dev/zero >file$i; done",
    }
    file = enter(tmp_path, builds)
    file.write_text(file.read_text().replace("build_s = 60", "build_s = 8"))
    too_large = "its folder contains more than 20 MiB (limits.build_mib)"
    if sandbox is not None:  # the kernel limits it
        too_large = "exited with status 1; its folder may take 20 MiB (limits.build_mib)"
    end = play(
        file,
        tmp_path / "run",
        sandbox=sandbox,
        matches=matches_at(*[("plain", name) for name in builds]),
    )
    assert end.out == {
        "fails": "build failed: exited with status 2",
        "leaves-nothing": "build failed: it left no program for the command 'python bot.py'",
        "endless": "build failed: not finished after 8 s; limits.build_s allows more",
        "large": f"build failed: {too_large}",
    }
    results = by_id(end)
    assert results["m0"].forfeits == ()
    for number, name in enumerate(list(builds)[1:], start=1):
        (line,) = results[f"m{number}"].forfeits
        assert (line.entry, line.termination) == (name, Termination.NEVER_STARTED)
        assert line.detail == end.out[name]
    assert "no compiler" in (tmp_path / "run/logs/build-fails.log").read_text()
    log = (tmp_path / "run/logs/build-large.log").read_text()
    assert ("No space left on device" in log) == (sandbox is not None)
    assert [path.name for path in (tmp_path / "run/builds").iterdir()] == ["made"]


def test_what_a_build_starts_ends_with_it(tmp_path: Path, sandbox: Sandbox | None) -> None:
    mark = f"7{os.getpid()}.25"
    child = f"(trap '' HUP TERM; setsid sleep {mark} & setsid sleep {mark} & : >up; kill -STOP 0)"
    script = f"setsid sh -c {shlex.quote(child)} & {BUILD}; until [ -e up ]; do sleep 0.02; done"
    file = enter(tmp_path, {"made": script})
    assert build(file, sandbox) == {}
    assert living(mark) == []


def test_what_cannot_be_copied_is_left_out_or_refused(
    tmp_path: Path, sandbox: Sandbox | None
) -> None:
    file = enter(tmp_path, {"made": BUILD, "sparse": BUILD})
    os.mkfifo(tmp_path / "made" / "pipe")
    (tmp_path / "made" / "loop").symlink_to("loop")
    (tmp_path / "made" / "nowhere").symlink_to("no/such/file")
    with (tmp_path / "sparse" / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    assert build(file, sandbox) == {
        "sparse": "build failed: its folder contains more than 20 MiB (limits.build_mib)"
    }
    copied = {path.name for path in (tmp_path / "run/builds/made").iterdir()}
    assert "pipe" not in copied
    assert "nowhere" in copied


def test_a_run_that_is_stopped_does_not_wait_for_a_build(
    tmp_path: Path, sandbox: Sandbox | None, caplog: pytest.LogCaptureFixture
) -> None:
    file = enter(tmp_path, {"endless": "sleep 60"})

    def stop(runner: Runner) -> None:
        asyncio.get_running_loop().call_later(0.5, runner.stop)

    end = play(
        file,
        tmp_path / "run",
        sandbox=sandbox,
        begun=stop,
        matches=matches_at(("endless", "plain")),
    )
    assert (end.results, end.out) == ((), {})
    assert list((tmp_path / "run/builds").iterdir()) == []
    gc.collect()
    assert "Traceback" not in caplog.text


def test_what_was_built_is_not_built_again(tmp_path: Path, sandbox: Sandbox | None) -> None:
    file = enter(tmp_path, {"made": BUILD, "fails": "exit 1"})
    assert build(file, sandbox).keys() == {"fails"}
    half = tmp_path / "run/builds/.fails"  # as left by a run that was killed
    half.mkdir()
    (half / "junk").touch()
    assert build(file, sandbox).keys() == {"fails"}
    assert (tmp_path / "run/logs/build-made.log").read_text().count("built by") == 1
    assert not half.exists()


def test_a_build_gets_at_nothing_but_its_copy(tmp_path: Path, sandbox: Sandbox | None) -> None:
    if sandbox is None:
        pytest.skip("without a sandbox, a build can read everything")
    script = f"""
    ls {tmp_path}; cat {tmp_path}/cup.toml; ls {tmp_path}/run
    echo spoilt >{tmp_path}/spy/part.txt; ln -s {tmp_path}/cup.toml bot.py
    cat /proc/net/dev | wc -l; env | grep TOKEN; ls /usr >/dev/null && touch /usr/x
    """
    file = enter(tmp_path, {"spy": script})
    assert build(file, sandbox) == {
        "spy": "build failed: exited with status 1",
    }
    log = (tmp_path / "run/logs/build-spy.log").read_text()
    printed = [line for line in log.splitlines() if not line.startswith("#")]
    assert printed[0] == "spy"
    assert sum("No such file" in line for line in printed) == 2
    assert "3" in printed  # two header lines and the loopback
    assert "Read-only file system" in printed[-1]
    assert (tmp_path / "spy" / "part.txt").read_text() == sample_bots.GOOD
    assert "seats" not in log


FORGE = """
cat part.txt >bot.py; python - <<'END'
import io, os, tarfile

def add(tar, name, kind, target="", content=b""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = kind, target, len(content), 0o755
    tar.addfile(info, io.BytesIO(content))

archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w") as tar:
    add(tar, "./bot.py", tarfile.REGTYPE, content=open("part.txt", "rb").read())
    add(tar, "./payload", tarfile.REGTYPE, content=b"forged")
    for name, kind, target in {members!r}:
        add(tar, name, kind, target)
for name in os.listdir("/proc/self/fd"):
    if int(name) > 2 and os.path.exists(f"/proc/self/fd/{{name}}"):
        if "pipe" in os.readlink(f"/proc/self/fd/{{name}}"):
            os.write(int(name), archive.getvalue())
            print("forged")
END
"""
"""Script of a build that writes its own archive to the pipe of its output."""


@pytest.mark.long
def test_a_forged_archive_changes_nothing_outside_and_only_its_entry_is_out(
    tmp_path: Path,
) -> None:
    sandbox = sandbox_or_skip((tmp_path / "cup.toml",), (tmp_path,))
    victims = tmp_path / "victims"
    (victims / "folder").mkdir(parents=True)
    (victims / "file").write_text("unchanged")
    link, second_name = tarfile.SYMTYPE, tarfile.LNKTYPE
    forgeries = {
        "file": [("./l", link, f"{victims}/file"), ("./l", second_name, "./payload")],
        "folder": [("./l", link, f"{victims}/folder"), ("./l", second_name, "./payload")],
        "new": [("./l", link, f"{victims}/new"), ("./l", second_name, "./payload")],
        "loop": [("./l", link, "l"), ("./t", second_name, "./l/x")],
        "self": [("./payload", second_name, "./payload")],
    }
    builds = {name: FORGE.format(members=members) for name, members in forgeries.items()}
    file = enter(tmp_path, {**builds, "made": BUILD})
    end = play(file, tmp_path / "run", sandbox=sandbox, matches=matches_at(("made", "plain")))
    assert (victims / "file").read_text() == "unchanged"
    assert sorted(path.name for path in victims.rglob("*")) == ["file", "folder"]
    why = "build failed: its folder was not written as an archive of files"
    assert end.out == dict.fromkeys(forgeries, why)
    assert by_id(end)["m0"].forfeits == ()
    for name in forgeries:
        assert "forged\n" in (tmp_path / f"run/logs/build-{name}.log").read_text()


def test_what_goes_wrong_in_one_build_is_said_of_its_entry_alone(
    tmp_path: Path, sandbox: Sandbox | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: tuple[str, ...], directory: Path) -> None:
        if directory.name == ".loop":
            raise RuntimeError("Symlink loop from '/root'")
        check_command(words, directory)

    monkeypatch.setattr("asara_server.tournament.bots.build.check_command", fail)
    file = enter(tmp_path, {"loop": BUILD, "made": BUILD})
    why = "build failed: the referee cannot carry it out (RuntimeError)"
    assert build(file, sandbox) == {"loop": why}
    assert [path.name for path in (tmp_path / "run/builds").iterdir()] == ["made"]


HOARD = """cat part.txt >bot.py; python -c '
import os
kept, written = [], 0
try:
    for _ in range(12):
        kept.append(open("hoard", "wb", buffering=0))
        os.unlink("hoard")
        for _ in range(8):
            written += kept[-1].write(bytes(1 << 20))
except OSError as error:
    print(error)
print("wrote", written >> 20, "MiB")
'"""
"""Script that writes 96 MiB to files that it has deleted but keeps open."""


def test_deleted_files_count_while_a_build_keeps_them(
    tmp_path: Path, sandbox: Sandbox | None
) -> None:
    if sandbox is None:
        pytest.skip("without a sandbox, a build is not limited by the kernel")
    file = enter(tmp_path, {"hoards": HOARD})
    assert build(file, sandbox) == {}
    log = (tmp_path / "run/logs/build-hoards.log").read_text()
    assert "No space left on device" in log
    assert 18 <= int(log.rpartition("wrote ")[2].split()[0]) <= 20


def test_only_files_directories_and_links_survive_a_build(
    tmp_path: Path, sandbox: Sandbox | None
) -> None:
    script = """
    cat part.txt >bot.py; chmod 4755 bot.py; ln bot.py twin; ln -s bot.py link; ln -s .. up
    ln -s /no out; mkfifo pipe; mknod device c 1 3; mkdir deep; chmod 2755 deep; touch deep/object
    python -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"; true
    """
    file = enter(tmp_path, {"odd": script})
    assert build(file, sandbox) == {}
    made = tmp_path / "run/builds/odd"
    if sandbox is not None:
        log = (tmp_path / "run/logs/build-odd.log").read_text()
        assert "2 links that lead out of the folder were left out, such as " in log
    names = {"bot.py", "twin", "link", "deep", "part.txt", "build.sh"}
    if sandbox is None:
        names |= {"up", "out"}
    assert {path.name for path in made.iterdir()} == names
    assert [path.name for path in (made / "deep").iterdir()] == ["object"]
    assert (made / "link").readlink() == Path("bot.py")
    for path in made.rglob("*"):
        assert path.lstat().st_mode & 0o6000 == 0
    assert (made / "bot.py").stat().st_mode & 0o777 == 0o755
    assert (made / "twin").read_text() == (made / "bot.py").read_text()
    if sandbox is not None:
        assert (made / "bot.py").stat().st_nlink == 1
