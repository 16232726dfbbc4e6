"""No file and no argument gives a traceback, takes long, or costs data.

Valid files are changed in random ways, in their bytes and in their structure, and read by every
command that reads them. Arguments and environment variables are drawn at random. A failure names
the seed of its input: `run(folder, seed)` repeats it.
"""

import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from asara_server.tournament.config.token_store import new_token
from tests.cli import mutations
from tests.cli.command import asara, leaf_commands
from tests.found_cases import seeds
from tests.report.runs import KEY, run_with_replays
from tests.yardstick import at_most

MOST_LOOPS = 120

CLIENT = Path(__file__).parents[1] / "contract/client"

TOURNAMENT = """
title = "Spring cup"
seats = [2, 3]
rules = ["basic", "pro+gifts"]
rounds = 2
blocks = "independent"
orders = "rotations"
seed = "622a494d3ea8c7ba2fed4f37909f14d9b50ab412322de39be62c8d6c2418bfca"
jobs = 2
deals = "joint"
process_per = "match"
transport = "unix"

[clocks]
start_up_s = 30
time_bank_s = 60
increment_s = 0.5

[limits]
output_bytes = 100_000
memory_mib = 64

[[entries]]
name = "ann"
command = "python bot.py"
directory = "ann"
environment = { LEVEL = "3" }
readable = ["models"]

[[entries]]
name = "bob"
command = ["./bot.sh", "--fast"]
directory = "ann"
build = "./bot.sh"

[[entries]]
name = "cid"
token = "cid"

[remote]
listen = "127.0.0.1:0"
certificate = "localhost.pem"
key = "localhost.key"
tokens = "tokens.json"
"""

Mutation = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """A file, and how it is changed and read; `{}` in a command stands for the folder."""

    path: str
    mutate: Mutation
    commands: tuple[str, ...]


def _replay(data: bytes, dice: random.Random) -> bytes:
    return mutations.mutate_replay(data, dice, KEY)


