"""Compares each client kit with a bare client of the same gRPC library.

A starter plays recorded four-player matches with all rule sets. The bare client in the same
language (see `echo_clients`) receives the same decisions as bytes and answers each with 16 bytes.
Both use one stream over a Unix socket. The benchmark measures the processor time of the process,
including all threads. Each program plays a short and a long run, and only the difference in time
counts. The start-up and the early work of a just-in-time compiler therefore cancel out.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from pathlib import Path
from threading import Timer
from typing import Any, Final, NamedTuple

import grpc

from asara.v1.play_pb2 import Goodbye, PlayResponse, Welcome
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.cli.options.languages import LANGUAGES
from asara_server.network.grpc_server import PLAY_SERVICE
from scripts.benchmark.echo import record
from scripts.benchmark.figures import BenchError, Figure, compare

ROOT: Final = Path(__file__).parents[2]
_STARTERS: Final = {
    one.name: one.starter for one in LANGUAGES if (ROOT / "clients" / one.name).is_dir()
}
"""Folder in `bots` of each client language's starter."""
_RULES: Final = ("pro+gifts+genie", 4)
_RECORDINGS: Final = 4
_ROUNDS: Final = 5
_MATCHES: Final = (30, 120)
"""Number of matches in the short and in the long run, each played from one seat."""
_QUICK_MATCHES: Final = (4, 30)
_RUN_S: Final = 300.0
_BUILD_S: Final = 1_800.0


class _LeftOutError(Exception):
    """Raised if a language cannot be measured on this machine; the text gives the reason."""


class Program(NamedTuple):
    command: list[str]
    folder: Path
    environment: Mapping[str, str]
    bare: bool
    """True for a bare client, which accepts any bytes; False for a bot."""


def clients(quick: bool, languages: Sequence[str] = ()) -> list[Figure]:
    """Measure the processor time per decision of each kit that can be built here.

    `languages` restricts the measurement; if it is empty, all languages are measured.
    """
    if unknown := set(languages) - set(_STARTERS):
        raise BenchError(f"no client {unknown.pop()!r}; there are {', '.join(_STARTERS)}")
    programs = {}
    for language in languages or _STARTERS:
        try:
            bare = _bare_client(language)
            programs[language] = _bot(ROOT / "bots" / _STARTERS[language]), bare
        except _LeftOutError as error:
            print(f"{language} is left out: {error}", file=sys.stderr)
    if not programs:
        raise BenchError("clients: no language is left; see the lines above")
    plays = list(recordings())
    plans = [Plan.of(plays, matches) for matches in (_QUICK_MATCHES if quick else _MATCHES)]
    rounds: dict[str, list[tuple[float, float]]] = {language: [] for language in programs}
    for _ in range(1 if quick else _ROUNDS):
        for language, (bot, bare) in programs.items():
            rounds[language].append((decision_us(bot, plans), decision_us(bare, plans)))
    return [
        compare(f"client_{language}", pairs, unit="µs of processor", peer="its bare gRPC echo")
        for language, pairs in rounds.items()
    ]


def _bot(folder: Path) -> Program:
    """Build a starter in place, which is quick if it is up to date; raise _LeftOutError."""
    try:
        table = tomllib.loads((folder / "bot.toml").read_text(encoding="utf-8"))
    except OSError:
        raise _LeftOutError(f"{folder.name} has no bot.toml") from None
    environment = table.get("environment", {})
    if "build" in table:
        _output(_words(table["build"]), folder, environment)
    return Program(_words(table["command"]), folder, environment, bare=False)


def _bare_client(language: str) -> Program:
    folder = Path(__file__).with_name("echo_clients") / language
    if not (folder / "build.sh").exists():
        raise _LeftOutError("it has no bare client in scripts/benchmark/echo_clients")
    lines = _output(["./build.sh"], folder, {}).splitlines()
    if not lines:
        raise _LeftOutError("build.sh of its bare client printed no command")
    return Program(shlex.split(lines[-1]), folder, {}, bare=True)


