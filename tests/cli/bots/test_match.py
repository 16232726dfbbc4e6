import re
import sys
from pathlib import Path

import pytest

from asara.installing import install_command
from asara_server.cli.display.progress import wait_text
from asara_server.cli.sessions.run import notify_run_directory
from asara_server.cli.sessions.web import WEB_PACKAGES
from asara_server.referee.hosted import Wait
from asara_server.replay.file import read_replay
from tests.cli.command import asara, refusal
from tests.tournament import sample_bots
from tests.tournament.sandbox_config import sandbox_or_skip


def write(folder: Path, name: str, code: str) -> str:
    (folder / f"{name}.py").write_text(code)
    return f"{name}.py"


def test_a_match_of_files_commands_and_built_in_bots(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", sample_bots.GOOD)
    done = asara(
        "match", mine, "python mine.py", "random", "--rules", "pro+gifts", cwd=tmp_path, status=0
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][:2] == ["Match", "r1-pro+gifts-0001"]
    assert lines[1] == ["seat", "entry", "rank", "prestige"]
    assert {line[1] for line in lines[2:5]} == {"mine", "mine-2", "random"}
    ranks = [line[2] for line in lines[2:5]]
    assert ranks[0] == "1"
    assert ranks == sorted(ranks)
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.py"]


@pytest.mark.long
def test_options_follow_the_name_of_a_built_in_bot_or_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    write(folder, "main", f"import sys\nprint(sys.argv[1:], file=sys.stderr)\n{sample_bots.GOOD}")
    words = ("match", "mine --depth '2 3'", "search --iterations 1 --candidates 1", "--out", "run")
    done = asara(*words, cwd=tmp_path, status=0)
    assert {line.split()[1] for line in done.stdout.splitlines()[2:4]} == {"mine", "search"}
    logs = [path.read_text() for path in (tmp_path / "run" / "logs").rglob("*-mine.log")]
    assert any("['--depth', '2 3']" in text for text in logs)
    wrong = asara("match", "search --iterations 0", "random", cwd=tmp_path).stderr
    assert "argument --iterations: '0' is not a number from 1 to 999,999,999" in wrong


@pytest.mark.long
def test_mirrored_matches_are_whole_blocks_of_one_deal(tmp_path: Path) -> None:
    words = ("match", "random", "random", "--mirrored", "--seed", "spring")
    asara(*words, "--matches", "4", "--out", "run", cwd=tmp_path, status=0)
    headers = {
        path.stem: read_replay(path).header for path in (tmp_path / "run" / "replays").iterdir()
    }
    assert set(headers) == {
        "r1-basic-0001-1",
        "r1-basic-0001-2",
        "r2-basic-0002-1",
        "r2-basic-0002-2",
    }
    for name in ("r1-basic-0001", "r2-basic-0002"):
        one, two = headers[f"{name}-1"], headers[f"{name}-2"]
        assert one.deal_secret == two.deal_secret
        assert one.processes == two.processes == ("run", "run")
        assert one.entries == two.entries[::-1]
    assert len({header.deal_secret for header in headers.values()}) == 2
    assert asara(*words, cwd=tmp_path).stdout.startswith("random – random-2: 2 matches")
    assert refusal(*words, "--matches", "3", cwd=tmp_path) == (
        "asara: --mirrored plays each deal in 2 matches; --matches must be a multiple of 2, not 3\n"
    )


def test_the_log_of_a_bot_names_its_forfeit(tmp_path: Path) -> None:
    hang = write(tmp_path, "hang", "import signal\nsignal.pause()\n")
    words = ("match", hang, "random", "--sandbox", "none", "--start-up", "0.5", "--out", "run")
    assert asara(*words, cwd=tmp_path).returncode == 0
    log = (tmp_path / "run/logs/r1-basic-0001/0-hang.log").read_text()
    assert re.search(r"^# [0-9:]+ forfeit: never started$", log, re.MULTILINE)
    assert refusal(*words, cwd=tmp_path) == (
        "asara: run: already contains a run; choose another folder, such as run-2, or delete that "
        "run first\n"
    )


def test_a_missing_extra_is_named_before_the_command_that_needs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, WEB_PACKAGES[-1], None)  # as if it were not installed
    notify_run_directory(Path("runs/first"))
    shown = " ".join(capsys.readouterr().err.split())
    assert shown.endswith(f"in a browser: {install_command('web')}, then asara web runs/first")


