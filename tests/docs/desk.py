"""A folder in which the commands of a document, or the examples of help pages, are run."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.cli.command import command_line
from tests.docs.documents import blocks

CUP = """
title = "Cup"
seats = 2
rules = "basic"

[[entries]]
directory = "my-bot"

[[entries]]
bot = "greedy"
"""
SERVERS = {"play": "http://", "web": "http://", "guest": "ASARA_ADDRESS", "--web": "http://"}
"""Words of commands that run until Ctrl-C, with what each prints once it is ready."""
NOT_RUN: Final = {
    r"(\./)?scripts/|pytest |ruff |\. \.venv/": "for a checkout: tests/scripts runs the scripts",
    r"apt-get |(HATCH\S+ )?pip ": "installs packages from a network",
    r"systemd-run ": "needs systemd, which starts the same command",
    r"dask |.* --dask ": "needs other machines; tests/tournament/workers starts a cluster",
    r"cmake ": "builds in a checkout; tests/languages/test_package_cpp.py does the same",
    r"export ASARA_|.*ASARA_TOKEN=…|python (my_bot|main)\.py": "needs the referee of an organiser",
    r"python scripts/": "needs the packages that the line before installs",
    r"asara (analyse |duel my-bot greedy --margin )": "takes minutes",
    r"asara conformance (-- |my-bot$|--level )": "a minute each; tests/conformance runs all cases",
    r".*runs/ladder|.*--workers 8": "plays thousands of matches, or on many cores",
    r".*go-search": "needs Go",
    r"#!/bin/sh": "a bot, which tests/contract/client/test_bridge_readme.py plays",
}
"""Beginnings of commands that are not run here, with the reason; the rest of their block is run."""

ENDS: Final = {
    r"asara duel ": {0, 3},  # no verdict
    r"asara replay diff ": {1},
    r"asara conformance --known-failing ": {0, 1},  # the list is an example
    r"asara tournament run .* --resume": {0, 2},  # an earlier command has completed the run
}
"""Exit statuses of commands other than 0 alone."""

_FOLDERS: Final = 10
"""Number of entries from folders, at least as many as the places that an example settles."""


def reason(command: str) -> str | None:
    return next((why for begin, why in NOT_RUN.items() if re.match(begin, command)), None)


class Desk:
    """A folder in which the commands of one document run, and what they need to be there."""

    def __init__(self, folder: Path, document: str = "") -> None:
        self.folder = folder
        self.tournament = CUP
        """The latest tournament file of the document."""
        self._document = document
        self._manifest = ""
        """Hash that the latest tournament printed, for which documents write HEX."""
        self._makers: dict[str, Callable[[], None]] = {
            "my-bot": lambda: self.run("asara new python my-bot"),
            **dict.fromkeys(("my_bot.py", "mine.py", "yesterday.py"), self._write_first_bot),
            "bot.pl": lambda: self._write("bot.pl", self._block("perl")),
            "cert.pem": lambda: self._execute(self._block("sh", "openssl req")),
            "known_failing.txt": lambda: self._write("known_failing.txt", ""),
            "runs/first": lambda: self.run("asara match my_bot.py greedy --out runs/first"),
            "runs/cup": lambda: self.run("asara tournament run cup.toml --out runs/cup"),
            **dict.fromkeys(("manifest.json", "replays"), self._copy_run),
        }

    def run(self, command: str) -> None:
        """Run a command as written, after what it needs has been made."""
        self._prepare(command)
        self._make_room(command)
        words = shlex.split(command, comments=True)
        marks = {*words[1:2], *({"guest", "--web"} & set(words))}
        ready = next((text for word, text in SERVERS.items() if word in marks), None)
        if words[0] == "asara" and ready:
            at_any_port = [re.sub(r":\d+$", ":0", word) for word in words[1:]]
            anywhere = {"--listen", "--web", "guest"} & set(words)
            listen = () if anywhere else ("--listen", "127.0.0.1:0")
            check_server([*at_any_port, *listen], ready, self.folder, self._variables())
        else:
            self._execute(command)

    def _execute(self, command: str) -> None:
        done = subprocess.run(
            ["bash", "-euc", command.replace("HEX", self._manifest)],
            cwd=self.folder,
            env=self._variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        ends = next((e for begin, e in ENDS.items() if re.match(begin, command)), {0})
        assert done.returncode in ends, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, command
        if printed := re.search(r"^Manifest \(SHA-256\): (\w+)$", done.stderr, re.MULTILINE):
            self._manifest = printed[1]

    def _variables(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in os.environ if not name.startswith("GRPC_")}
        home, programs = str(self.folder / "home"), Path(sys.executable).parent
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        return inherited | {"HOME": home, "PATH": path, "BROWSER": "true", "COLUMNS": "80"}

    def _prepare(self, command: str) -> None:
        for name, make in self._makers.items():
            named = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", command)
            makes = re.search(rf"(--?out|-o|new \w+) {re.escape(name)}(?![\w-])", command)
            if named and (not makes or "--resume" in command) and not (self.folder / name).exists():
                make()
        for name in re.findall(r"(?<![\w./-])\w+\.toml\b", command):
            if not (self.folder / name).exists():
                self._write_tournament(name)

    def _make_room(self, command: str) -> None:
        """Remove what an earlier command wrote if this one is another way to write it."""
        out = re.search(r"(?:--out|-o) (runs/\w+)", command)
        if out and "--resume" not in command:
            shutil.rmtree(self.folder / out[1], ignore_errors=True)

    def _write(self, name: str, content: str) -> None:
        (self.folder / name).write_text(content)

    def _write_first_bot(self) -> None:
        (bot,) = blocks("README.md", "python")
        for name in ("my_bot.py", "mine.py", "yesterday.py"):
            self._write(name, bot.content)

    def _write_tournament(self, name: str) -> None:
        """Write the tournament that a reader would play, and the folders of its entries."""
        self._prepare("my-bot")
        self._write(name, self.tournament)
        if pattern := tomllib.loads(self.tournament).get("entries_from"):
            for number in range(_FOLDERS):
                folder = self.folder / pattern.replace("*", f"bot-{number}")
                shutil.copytree(self.folder / "my-bot", folder, dirs_exist_ok=True)

    def _block(self, language: str, begin: str = "") -> str:
        found = (block.content for block in blocks(self._document, language))
        return next(content for content in found if content.startswith(begin))

    def _copy_run(self) -> None:
        self._prepare("runs/cup")
        shutil.copytree(self.folder / "runs/cup", self.folder, dirs_exist_ok=True)


def check_server(words: list[str], ready: str, folder: Path, variables: dict[str, str]) -> None:
    with subprocess.Popen(
        command_line(*words),
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        printed = ""
        while ready not in printed:
            line = process.stdout.readline()
            assert line, (words, printed)
            printed += line
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() in (0, 130), (words, printed, rest)
