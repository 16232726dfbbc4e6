"""Runtimes that a user has installed, as version managers lay them out in a home directory."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asara_server.tournament.config.commands import resolve_command, search_path
from asara_server.tournament.sandbox.runtimes import installation, visible_programs
from tests.sizes import others_long
from tests.tournament.sandbox import contained
from tests.tournament.sandbox_config import sandbox_or_skip

LOOKS = """
echo "runtime: $(cat {prefix}/VERSION)"
cat {home}/.netrc {home}/.nvm/token 2>/dev/null || echo "nothing else of the home"
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the home directory of a user, outside /tmp, of which the sandbox has its own."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".netrc").write_text("secret")
    (folder / ".nvm").mkdir()
    (folder / ".nvm/token").write_text("secret")
    yield folder
    shutil.rmtree(folder)


def install(prefix: Path) -> Path:
    """Install a runtime that looks like Go, and is a shell that can run a script."""
    for mark in ("src/runtime/runtime.go", "VERSION"):
        (prefix / mark).parent.mkdir(parents=True, exist_ok=True)
        (prefix / mark).write_text("go1.99")
    (prefix / "bin").mkdir()
    shutil.copy("/bin/sh", prefix / "bin/go")
    return prefix


def plainly(home: Path) -> tuple[Path, Path]:
    prefix = install(home / "sdk/go1.99")
    return prefix, prefix / "bin"


def by_linked_folder(home: Path) -> tuple[Path, Path]:
    """As sdkman and fnm do it: a link to the directory of the current version."""
    prefix = install(home / "candidates/go/1.99")
    (home / "candidates/go/current").symlink_to(prefix)
    return prefix, home / "candidates/go/current/bin"


def by_linked_program(home: Path) -> tuple[Path, Path]:
    """As uv does it: `~/.local/bin` holds links to programs."""
    prefix = install(home / ".local/share/go/1.99")
    (home / ".local/bin").mkdir()
    (home / ".local/bin/go").symlink_to(prefix / "bin/go")
    return prefix, home / ".local/bin"


def by_shim(home: Path) -> tuple[Path, Path]:
    """As pyenv, asdf and volta do it: a program that looks for the real one."""
    prefix = install(home / ".asdf/installs/go/1.99")
    shim = home / ".asdf/shims/go"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\n[ "$*" = "env GOROOT" ] && echo {prefix} || cat {home}/.netrc\n')
    shim.chmod(0o755)
    return prefix, shim.parent


COMMANDS = [
    (by_shim, "go look.sh"),
    (by_linked_folder, "go look.sh"),
    (by_linked_program, "go look.sh"),
    (plainly, "./start"),
    (plainly, "sh start.sh"),
]


@pytest.mark.parametrize(("layout", "command"), others_long(COMMANDS, 3))
def test_a_runtime_in_a_home_starts_and_shows_nothing_around_it(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    layout: Callable[[Path], tuple[Path, Path]],
    command: str,
) -> None:
    sandbox = sandbox_or_skip()
    prefix, on_path = layout(home)
    monkeypatch.setenv("PATH", f"{on_path}:/usr/bin:/bin")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "look.sh").write_text(LOOKS.format(prefix=prefix, home=home))
    (folder / "start").write_text("#!/usr/bin/env go\n. ./look.sh\n")
    (folder / "start").chmod(0o755)
    (folder / "start.sh").write_text("exec go look.sh\n")
    ending, printed = contained.run(sandbox, folder, command.split())
    assert ending == "exited with status 0", printed
    assert "runtime: go1.99\nnothing else of the home\n" in printed
    assert "secret" not in printed


@pytest.mark.parametrize("prefix", [".local", "."])
def test_a_folder_of_many_programs_is_no_installation(home: Path, prefix: str) -> None:
    """A runtime unpacked into ~/.local is visible as a single file, as any other program."""
    place = install(home / prefix)
    assert installation(str(place / "bin/go"), ask=True) == ()
    path = f"{home / prefix / 'bin'}:/usr/bin"
    shown = visible_programs(["go", "x"], home, {"PATH": path})
    assert [target for _, target in shown.mounts] == [Path(f"{home / prefix / 'bin'}/go")]


def test_a_shim_is_not_asked_in_the_folder_of_a_bot(home: Path, tmp_path: Path) -> None:
    """There, the author of a bot could choose what a version manager starts."""
    prefix = install(home / "real")
    shim = home / "shims/go"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\npwd >> {home}/asked\n[ "$(pwd)" = / ] && echo {prefix}\n')
    shim.chmod(0o755)
    (tmp_path / "go.mod").write_text("toolchain = 'mine'")
    shown = visible_programs(["go"], tmp_path, {"PATH": str(shim.parent)})
    assert shown.mounts == ((prefix, prefix),)
    assert shown.search_path(f"/usr/bin:{shim.parent}") == ["/usr/bin", f"{prefix}/bin"]
    assert (home / "asked").read_text() == "/\n"


@pytest.mark.parametrize("command", ["./go", "shims/go", "{folder}/go", "./gofmt"])
def test_a_program_of_a_bot_never_runs_outside_the_sandbox(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "mine"
    (folder / "shims").mkdir(parents=True)
    for name in ("go", "gofmt", "shims/go"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho /\n")
        (folder / name).chmod(0o755)
    words = resolve_command((command.format(folder=folder),), folder)
    assert visible_programs(words, folder, {"PATH": "/usr/bin:/bin"}).mounts == ()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", [".", "mine"])
def test_a_bot_cannot_make_its_folder_look_like_a_runtime(tmp_path: Path, place: str) -> None:
    """Otherwise it would see the folders of others around it, or share its own between matches."""
    install(tmp_path / place)
    folder = tmp_path / "mine"
    folder.mkdir(exist_ok=True)
    for program in (tmp_path / place / "bin/go", folder / "go"):
        shutil.copy("/bin/sh", program)
        shown = visible_programs([str(program)], folder, {"PATH": "/usr/bin:/bin"})
        assert shown.mounts == ()


def test_the_jdk_of_java_home_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jdk = home / "jdks/jdk-21"
    (jdk / "bin").mkdir(parents=True)
    (jdk / "lib").mkdir()
    (jdk / "lib/modules").touch()
    shutil.copy("/bin/sh", jdk / "bin/java")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("JAVA_HOME", str(jdk))
    shown = visible_programs(["java", "-jar", "bot.jar"], home, {"PATH": search_path()})
    assert shown.mounts == ((jdk, jdk),)


def test_files_that_are_no_scripts_are_not_searched(home: Path, tmp_path: Path) -> None:
    prefix = install(home / "sdk/go")
    path = f"{prefix}/bin:/usr/bin:/bin"
    (tmp_path / "notes.txt").write_text("go to the market\n")
    (tmp_path / "bot.py").write_text("#!/usr/bin/env python3\n# go on\n")
    os.mkfifo(tmp_path / "pipe.sh")
    for word in ("notes.txt", "bot.py", "pipe.sh", "missing.sh", "x" * 5_000, "a\0b"):
        assert visible_programs(["/bin/cat", word], tmp_path, {"PATH": path}).mounts == ()
    (tmp_path / "Makefile").write_text("all:\n\tgo build\n")
    assert visible_programs(["make"], tmp_path, {"PATH": path}).mounts == ((prefix, prefix),)
