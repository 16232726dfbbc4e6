"""Folders with a bot.toml, in all that takes a bot."""

import shutil
from pathlib import Path

import pytest

from asara_server import bundled
from asara_server.cli.options.bots import find_bots
from asara_server.tournament.config.tournament_file import load_tournament
from tests.cli.command import asara, refusal
from tests.tournament import sample_bots
from tests.tournament.sandbox_config import sandbox_or_skip

CONTAINED = ("--sandbox", "bubblewrap")
BUILD = """
echo compiling
[ -e "$TMPDIR/cache" ] && echo again >> builds.txt || echo first >> builds.txt
touch "$TMPDIR/cache"
cp source.py built.py
echo "$ASARA_BUILD" > kind.txt
(: </dev/tcp/127.0.0.1/1) 2>/dev/null
echo "$TMPDIR" > cache.txt
"""


def write(folder: Path, bot_toml: str, **files: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(bot_toml)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def built_bot(folder: Path, build: str = BUILD) -> Path:
    text = 'name = "Built"\ncommand = "python built.py"\nbuild = "sh build.sh"\n'
    return write(folder, text, source_py=sample_bots.GOOD, build_sh=build)


def kept(run: str) -> str:
    """Return the notices about a run that is kept."""
    browser = f"To watch the matches in a browser: asara web {run}\n"
    return f"Results, replays and bot output: {run}\n{browser}"


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_folder_is_built_in_place_with_a_cache_and_plays_with_its_settings(
    tmp_path: Path, sandbox: str
) -> None:
    if sandbox == "bubblewrap":
        sandbox_or_skip()
    folder = built_bot(tmp_path / "my bots/mine")
    settings = 'command = "python built.py 3"\nname = "Deep thought"\nenvironment = { LEVEL = 4 }\n'
    (folder / "bot.toml").write_text(f'{settings}build = "sh build.sh"\n')
    says = "print('level', os.environ['LEVEL'], sys.argv[1], '.asara-build' in os.listdir('.'))\n"
    (folder / "source.py").write_text(f"import os, sys\n{says}{sample_bots.GOOD}")
    for number in (1, 2):
        run = f"run{number}"
        words = ("match", "my bots/mine", "random", "--sandbox", sandbox, "--out", run)
        done = asara(*words, cwd=tmp_path)
        building = "Building Deep thought: sh build.sh\n"
        assert (done.returncode, done.stderr) == (0, building + kept(run))
        assert "Deep thought" in done.stdout
        log = (tmp_path / run / "logs/r1-basic-0001/0-Deep thought.log").read_text()
        assert f"level 4 3 {sandbox == 'none'}\n" in log  # a copy has no cache
    assert (folder / "builds.txt").read_text() == "first\nagain\n"
    assert (folder / "kind.txt").read_text() == "in-place\n"
    assert (folder / "cache.txt").read_text() == f"{folder}/.asara-build\n"
    assert sorted(path.name for path in folder.iterdir()) == [
        ".asara-build",
        *("bot.toml", "build.sh", "builds.txt", "built.py", "cache.txt", "kind.txt", "source.py"),
    ]


@pytest.mark.long
def test_a_build_that_fails_ends_the_command_with_what_it_printed(tmp_path: Path) -> None:
    sandbox_or_skip()
    folder = built_bot(tmp_path / "mine", "echo 'x.c:3: error'\nexit 3\n")
    done = asara("match", folder, "random", *CONTAINED, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Building Built: sh build.sh\n"
        "  | x.c:3: error\n"
        "asara: bot 'Built': its build failed: exited with status 3\n"
    )
    (folder / "build.sh").write_text("true\n")
    done = asara("match", folder, "random", *CONTAINED, cwd=tmp_path)
    assert done.stderr.endswith(
        "asara: bot 'Built': its build left no program for its command: no such file 'built.py' in "
        f"{folder}; did you mean 'build.sh'?\n"
    )


def test_packages_that_were_not_fetched_are_named(tmp_path: Path) -> None:
    folder = built_bot(tmp_path / "mine")
    (folder / "fetch.sh").touch()
    words = ("match", folder, "random", "--sandbox", "none")
    script = f"{folder}/fetch.sh"
    remedy = (
        f"; run {script} once, which downloads the packages that the bot is built with; it is not "
        "contained, so read it first if it is not yours\n"
    )
    for fault in ("dial tcp: lookup b.org", "package asara does not exist", "no package asara"):
        (folder / "build.sh").write_text(f"echo {fault}\nexit 1\n")
        assert asara(*words, cwd=tmp_path).stderr.endswith(f"exited with status 1{remedy}"), fault
    (folder / "vendor").mkdir()
    assert asara(*words, cwd=tmp_path).stderr.endswith("exited with status 1\n")
    with (folder / "bot.toml").open("a") as file:
        file.write('readable = ["node_modules"]\n')
    assert asara("match", "mine", "random", cwd=tmp_path).stderr == (
        "asara: mine/bot.toml: readable: 'node_modules' does not exist; run the fetch.sh of the "
        "folder, which downloads packages\n"
    )


@pytest.mark.long
def test_copies_of_a_bot_are_called_as_their_folders_and_each_folder_is_built_once(
    tmp_path: Path,
) -> None:
    for name in ("mine", "yesterday"):
        built_bot(tmp_path / name)
    words = ("match", "mine", "yesterday", "mine", "--sandbox", "none")
    done = asara(*words, cwd=tmp_path)
    assert done.stderr.count("Building") == 2
    assert {line.split()[1] for line in done.stdout.splitlines()[2:]} == {
        *("mine", "mine-2", "yesterday")
    }


def test_a_build_cannot_make_other_files_readable(tmp_path: Path) -> None:
    sandbox_or_skip()
    (tmp_path / "secret").mkdir()
    folder = built_bot(tmp_path / "mine", f"mv a b; mkdir a; ln -s {tmp_path}/secret a/data\n")
    with (folder / "bot.toml").open("a") as file:
        file.write('readable = ["a/data"]\n')
    (folder / "a/data").mkdir(parents=True)
    done = asara("match", folder, "random", *CONTAINED, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(
        f"asara: bot 'Built': its build replaced {folder}/a/data, which is `readable`; let it "
        "write elsewhere\n"
    )


def test_a_built_in_bot_that_nobody_can_build_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = tmp_path / "bots"
    built_bot(bots / "rust-random")
    monkeypatch.setattr(bundled, "path", tmp_path.joinpath)
    monkeypatch.setattr(bundled, "is_installed", lambda: True)
    done = asara("match", "rust-random", "rust-random", "--sandbox", "none", cwd=tmp_path, status=2)
    assert done.stderr == (
        "asara: bot 'Built': it must be built, and the folder of the built-in bot 'rust-random' is "
        "not yours to write to; make your own copy with `asara new rust my-bot`, and name that\n"
    )
    assert not (bots / "rust-random/built.py").exists()
    built_bot(bots / "go-search")
    done = asara("match", "go-search", "go-search", "--sandbox", "none", cwd=tmp_path, status=2)
    assert done.stderr.endswith("is not yours to write to; play it in a checkout of your own\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "command: is missing"),
        ("command = 'python gone.py'", "command: no such file 'gone.py' in "),
        ("\ufeffcommand = 'a'\r\nbuild = './gone'\r\n", "build: no such file './gone' in "),
        ("command = 'a'\nbulid = 'b'", "bulid: unknown setting; did you mean 'build'?"),
        ("command = [", "bot.toml: "),
    ],
)
def test_a_fault_of_a_bot_file_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    write(tmp_path / "mine", text)
    said = refusal("match", "mine", "random", "--sandbox", "none", cwd=tmp_path)
    assert said.startswith("asara: mine/bot.toml: ")
    assert fault in said
    assert said.count("\n") == 1
    said = refusal("tournament", "plan", cup(tmp_path, '[[entries]]\ndirectory = "mine"\n'))
    assert fault.split(" in ", maxsplit=1)[0] in said.replace("cup.toml: entry 1: mine/", "")


def test_a_folder_with_the_name_of_a_built_in_bot_is_given_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = write(tmp_path / "greedy", 'command = "python bot.py"\n', bot_py=sample_bots.GOOD)
    monkeypatch.chdir(tmp_path)
    found = find_bots(["greedy", "greedy --seed 1", "./greedy", "greedy/", str(mine)])
    built_in = bundled.path("bots", "greedy").resolve()
    assert [bot.directory for bot in found] == [built_in, built_in, mine, mine, mine]


def cup(folder: Path, entries: str) -> Path:
    rest = '[[entries]]\nname = "other"\ncommand = "python other.py"\n'
    (folder / "other.py").write_text(sample_bots.GOOD)
    (folder / "cup.toml").write_text(f'seats = 2\nrules = "basic"\n{entries}{rest}')
    return folder / "cup.toml"


def test_the_keys_of_the_table_take_precedence(tmp_path: Path) -> None:
    built_bot(tmp_path / "mine")
    lines = 'directory = "mine"\nteam = "us"\nname = "Ours"\nenvironment = { A = "1" }\n'
    entry = load_tournament(cup(tmp_path, f"[[entries]]\n{lines}")).entries[0]
    assert (entry.name, entry.team, entry.environment) == ("Ours", "us", {"A": "1"})
    assert (entry.command, entry.build) == (("python", "built.py"), ("sh", "build.sh"))
    shutil.copy(tmp_path / "mine/source.py", tmp_path / "mine/plain.py")
    lines = 'directory = "mine"\nname = "Plain"\ncommand = "python plain.py"\n'
    entry = load_tournament(cup(tmp_path, f"[[entries]]\n{lines}")).entries[0]
    assert (entry.name, entry.command, entry.build) == ("Plain", ("python", "plain.py"), ())
