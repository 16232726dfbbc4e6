"""Attacks on a referee in whose tournament honest bots play, beside the calm referee.

Each scenario is one attack of `attacks/`, by a contained bot at its own address or by a stranger at
the address for other machines; the last ones run many at once. For each, a new process plays a
tournament as `asara tournament run` does: in the sandbox, with a journal, with a remote bot, and
with no more descriptors than usual. Scenarios without an attack run in between.

`siege_p50` and `siege_p95` are percentiles of the time that the clock charged honest bots for a
decision, from the replays. `siege_forfeits` counts honest seats. `siege_admission` is the longest
time until a bot with a good token at the remote address received Welcome, dialling in twice a
second. Memory and descriptors are peaks of the referee's process, and the log is run.log.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
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
from scripts.benchmark.figures import Bar, BenchError, Figure

ATTACKS: Final = Path(__file__).with_name("attacks")
_ROOT: Final = Path(__file__).parents[2]
_TLS: Final = _ROOT / "tests" / "client"

P95_BAR: Final = Bar(3, most=True)
PACE_BAR: Final = Bar(0.05)
"""Share of the calm pace; twenty attackers that compute leave the others a tenth of the cores."""
MEMORY_MB: Final = 400.0
"""Peak memory of the referee under any attack, in megabytes."""
LOG_KB: Final = 1_000.0
"""Size of run.log after any attack, in kilobytes."""
ADMISSION_S: Final = 5.0
_FREE_DESCRIPTORS: Final = 1_000

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


CALM: Final = Scenario("calm")

QUICK: Final = ("silent-streams", "health-names", "varints", "fork-bomb")

MANY: Final = (
    *("silent-streams", "idle-connections", "health-names", "health-watches", "dial-in"),
    *("rapid-reset", "pings", "continuations", "half-messages", "inflated-messages"),
    *("varints", "after-forfeit", "hello-loop", "reconnects", "unread-stream"),
    *("leases", "output-flood", "fork-bomb", "memory-hog", "full-disk"),
)
"""The attacks of the last scenarios, which run at once."""


class _Attackers(NamedTuple):
    """The kinds of attackers that can run an attack."""

    contained: bool
    stranger: bool
    remote: bool


def attacks() -> dict[str, _Attackers]:
    """Return the attackers of all attacks by name."""
    code = (
        "import json; from attacks import doors, machine, streams; "
        "from attacks.catalogue import ATTACKS; "
        "print(json.dumps({a.name: (a.contained, a.stranger, a.remote) for a in ATTACKS.values()}))"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code], cwd=ATTACKS.parent, capture_output=True, text=True, check=True
    )
    return {name: _Attackers(*flags) for name, flags in json.loads(listed.stdout).items()}


def scenarios(quick: bool, only: Sequence[str] = ()) -> list[Scenario]:
    """Return the scenarios with attacks; `only` these attacks, each by all that can run it."""
    known = attacks()
    for name in only:
        if name not in {*known, "many"}:
            raise BenchError(f"no attack {name!r}; there are many, {', '.join(sorted(known))}")
    chosen = [name for name in only if name != "many"] or (QUICK if quick else list(known))
    found = []
    for name in chosen if not only or set(only) != {"many"} else ():
        if known[name].contained:
            found.append(Scenario(f"{name}/bot", bots=(name,)))
        if known[name].stranger and (only or not quick):
            found.append(Scenario(f"{name}/stranger", strangers=(name,)))
        if known[name].remote and (only or not quick):
            found.append(Scenario(f"{name}/remote", remote=(name,)))
    if "many" in only or not (only or quick):
        strangers = tuple(name for name in MANY if known[name].stranger)
        found.append(Scenario("many/bot", bots=MANY))
        found.append(Scenario("many/stranger", strangers=strangers))
        found.append(Scenario("many/both", bots=MANY, strangers=strangers))
    return found


def siege(quick: bool, only: Sequence[str] = ()) -> list[Figure]:
    """Measure every scenario beside the calm referee."""
    if shutil.which("bwrap") is None:
        raise BenchError("siege needs bubblewrap (bwrap), in which the hostile bots run")
    seconds = 4.0 if quick else 8.0
    calm: list[Outcome] = []
    measured: list[tuple[Scenario, Outcome]] = []
    for number, scenario in enumerate(scenarios(quick, only)):
        if number % 5 == 0:
            calm.append(_measure(CALM, seconds))
        measured.append((scenario, _measure(scenario, seconds)))
    calm.append(_measure(CALM, seconds))
    return _figures(calm, measured)


def _figures(calm: list[Outcome], measured: list[tuple[Scenario, Outcome]]) -> list[Figure]:
    calm_p50 = median(one.p50_ms for one in calm)
    calm_p95 = median(one.p95_ms for one in calm)
    outcomes = [outcome for _, outcome in measured]
    peer = "calm referee"
    figures = [
        Figure(f"siege_p95 {scenario.name}", outcome.p95_ms, "ms", peer, calm_p95, P95_BAR)
        for scenario, outcome in measured
    ]
    worst = {
        "siege_p50": (max(one.p50_ms for one in outcomes), "ms", peer, calm_p50, P95_BAR),
        "siege_p95": (max(one.p95_ms for one in outcomes), "ms", peer, calm_p95, P95_BAR),
        "siege_pace": (
            min(one.pace for one in outcomes),
            "decisions/s",
            peer,
            median(one.pace for one in calm),
            PACE_BAR,
        ),
        "siege_forfeits": (
            sum(one.forfeits for one in outcomes),
            "seats",
            "all honest seats",
            max(sum(one.seats for one in outcomes), 1),
            Bar(0, most=True),
        ),
        "siege_refused": (
            sum(one.refused for one in outcomes),
            "attempts",
            "all with a good token",
            max(sum(len(one.admission_s) + one.refused for one in outcomes), 1),
            Bar(0, most=True),
        ),
        "siege_admission": (
            max(max(one.admission_s, default=0) for one in outcomes),
            "s",
            "the bar itself",
            ADMISSION_S,
            Bar(1, most=True),
        ),
        "siege_memory": (
            max(one.memory_mb for one in outcomes),
            "MB",
            "the bar itself",
            MEMORY_MB,
            Bar(1, most=True),
        ),
        "siege_descriptors": (
            max(one.descriptors for one in outcomes),
            "open",
            "the limit",
            _FREE_DESCRIPTORS,
            Bar(1, most=True),
        ),
        "siege_log": (
            max(one.log_kb for one in outcomes),
            "KB",
            "the bar itself",
            LOG_KB,
            Bar(1, most=True),
        ),
    }
    figures += [
        Figure(name, value, unit, beside, peer_value, bar)
        for name, (value, unit, beside, peer_value, bar) in worst.items()
    ]
    return figures


def _measure(scenario: Scenario, seconds: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="asara-siege-", ignore_cleanup_errors=True) as name:
        outcome = play(scenario, Path(name), seconds)
    print(f"  {scenario.name}: {outcome.describe()}", file=sys.stderr, flush=True)
    return outcome


# One run


def play(scenario: Scenario, folder: Path, seconds: float) -> Outcome:
    """Play a tournament in a folder while the scenario's attacks run."""
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")  # as the command line sets it
    outcome = Outcome(seconds=seconds)
    tables, tokens = _write_tournament(scenario, folder, seconds)
    with ExitStack() as stack:
        referee = stack.enter_context(
            child("siege_run", folder=str(folder), tables=tables, honest=_HONEST)
        )
        listening = referee.call("listen")
        address, pid = f"localhost:{listening['port']:.0f}", int(listening["pid"])
        stack.enter_context(_remote_programs(scenario, address, tokens, seconds))
        dialling = _dial_in(address, tokens["late"], outcome, seconds)
        with _watch(pid, outcome), dialling:
            ended = _call_play(referee, seconds)
    outcome.failed = bool(ended["failed"])
    _read_replays(folder / "run", outcome)
    outcome.forfeits = int(ended["forfeits"] + ended["out"])
    if outcome.failed:
        outcome.forfeits = max(outcome.seats, 1)
    with suppress(FileNotFoundError):
        outcome.log_kb = (folder / "run" / "run.log").stat().st_size / 1e3
    return outcome


def _call_play(referee: Child, seconds: float) -> dict[str, float]:
    try:
        return referee.call("play", seconds=seconds)
    except BenchError:  # its process has ended
        return {"failed": 1, "forfeits": 0, "out": 0}


def _write_tournament(
    scenario: Scenario, folder: Path, seconds: float
) -> tuple[list[list[str]], dict[str, str]]:
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
        text += _entry(name, f"python -m attacks {name} {seconds}")
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
def _remote_programs(
    scenario: Scenario, address: str, tokens: Mapping[str, str], seconds: float
) -> Iterator[None]:
    """Run the honest bot on "another machine", and the attackers there, each at an address."""
    certificate = str(_TLS / "localhost.pem")
    environment = {"PATH": os.defpath, "ASARA_ADDRESS": address, "ASARA_CA": certificate}
    far = [sys.executable, str(_ROOT / "bots" / "random" / "main.py")]
    commands = [(far, {**environment, "ASARA_TOKEN": tokens["far"]})]
    for number, name in enumerate((*scenario.strangers, *scenario.remote)):
        words = [sys.executable, "-m", "attacks", name, str(seconds)]
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
