"""A tournament of honest bots under attack, and its measurements.

A new process plays it as `asara tournament run` does: in the sandbox, with a journal, with a remote
bot, and with no more descriptors than usual.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles
from typing import Final, NamedTuple

import grpc

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse
from asara_server.eventlog.replay import ReplayError
from asara_server.replay.file import read_replay
from asara_server.replay.time_ledger import ledger
from asara_server.tournament.config.seeds import local_seed
from asara_server.tournament.config.token_store import new_token
from scripts.benchmark.children import Child, child
from scripts.benchmark.figures import BenchError

ATTACKS: Final = Path(__file__).with_name("attacks")
_ROOT: Final = Path(__file__).parents[2]
_TLS: Final = _ROOT / "tests" / "client"

LEAST_MATCHES: Final = 6
"""Matches of honest entries that a measurement needs, even if they take longer than planned."""
_MOST_S: Final = 120.0
ADMISSION_S: Final = 5.0
"""Seconds in which a bot with a good token should be admitted; an attempt takes twice as long."""

_HONEST: Final = ("honest-1", "honest-2", "honest-3", "honest-4", "far", "victim", "slow")
_TABLES: Final = (
    ("honest-1", "honest-2"),
    ("honest-3", "honest-4"),
    ("far", "honest-1"),
    ("honest-4", "honest-2"),
    ("honest-3", "far"),
)
_ATTACK_EVERY: Final = 10
"""Tables of honest entries between two tables at which attackers sit, of three at most."""

_FILE: Final = """
seats = [2, 3]
rule_sets = "basic"
seed = "{seed}"
blocks = "independent"
processes = "match"
concurrency = {concurrency}

[clocks]
start_up_s = 15
bank_s = 30
reconnect_s = 5

[limits]
log_bytes = 50_000
failed_starts = 3
suspend_after = 100
idle_processes = 4
memory_mb = 384
processes = 128
disk_mb = 16

[remote]
listen = "localhost:0"
certificate = "{tls}/localhost.pem"
key = "{tls}/localhost.key"
tokens = "tokens.json"
matches_at_once = 2
wait_s = 20

[[entries]]
name = "far"
token = "far"

[[entries]]
name = "late"
token = "late"
"""

_HONEST_BOT: Final = """
import sys, time
import asara
def decide(decision, match):
    time.sleep(float(sys.argv[1]))
    return match.random.choice(decision.legal_actions)