def _words(command: str | list[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else command


def _output(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a build. If it fails, raise _LeftOutError with the last line it printed."""
    where = folder.relative_to(ROOT)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
            check=False,
        )
    except OSError as error:
        raise _LeftOutError(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise _LeftOutError(f"the build in {where} took more than {_BUILD_S:g} s") from None
    if done.returncode:
        printed = (done.stderr + done.stdout).strip().splitlines() or ["it printed nothing"]
        line = next((line for line in printed if "error" in line.lower()), printed[-1])
        raise _LeftOutError(
            f"the build in {where} failed ({line.strip()}); `scripts/test --languages` downloads "
            "what it needs"
        )
    return done.stdout


@dataclass(frozen=True)
class Plan:
    """The messages of a run, with the decisions marked."""

    to_bot: Sequence[tuple[bytes, bool]] = field(repr=False)
    """Messages to the bot; True marks a decision, which the bot answers."""
    decisions: Sequence[tuple[bytes, bool]] = field(repr=False)

    @classmethod
    def of(cls, recordings: Sequence[list[PlayResponse]], matches: int) -> "Plan":
        responses = list(chain.from_iterable(islice(cycle(recordings), matches)))
        welcome = PlayResponse(welcome=Welcome(protocol_version=1, entry="bench"))
        goodbye = PlayResponse(goodbye=Goodbye(reason="measured"))
        to_bot = [
            (response.SerializeToString(), response.HasField("decision"))
            for response in (welcome, *responses, goodbye)
        ]
        return cls(to_bot, [step for step in to_bot if step[1]])


def recordings() -> Iterator[list[PlayResponse]]:
    """Yield the messages of several matches, each match once for every seat."""
    names, seats = _RULES
    rules = Rules(load_edition(), parse_rule_sets(names), seats)
    for seed in range(_RECORDINGS):
        sent = record(rules, f"m{seed}", seed)
        for seat in range(seats):
            yield [response for receiver, response in sent if receiver == seat]


def decision_us(program: Program, plans: Sequence[Plan]) -> float:
    """Return the processor time in microseconds for each decision beyond the short run."""
    short, long = (_run_us(program, plan) for plan in plans)
    more = len(plans[1].decisions) - len(plans[0].decisions)
    return max((long - short) / more, 0.01)  # a very short run measures little but noise


def _run_us(program: Program, plan: Plan) -> float:
    """Let a program play to the end; return its processor time in microseconds."""
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as folder:
        address = f"unix:{folder}/socket"
        referee = _Recorded(address, plan.decisions if program.bare else plan.to_bot)
        settings = {"ASARA_ADDRESS": address, "ASARA_TOKEN": "bench", "ASARA_SEED": "1"}
        try:
            process = subprocess.Popen(
                program.command,
                cwd=program.folder,
                env={**os.environ, **program.environment, **settings},
            )
            timer = Timer(_RUN_S, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
        finally:
            referee.stop()
    if process.returncode or referee.unanswered:
        raise BenchError(
            f"{shlex.join(program.command)} in {program.folder.relative_to(ROOT)} ended with "
            f"status {process.returncode} and left {referee.unanswered} decisions without an answer"
        )
    return (usage.ru_utime + usage.ru_stime) * 1e6


class _Recorded:
    """Sends messages to one program; each decision waits for the previous answer."""

    def __init__(self, address: str, messages: Sequence[tuple[bytes, bool]]) -> None:
        self.unanswered = sum(answered for _, answered in messages)
        self._messages = messages
        self._server = grpc.server(ThreadPoolExecutor(1))
        handler: Any = grpc.stream_stream_rpc_method_handler(self._play)
        methods = grpc.method_handlers_generic_handler(PLAY_SERVICE, {"Play": handler})
        self._server.add_generic_rpc_handlers((methods,))
        self._server.add_insecure_port(address)
        self._server.start()

    def stop(self) -> None:
        self._server.stop(None).wait()

    def _play(self, requests: Iterator[bytes], _: object) -> Iterator[bytes]:
        next(requests)  # Hello
        for message, answered in self._messages:
            yield message
            if answered:
                next(requests)
                self.unanswered -= 1