def test_a_bot_is_started_in_its_own_folder_from_wherever_it_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    write(folder, "reader", "open('weights.txt').read()\n" + sample_bots.GOOD)
    (folder / "weights.txt").touch()
    (tmp_path / "link.py").symlink_to(folder / "reader.py")
    done = asara("match", "mine/reader.py", "link.py", "--sandbox", "bubblewrap", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_bot_that_misses_a_file_is_told_how_to_show_it(tmp_path: Path) -> None:
    sandbox_or_skip()
    imports = "open('older.py')\nimport older\n"
    newer = write(tmp_path, "newer", imports + sample_bots.GOOD)
    older = write(tmp_path, "older", sample_bots.GOOD.replace("asara.run(", "if False: print("))
    words = ("match", newer, older, "--sandbox", "bubblewrap", "--start-up", "60")
    stderr = asara(*words, cwd=tmp_path).stderr
    assert "No such file or directory: 'older.py'" in stderr
    assert "in the sandbox, a bot sees its own folder alone" in stderr
    shown = asara(*words, "--readable", "older.py", cwd=tmp_path).stderr
    assert "older forfeits" in shown
    assert "newer forfeits" not in shown
    assert refusal(*words, "--readable", "no.py", cwd=tmp_path) == (
        "asara: --readable no.py: no such file or folder\n"
    )
    assert "--readable /: is more than a bot may see" in refusal(*words, "--readable", "/")


def test_names_of_files_and_folders_are_corrected(tmp_path: Path) -> None:
    """A name with a space is that of a file or folder, if there is one, and no command."""
    spaced = tmp_path / "my bot"
    spaced.mkdir()
    write(spaced, "clever", "")
    write(tmp_path, "mine", "")
    (spaced / "bot.js").touch()

    def refused(name: str) -> str:
        text = refusal("match", name, "random", cwd=tmp_path)
        assert text.startswith(f"asara: bot {name!r}: ")
        return text.partition(": ")[2].removeprefix(f"bot {name!r}: ").rstrip("\n")

    folder = "the folder has no bot.toml, main.py or main.go; did you mean "
    for name in ("my bot", "my bot/", "./my bot"):
        assert refused(name) == f"{folder}'my bot/clever.py'?"
    write(spaced, "my_bot", "")
    assert refused("my bot") == f"{folder}'my bot/my_bot.py'?"
    (spaced / "my_bot.py").unlink()
    write(spaced, "other", "")
    assert (
        refused("my bot") == "the folder has no bot.toml, main.py or main.go; pass the bot's file"
    )
    assert refused("mine") == "no such file; did you mean 'mine.py'?"
    assert refused("my bot/other") == "no such file; did you mean 'my bot/other.py'?"
    assert refused("my bot/bot.js").endswith(
        "is not executable; make it so with chmod +x, or put its interpreter first, such as "
        "'node bot.js'"
    )
    (spaced / "bot.toml").touch()
    assert refused("my bot/bot.toml") == "pass its folder instead"


def test_progress_names_the_bot_that_a_match_waits_for() -> None:
    assert wait_text([]) == ""
    quick = Wait("ann", "m1", 4, waited_s=2.9, left_s=57.0)
    slow = Wait("bob", "m2", 17, waited_s=8.0, left_s=52.0)
    absent = Wait("cid", "m3", 0, waited_s=4.0, left_s=6.0)
    assert wait_text([quick]) == ""
    assert wait_text([slow, quick]) == "waiting for bob: decision 17 of m2 (52 s left)"
    assert wait_text([absent]) == "waiting for cid to connect (6 s left)"
    assert wait_text([slow, absent]).endswith("(52 s left), and for 1 more bot")
    debugged = slow._replace(left_s=86_392.0)
    assert wait_text([debugged]) == "waiting for bob: decision 17 of m2"


def test_without_a_home_the_key_is_beside_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.touch()  # a file, which not even root can enter
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    done = asara(
        "match", "random", "random", "--sandbox", "none", "--out", "run", cwd=tmp_path, status=0
    )
    text = f"{home}/.config/asara cannot be written, so this run is signed with the key run.key\n"
    assert done.stderr.startswith(text)
    assert (tmp_path / "run.key").is_file()