asara.run(decide)
"""


class Scenario(NamedTuple):
    """What attacks the referee."""

    name: str
    bots: tuple[str, ...] = ()
    """Attacks of contained bots."""
    strangers: tuple[str, ...] = ()
    """Attacks from outside, without a token."""
    remote: tuple[str, ...] = ()
    """Attacks of remote bots, which have a token."""


@dataclass(slots=True)
class Outcome:
    """The measurements of one run."""

    failed: bool = False
    seats: int = 0
    """Seats of honest entries in finished matches."""
    forfeits: int = 0
    """Seats that they forfeited; all of them if the run failed."""
    charged_ms: list[float] = field(default_factory=list)
    """Time charged to honest bots, by decision."""
    seconds: float = 0.0
    memory_mb: float = 0.0
    descriptors: int = 0
    log_kb: float = 0.0
    admission_s: list[float] = field(default_factory=list)
    refused: int = 0
    """Attempts to dial in with a good token that failed."""

    @property
    def p50_ms(self) -> float:
        """Median time of a decision; the whole time if there was none."""
        return median(self.charged_ms) if self.charged_ms else self.seconds * 1e3

    @property
    def p95_ms(self) -> float:
        if len(self.charged_ms) < 2:
            return self.seconds * 1e3
        return quantiles(self.charged_ms, n=20)[-1]

    @property
    def pace(self) -> float:
        """Honest decisions per second."""
        return len(self.charged_ms) / self.seconds

    def describe(self) -> str:
        """Return the measurements in one line."""
        slowest = max(self.admission_s, default=0.0)
        return (
            f"p50 {self.p50_ms:.1f} ms, p95 {self.p95_ms:.1f} ms, {self.pace:.0f} decisions/s, "
            f"{self.forfeits} forfeits in {self.seats} seats, {self.memory_mb:.0f} MB, "
            f"{self.descriptors} descriptors, log {self.log_kb:.0f} KB, "
            f"admission {slowest:.2f} s, {self.refused} refused"
            f"{', THE RUN FAILED' if self.failed else ''}"
        )


def play(scenario: Scenario, folder: Path, seconds: float) -> Outcome:
    """Play a tournament in a folder while the scenario's attacks run."""
    outcome = Outcome(seconds=seconds)
    tables, tokens = _write_tournament(scenario, folder)
    with ExitStack() as stack:
        referee = stack.enter_context(
            child("siege_run", folder=str(folder), tables=tables, honest=_HONEST)
        )
        listening = referee.call("listen")
        address, pid = f"localhost:{listening['port']:.0f}", int(listening["pid"])
        stack.enter_context(_remote_programs(scenario, address, tokens))
        dialling = _dial_in(address, tokens["late"], outcome, seconds)  # the run says goodbye later
        with _watch(pid, outcome), dialling:
            ended = _call_play(referee, seconds)
    outcome.failed = bool(ended["failed"])
    outcome.seconds = ended["seconds"]
    _read_replays(folder / "run", outcome)
    outcome.forfeits = int(ended["forfeits"] + ended["out"])
    if outcome.failed:
        outcome.forfeits = max(outcome.seats, 1)
    with suppress(FileNotFoundError):
        outcome.log_kb = (folder / "run" / "run.log").stat().st_size / 1e3
    return outcome


def _call_play(referee: Child, seconds: float) -> dict[str, float]:
    try:
        return referee.call("play", seconds=seconds, matches=LEAST_MATCHES, most_s=_MOST_S)
    except BenchError:  # its process has ended
        return {"failed": 1, "forfeits": 0, "out": 0, "seconds": seconds}


def _write_tournament(scenario: Scenario, folder: Path) -> tuple[list[list[str]], dict[str, str]]:
    """Write the tournament of a scenario; return its matches, and the tokens by name."""
    text = _FILE.format(
        tls=_TLS, seed=local_seed("siege"), concurrency=2 + max(1, (len(scenario.bots) + 1) // 2)
    )
    for name in _HONEST:
        if name != "far":
            (folder / name).mkdir()
            (folder / name / "bot.py").write_text(_HONEST_BOT, encoding="utf-8")
            pause_s = 0.15 if name == "slow" else 0.0
            text += _entry(name, f"python bot.py {pause_s}")
    for name in scenario.bots:
        copy_attacks(folder / name)
        text += _entry(name, f"python -m attacks {name} {_MOST_S}")
    for name in scenario.remote:
        text += f'\n[[entries]]\nname = "{name}"\ntoken = "{name}"\n'
    (folder / "siege.toml").write_text(text, encoding="utf-8")
    with_token = ("far", "late", *scenario.remote)
    tokens = {name: new_token(folder / "tokens.json", name) for name in with_token}
    return _tables((*scenario.bots, *scenario.remote)), tokens


def copy_attacks(directory: Path) -> None:
    """Make an entry's directory with the programs, of which `python -m attacks` runs one."""
    directory.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ATTACKS, directory / ATTACKS.name, ignore=ignored)


def _entry(name: str, command: str) -> str:
    return f'\n[[entries]]\nname = "{name}"\ndirectory = "{name}"\ncommand = "{command}"\n'


