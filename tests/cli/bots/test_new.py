"""`asara new`, which makes the folder of a bot."""

import os
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from asara_server import bundled
from asara_server.cli.options.languages import LANGUAGES
from asara_server.cli.sessions import new_bot
from asara_server.cli.sessions.new_bot import package_name
from tests.cli.command import asara, command_line, environment, refusal
from tests.tournament.sandbox_config import sandbox_or_skip

FILES = [".github/workflows/check.yml", ".gitignore", "README.md", "bot.toml", "check"]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_bot_in_python_plays_and_is_checked(tmp_path: Path) -> None:
    done = asara("new", "python", "my bots/Mine 2", cwd=_folder(tmp_path / "my bots").parent)
    folder = tmp_path / "my bots/Mine 2"
    assert done.returncode == 0
    assert done.stderr == (
        "Created my bots/Mine 2, a Python bot. Its source is my bots/Mine 2/main.py\n"
        "The bot is called mine-2, a name that all package managers accept.\n"
        "Next steps:\n"
        "  asara match 'my bots/Mine 2' greedy    # play a match\n"
        "  asara check 'my bots/Mine 2'           # check it the way an organiser would\n"
    )
    assert files(folder) == sorted([*FILES, "main.py"])
    assert tomllib.loads((folder / "bot.toml").read_text())["name"] == "mine-2"
    played = asara("match", folder, "greedy", "--sandbox", "none", cwd=tmp_path, status=0)
    assert "mine-2" in played.stdout
    sandbox_or_skip()
    path = f"{Path(command_line()[0]).parent}:{os.environ['PATH']}"
    words = [str(folder / "check"), "--sandbox", "bubblewrap", "--rules", "basic"]
    check = subprocess.run(
        words,
        cwd="/",
        env={**environment(), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (check.returncode, check.stdout.splitlines()[-1]) == (0, "mine-2 works.")


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.name)
def test_every_language_has_all_its_files(tmp_path: Path, language) -> None:
    """Names and paths are the new ones, and nothing that a build leaves is copied."""
    done = asara("new", language.name, "mine", "--no-fetch", cwd=tmp_path, status=0)
    assert "The bot is called" not in done.stderr
    folder = tmp_path / "mine"
    found = files(folder)
    assert {*FILES, language.source} <= set(found)
    assert (folder / "asara").is_dir() == language.kit
    results = {"node_modules", "vendor", "target", "dist", "__pycache__", ".asara-build", ".git"}
    assert not [name for name in found if results & set(Path(name).parts)]
    for name in found:
        path = folder / name
        assert not path.is_symlink()
        if not name.startswith("asara/") and language.starter != "random":
            text = path.read_text()
            assert "../../" not in text, name
            assert language.starter not in text, name
    assert tomllib.loads((folder / "bot.toml").read_text())["name"] == "mine"
    workflow = yaml.safe_load((folder / ".github/workflows/check.yml").read_text())
    steps = [step.get("run") for step in workflow["jobs"]["check"]["steps"]]
    assert steps[-1] == "./check"
    fetch = folder / "fetch.sh"
    assert ("./fetch.sh" in steps) == fetch.exists()
    assert ("fetch.sh" in done.stderr) == fetch.exists()
    for program in ("check", *(["fetch.sh"] if fetch.exists() else [])):
        assert stat.S_IMODE((folder / program).stat().st_mode) == 0o755
    assert "$" not in (folder / "README.md").read_text()
    assert all(len(line) <= 100 for line in (folder / "README.md").read_text().splitlines())


NO_GO = """\
go not on PATH: install Go 1.22 or newer (https://go.dev/dl), then run mine/fetch.sh
Next steps:
  mine/fetch.sh              # download packages
  asara match mine greedy    # play a match
"""


@pytest.mark.parametrize(
    ("go", "status", "said"),
    [
        ("/bin/true", 0, "Downloading packages: mine/fetch.sh\n"),
        ("/bin/false", 1, "mine/fetch.sh failed: run it again before the first match\n"),
        ("", 1, NO_GO),
    ],
    ids=["fetched", "failed", "no tools"],
)
def test_packages_are_fetched_or_the_remedy_is_named_and_the_folder_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go: str, status: int, said: str
) -> None:
    bin_folder = _folder(tmp_path / "bin")
    for name, source in (("sh", "/bin/sh"), ("dirname", "/usr/bin/dirname"), ("go", go)):
        if source:
            (bin_folder / name).symlink_to(source)
    monkeypatch.setattr(new_bot, "search_path", lambda: str(bin_folder))
    monkeypatch.setenv("PATH", str(bin_folder))
    assert said in asara("new", "go", "mine", cwd=tmp_path, status=status).stderr
    assert (tmp_path / "mine/main.go").exists()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My Bot 2", "my-bot-2"),
        ("Grübel", "grubel"),
        ("3d", "bot-3d"),
        ("asara", "bot-asara"),
        ("名前", "my-bot"),
        ("a" * 99, "a" * 32),
        ("--x--", "x"),
    ],
)
def test_a_name_is_one_that_package_managers_take(text: str, name: str) -> None:
    assert package_name(text) == name


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (_folder(tmp_path / "full") / "mine.txt").write_text("kept")
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to("gone")
    _folder(tmp_path / "empty")
    before = files(tmp_path)
    for name, fault in (
        ("full", "is not empty"),
        (".", "is not empty"),
        ("file", "exists, and is not a folder"),
        ("link", "exists, and is not a folder"),
        ("file/x", "there is no folder"),
        ("gone/x", "there is no folder"),
        ("", "cannot be the path"),
        ("/", "cannot be the path"),
        ("a\0b", "characters that cannot be seen"),
        ("~nobody-here/x", "cannot be the path"),
        ("x" * 300, "File name too long"),
        ("a\x1bb", "characters that cannot be seen"),
        ("file/../Greedy", "Greedy: greedy is a built-in bot; choose another name, such as my-gre"),
    ):
        said = refusal("new", "python", name, cwd=tmp_path)
        assert fault in said, name
        assert said.count("\n") == 1
    assert files(tmp_path) == before
    assert asara("new", "python", "empty", cwd=tmp_path).returncode == 0
    assert (tmp_path / "empty/main.py").exists()


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(new_bot, "_write_templates", fail)
    done = asara("new", "python", "mine", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        *(1, "asara: mine: cannot be created: No space left on device\n"),
    )
    assert list(tmp_path.iterdir()) == []
    if os.geteuid():
        tmp_path.chmod(0o500)
        assert "cannot be created: Permission denied" in asara("new", "go", tmp_path / "x").stderr


def test_a_bundle_without_permissions_still_makes_programs(tmp_path: Path, monkeypatch) -> None:
    """An installer may lose them, or make all files read-only."""
    copy = tmp_path / "data"
    for part in ("bots/go-random", "clients/go"):
        shutil.copytree(bundled.path(*part.split("/")), copy / part, symlinks=False)
    for path in copy.rglob("*"):
        path.chmod(0o444 if path.is_file() else 0o555)
    monkeypatch.setattr(bundled, "path", copy.joinpath)
    assert asara("new", "go", "mine", "--no-fetch", cwd=tmp_path).returncode == 0
    assert os.access(tmp_path / "mine/fetch.sh", os.X_OK)
    (tmp_path / "mine/main.go").write_text("mine now")
    for path in copy.rglob("*"):
        path.chmod(0o755)