REPLAY = "run/replays/r1-basic-0001.asara"
REFUSED_RUN = "tournament run {}/cup.toml --out {}/cup.toml"
READERS = (
    "status {}/run",
    "status {}/run --cross",
    "report {}/run --out {}/out/page.html",
    "bundle {}/run",
)
TARGETS = (
    Target("cup.toml", mutations.mutate_toml, ("tournament plan {}/cup.toml",)),
    Target("run/run.journal", mutations.mutate_bytes, (*READERS, "audit {}/run --jobs 1")),
    Target("run/run.index", mutations.mutate_bytes, READERS),
    Target("run/remote.json", mutations.mutate_json, ("status {}/run",)),
    Target("run/standings.json", mutations.mutate_json, READERS),
    Target("run/referee.pub", mutations.mutate_bytes, ("audit {}/run --jobs 1", READERS[2])),
    Target("tokens.json", mutations.mutate_json, (
        "token list --file {}/tokens.json", "token new dan --file {}/tokens.json",
        "token revoke cid --file {}/tokens.json", "tournament plan {}/cup.toml",
    )),
    Target("key", mutations.mutate_bytes, (
        "tournament run {}/cup.toml --key {}/key --out {}/cup.toml",
        "audit {}/run --public-key {}/key",
    )),
    Target("localhost.pem", mutations.mutate_bytes, (REFUSED_RUN,)),
    Target("localhost.key", mutations.mutate_bytes, (REFUSED_RUN,)),
    Target(REPLAY, _replay, (
        "audit {}/" + REPLAY, "replay show {}/" + REPLAY, "replay show --seat 1 {}/" + REPLAY,
        "replay clock {}/" + REPLAY, "replay export {}/" + REPLAY, READERS[2],
        "replay decision --seat 1 {}/" + REPLAY + " 3", "replay ask {}/" + REPLAY + " 3 nobody",
        "replay diff {}/" + REPLAY + " {}/run/replays/r1-basic-0002.asara",
    )),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with valid files of every kind."""
    found = tmp_path_factory.mktemp("fuzz")
    (found / "cup.toml").write_text(TOURNAMENT)
    (found / "ann").mkdir()
    (found / "models").mkdir()
    (found / "out").mkdir()
    (found / "ann" / "bot.py").touch()
    (found / "ann" / "bot.sh").write_text("#!/bin/sh\n")
    (found / "ann" / "bot.sh").chmod(0o755)
    for name in ("localhost.pem", "localhost.key"):
        shutil.copy(CLIENT / name, found / name)
    (found / "key").write_bytes(KEY.private_pem())
    (found / "key").chmod(0o600)
    new_token(found / "tokens.json", "cid")
    assert asara("tournament", "plan", found / "cup.toml").returncode == 0
    run, _ = run_with_replays(found / "run", 3)
    (run / "remote.json").write_text(
        '{"address": "127.0.0.1:5", "wait_s": 600, "entries": '
        '{"bot 0": {"state": "here", "since": "2026-01-01T10:00:00+00:00"}}}'
    )
    written = found / "standings.json"
    assert asara("status", run, "--json", written).returncode == 0
    written.rename(run / "standings.json")
    return found


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of every file that a refused command must not change or make."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            # of a token file; of a bundle; of a report
            if name.endswith((".lock", ".zip")) or name == "report.html":
                continue
            about = os.lstat(os.path.join(root, name))  # noqa: PTH118 - it is called often
            found[f"{root}/{name}"] = about.st_size, about.st_mtime_ns
    return found


@contextmanager
def limited(about: str) -> Iterator[None]:
    """Fail if the context takes long, or anything but SystemExit leaves it."""

    def stop(*_: object) -> None:
        raise TimeoutError(about)

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    try:
        with at_most(MOST_LOOPS):
            yield
    except BaseException as error:
        raise AssertionError(f"{about}: {type(error).__name__}: {error}"[:2_000]) from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def run(folder: Path, seed: int) -> None:
    """Run one random input."""
    dice = random.Random(seed)
    if dice.random() < 0.3:
        run_arguments(folder, dice, seed)
    else:
        run_file(folder, dice.choice(TARGETS), dice, seed)


def run_file(folder: Path, target: Target, dice: random.Random, seed: int) -> None:
    path = folder / target.path
    whole, mode = path.read_bytes(), path.stat().st_mode
    before = contents(folder)
    try:
        if dice.random() < 0.05:
            change = mutations.put_odd_file(path, dice)
        else:
            mutate = target.mutate if dice.random() < 0.7 else mutations.mutate_bytes
            path.write_bytes(mutate(whole, dice))
            change = mutate.__name__
        changed = contents(folder)
        command = dice.choice(target.commands)
        if command.startswith("report") and dice.random() < 0.8:  # it takes the longest
            command = target.commands[0]
        about = f"seed {seed}: {target.path}: {change}: {command}"
        with limited(about):
            status = _asara(folder, command)
        if status:
            assert contents(folder) == changed, about
    finally:
        with suppress(FileNotFoundError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        path.touch(mode)
        path.write_bytes(whole)
        for name, (_, modified) in before.items():
            if name == str(path):
                os.utime(path, ns=(modified, modified))
        for made in contents(folder).keys() - before.keys():
            Path(made).unlink()


def _asara(folder: Path, command: str) -> int:
    done = asara(*command.format(*[folder] * command.count("{}")).split(), cwd=folder / "out")
    if done.returncode:
        assert done.returncode in (1, 2, 3), done
        assert done.stderr or done.stdout
        assert len(done.stderr) < 20_000
    return done.returncode


STARTS_BOTS = {"match", "duel", "play"}


def run_arguments(folder: Path, dice: random.Random, seed: int) -> None:
    """Run a command with random arguments, of which one keeps it from starting bots or a server."""
    words_of_command, command = dice.choice([*leaf_commands().items()])
    names = tuple(words_of_command.split())
    words: list[str] = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            number = dice.choice([1, 1, 2, 5]) if parameter.nargs < 0 else 1
            words += [_value(folder, dice, parameter) for _ in range(number)]
        elif dice.random() < 0.4:
            words.append(dice.choice(parameter.opts))
            if not getattr(parameter, "is_flag", False):
                words.append(_value(folder, dice, parameter))
    if names[0] in STARTS_BOTS:
        words.append("no-such-bot")
    if names in {("tournament", "run"), ("tournament", "check")}:
        words += ["--out", str(folder / "cup.toml")]
    if names == ("web",):  # which would serve until it is stopped
        words += ["--listen", "nowhere"]
    if names == ("audit",):  # which would look for replays on the whole disk
        words = [word for word in words if word != "/"]
    if names == ("status",):
        words = [word for word in words if word != "--watch"]
    words = [word for word in words if "\0" not in word]
    kept = contents(folder / "run")
    about = f"seed {seed}: asara {' '.join(names)} {words}"[:1_000]
    with pytest.MonkeyPatch.context() as patch, limited(about):
        if dice.random() < 0.3:
            variable = dice.choice(["ASARA_SANDBOX", "XDG_CONFIG_HOME", "HOME", "COLUMNS", "PATH"])
            patch.setenv(variable, dice.choice(mutations.TEXTS))
        done = asara(*names, *words, cwd=folder / "out")
        assert done.returncode in (0, 1, 2), done
        assert len(done.stderr) < 40_000
    assert kept.items() <= contents(folder / "run").items(), (
        about
    )  # `asara proto DIR` may add files


def _value(folder: Path, dice: random.Random, parameter: Any) -> str:
    """Return a value that fits the parameter now and then."""
    files = ["cup.toml", "run", "key", "tokens.json", REPLAY, "run/run.journal", "ann", "out/new"]
    choices = list(getattr(getattr(parameter, "type", None), "choices", ()))
    match dice.randrange(5):
        case 0:
            return str(folder / dice.choice(files))
        case 1:
            return dice.choice(mutations.NUMBERS)
        case 2 if choices:
            return dice.choice([str(getattr(choice, "value", choice)) for choice in choices])
        case 3:
            return os.fsdecode(dice.randbytes(dice.choice([1, 3, 10])).replace(b"\0", b"\xff"))
        case _:
            return dice.choice(mutations.TEXTS)


@pytest.mark.long
def test_random_files_and_arguments_end_in_a_sentence(folder: Path) -> None:
    for seed in seeds(150):
        run(folder, seed)