def _tables(bots: Sequence[str]) -> list[list[str]]:
    """Return the matches: attackers first, honest tables, and a few times attackers again.

    Attackers share a table with a slow bot, so that their match lasts.
    """
    if not bots:
        hostile = [["victim", "slow"]]
    elif len(bots) == 1:
        hostile = [[bots[0], "victim", "slow"]]
    else:
        hostile = [[*pair, "slow"] for pair in zip(bots[::2], bots[1::2], strict=True)]
    found: list[list[str]] = list(hostile)
    honest = cycle(map(list, _TABLES))
    for _ in range(2 if len(bots) == 1 else 0):
        found += islice(honest, _ATTACK_EVERY)
        found += hostile
    return [*found, *islice(honest, 1_000)]


@contextmanager
def _remote_programs(scenario: Scenario, address: str, tokens: Mapping[str, str]) -> Iterator[None]:
    """Run the honest bot on "another machine", and the attackers there, each at an address."""
    certificate = str(_TLS / "localhost.pem")
    environment = {"PATH": os.defpath, "ASARA_ADDRESS": address, "ASARA_CA": certificate}
    far = [sys.executable, str(_ROOT / "bots" / "random" / "main.py")]
    commands = [(far, {**environment, "ASARA_TOKEN": tokens["far"]})]
    for number, name in enumerate((*scenario.strangers, *scenario.remote)):
        words = [sys.executable, "-m", "attacks", name, str(_MOST_S)]
        own = {"ATTACK_SOURCE": f"127.0.1.{number + 1}", "ASARA_TOKEN": tokens.get(name, "")}
        commands.append((words, environment | own))
    running = []
    try:
        for words, variables in commands:
            running.append(
                subprocess.Popen(
                    words,
                    env=variables,
                    cwd=ATTACKS.parent,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
        yield
    finally:
        for process in running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _repeatedly(work: Callable[[], None], pause_s: float) -> Iterator[None]:
    """Do this work in a thread, again and again until the exit."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(pause_s):
            work()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _watch(pid: int, outcome: Outcome) -> Iterator[None]:
    """Record the most memory and descriptors that a process has."""

    def look() -> None:
        with suppress(OSError):
            outcome.descriptors = max(
                outcome.descriptors, len(list(Path(f"/proc/{pid}/fd").iterdir()))
            )
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            peak = status.partition("VmHWM:")[2].split()
            outcome.memory_mb = int(peak[0]) * 1024 / 1e6 if peak else outcome.memory_mb

    with _repeatedly(look, 0.05):
        yield


@contextmanager
def _dial_in(address: str, token: str, outcome: Outcome, seconds: float) -> Iterator[None]:
    """Dial in with a good token twice a second, and record how long that takes."""
    end = time.monotonic() + seconds
    credentials = grpc.ssl_channel_credentials((_TLS / "localhost.pem").read_bytes())
    hello = PlayRequest(hello=Hello(protocol_version=1, token=token))

    def dial() -> None:
        began = time.monotonic()
        if began > end:
            return
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(address, credentials, options) as channel:
            play_stream = channel.stream_stream(
                "/asara.v1.PlayService/Play",
                request_serializer=PlayRequest.SerializeToString,
                response_deserializer=PlayResponse.FromString,
            )
            call = play_stream(iter([hello]), timeout=2 * ADMISSION_S, wait_for_ready=True)
            try:
                next(call)
            except grpc.RpcError:
                outcome.refused += 1
            else:
                outcome.admission_s.append(time.monotonic() - began)
            finally:
                call.cancel()

    with _repeatedly(dial, 0.5):
        yield


def _read_replays(run: Path, outcome: Outcome) -> None:
    """Record the time that honest bots were charged; "slow" is left out, as it only waits."""
    for path in (run / "replays").glob("*"):
        try:
            replay = read_replay(path)
            costs = ledger(replay).costs
        except (ReplayError, OSError):
            continue
        entries = replay.header.entries
        outcome.seats += sum(entry in _HONEST for entry in entries)
        outcome.charged_ms += [
            cost.bot_us / 1e3
            for cost in costs
            if entries[cost.seat] in _HONEST and entries[cost.seat] != "slow"
        ]
