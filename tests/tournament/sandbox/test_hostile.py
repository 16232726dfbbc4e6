"""Malicious bots in matches: they reach nothing, and neither other bots nor the referee suffer.

The programs are in `hostile.py`, and the attacks on the referee's wire in `attacks.py`.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import pytest

from asara_codec.results import Termination
from asara_server.journal.resimulate import resimulated_steps
from asara_server.match.inputs import ReplyRecord
from asara_server.replay.file import read_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import MatchSettings, load_tournament
from asara_server.tournament.execution.match_runner import Executor
from asara_server.tournament.runner import RunEnd
from asara_server.tournament.sandbox.bubblewrap import Sandbox
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.workers.dask_workers import dask_workers
from asara_server.tournament.workers.worker_executor import RunSettings, WorkerExecutor
from tests.tournament.dask_clusters import Cluster
from tests.tournament.processes import is_in_tree
from tests.tournament.runs import matches_at, play
from tests.tournament.sample_bots import SEED, STEADY, entry_table
from tests.tournament.sandbox_config import HOSTILE, living, sandbox_or_skip

MARK = f"7{os.getpid()}.5"

HEADER = f"""
title = "Cup"
seats = 2
rules = "basic"
seed = "{SEED}"
jobs = 4
blocks = "independent"
process_per = "run"

[clocks]
start_up_s = 120
time_bank_s = 120
increment_s = 0.02
reconnect_s = 2

[limits]
output_bytes = 50_000
memory_mib = 256
processes = 64
open_files = 256
cpu_s = 120
disk_mib = 8
"""

FIRST = "import asara\nasara.run(lambda decision, match: decision.legal_actions[0])\n"
"""Program that plays like the malicious bots after their attempts."""


def enter(
    folder: Path,
    programs: Mapping[str, str],
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> Path:
    """Write a tournament of these programs and of the malicious ones with `settings`."""
    text = HEADER
    settings = settings or {}
    for name in (*programs, *settings):
        (folder / name).mkdir()
        command = "python main.py"
        if name in programs:
            (folder / name / "main.py").write_text(programs[name])
        elif name in ATTACKS:
            shutil.copy(HOSTILE.with_name("attacks.py"), folder / name / "main.py")
            command += f" {name} {ATTACK_S}"
        else:
            shutil.copy(HOSTILE, folder / name / "main.py")
            command += f" {name}"
        pairs = [f'{key} = "{value}"' for key, value in settings.get(name, {}).items()]
        text += entry_table(name, command, environment=f"{{ {', '.join(pairs)} }}")
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


def printed(run: Path, entry: str) -> str:
    """Return what an entry printed in all its matches."""
    logs = (run / "logs").glob(f"*/?-{entry}.log")
    return "".join(path.read_text(errors="replace") for path in sorted(logs))


THINGS = 14


@pytest.fixture
def host() -> Iterator[dict[str, str]]:
    """Listen on this machine in every way that a program could dial; yield the addresses."""
    abstract = f"asara-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as named,
    ):
        unix.bind("\0" + abstract)
        unix.listen()
        path = Path(f"/tmp/{abstract}")
        path.unlink(missing_ok=True)
        named.bind(str(path))
        named.listen()
        yield {
            "HOST_PORT": str(tcp.getsockname()[1]),
            "HOST_ABSTRACT": abstract,
            "HOST_SOCKET": str(path),
        }
        path.unlink()


def test_the_host_of_these_tests_can_be_dialled_from_outside(host: dict[str, str]) -> None:
    """Otherwise the refusals in the sandbox would prove nothing."""
    socket.create_connection(("127.0.0.1", int(host["HOST_PORT"]))).close()
    for name in ("\0" + host["HOST_ABSTRACT"], host["HOST_SOCKET"]):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(name)


@pytest.fixture
def wanted(tmp_path: Path) -> tuple[dict[str, str], Sandbox]:
    """Return the settings of the spy with the paths it tries, and a sandbox that hides them."""
    key = tmp_path / "referee.key"
    key.write_bytes(SigningKey.new().private_pem())
    run = tmp_path / "run"
    things = [
        key,
        tmp_path / "cup.toml",
        run,
        *(run / name for name in ("run.journal", "run.json", "run.log", "logs", "replays")),
        tmp_path / "good-0",
        tmp_path / "good-0" / "main.py",
        Path("/etc/shadow"),
        Path.home() / ".ssh",
        Path("/proc/kcore"),
        Path("/var/log"),
    ]
    assert len(things) == THINGS
    settings = {"WANTED": os.pathsep.join(map(str, things)), "SECRET_NAME": "AWS_SECRET"}
    kept = sandbox_or_skip((key, tmp_path / "cup.toml"), (tmp_path,))
    return settings, kept


CONTAINED = ("burn", "disk", "leave", "network", "spy")
"""Bots whose attempts fail and that play on."""

FORFEITS = {
    "crash": {Termination.CRASH},
    "flood": {  # whichever happens first
        Termination.CRASH,
        Termination.NEVER_STARTED,
        Termination.PROTOCOL_VIOLATION,
        Termination.TIME_OUT,
    },
    "fork": {Termination.NEVER_STARTED},
    "hang": {Termination.TIME_OUT},
    "memory": {Termination.NEVER_STARTED},
}

ATTACKS = ("rapid_reset", "continuations", "half_messages", "inflated_messages", "varints")
"""Attacks on the wire, which may end the attacker's own match."""

ATTACK_S = f"5.{os.getpid()}"
"""Seconds that an attack lasts, by which its processes are also found."""
MEMORY_MB = 300
"""Memory that the referee may need beyond what this process had before."""

Moves: TypeAlias = list[tuple[int, tuple[Any, ...]]]
"""Seats and their actions."""

GOOD = ("good-0", "good-1")


@pytest.fixture
def cup(tmp_path: Path, host: Mapping[str, str], wanted: tuple[dict[str, str], Sandbox]) -> Path:
    """Write a tournament of malicious entries and two harmless ones."""
    settings: dict[str, Mapping[str, str]] = {
        **{name: {} for name in (*CONTAINED, *FORFEITS, *ATTACKS)},
        "leave": {"MARK": MARK},
        "memory": {"MUCH_MB": "4096"},
        "network": host,
        "spy": wanted[0],
    }
    return enter(tmp_path, dict.fromkeys(GOOD, STEADY), settings)


def own_cgroups() -> list[Path]:
    """Control groups of this process and its workers; other tests make some at the same time."""
    groups = Path("/sys/fs/cgroup").rglob("asara-[0-9]*-*")
    return [path for path in groups if is_in_tree(int(path.name.split("-")[1]), os.getpid())]


def contained(
    cup: Path,
    sandbox: Sandbox,
    calm: Mapping[str, Moves],
    executor: Executor | None = None,
    without: frozenset[str] = frozenset(),
) -> None:
    """Play, and check that no bot reached anything and that no other bot suffered."""
    run = cup.parent / "run"
    matches = [one for one in some_matches() if without.isdisjoint(one.entries)]
    # With an executor, the referee is in other processes.
    nothing = nullcontext() if executor else nothing_left_behind()
    with pytest.MonkeyPatch.context() as patch, nothing:
        patch.setenv("ORGANISERS_SECRET", "AWS_SECRET")
        end = play(cup, run, executor, sandbox=sandbox, matches=matches)
    assert end.standings.complete
    assert len(end.results) == len(matches)
    assert living(MARK) == living(ATTACK_S) == []
    assert own_cgroups() == []
    check_results(end)
    for path in (run / "replays").iterdir():
        list(resimulated_steps(read_replay(path)))
    same = calm.keys() & {match.match_id for match in matches}
    assert {match: moves_of(run, match) for match in same} == {match: calm[match] for match in same}
    check_output(run)


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Check the memory, descriptors and temporary files of this process, which has the referee."""
    shared, opened = names_in("/dev/shm"), names_in("/proc/self/fd")
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts anew
    before_mib = memory_mib("VmRSS")
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory("cup") as temporary,
    ):
        patch.setattr(tempfile, "tempdir", temporary)
        yield
        assert names_in(temporary) == set()
    assert memory_mib("VmHWM") - before_mib < MEMORY_MB
    assert len(names_in("/proc/self/fd")) <= len(opened) + 4
    assert not {name for name in names_in("/dev/shm") - shared if "asara" in name}


def names_in(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def memory_mib(what: str) -> float:
    """Return memory of this process, `VmRSS` now or `VmHWM` at most since it was last cleared."""
    fields = Path("/proc/self/status").read_text().partition(f"{what}:")[2].split()
    return int(fields[0]) / 1024


def check_results(end: RunEnd) -> None:
    """Check that only the expected entries forfeit, and that the standings follow from results."""
    scores: dict[str, list[float]] = {}
    for result in end.results:
        harmful = [line.entry in FORFEITS for line in result.seats]
        attacked = any(line.entry in ATTACKS for line in result.seats)
        assert bool(result.forfeits) == any(harmful) or attacked
        for line, harms in zip(result.seats, harmful, strict=True):
            reasons = {end.out.get(line.entry), end.suspended.get(line.entry)}
            if line.entry in ATTACKS:
                pass
            elif not harms or (all(harmful) and not line.termination.forfeit):
                assert line.termination == Termination.COMPLETED, line
            elif line.detail in reasons:
                out = line.detail == end.out.get(line.entry)
                expected = Termination.NEVER_STARTED if out else Termination.SUSPENDED
                assert line.termination == expected
            else:
                assert line.termination in FORFEITS[line.entry], line
            ties = [other.rank for other in result.seats].count(line.rank) > 1
            scores.setdefault(line.entry, []).append(0.5 if ties else 2 - line.rank)
            if any(harmful) and not harms:
                assert scores[line.entry][-1] == 1
    assert {*end.out, *end.suspended} <= FORFEITS.keys() | set(ATTACKS)
    for entry in (one for one in end.standings.overall if one.entry in scores):
        assert entry.score == pytest.approx(fmean(scores[entry.entry]), abs=1e-6)
        assert bool(entry.faults) == (entry.entry in FORFEITS) or entry.entry in ATTACKS


def moves_of(run: Path, match: str) -> Moves:
    records = read_replay(run / f"replays/{match}.asara").records
    return [(one.seat, one.actions) for one in records if isinstance(one, ReplyRecord)]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moves]:
    """The moves of those who do not forfeit, if all programs are harmless, by match."""
    folder = tmp_path_factory.mktemp("calm")
    end = play(
        enter(folder, {**dict.fromkeys(GOOD, STEADY), **dict.fromkeys(CONTAINED, FIRST)}),
        folder / "run",
        matches=[one for one in some_matches() if {*GOOD, *CONTAINED}.issuperset(one.entries)],
    )
    assert len(end.results) > len(CONTAINED)
    return {one.match_id: moves_of(folder / "run", one.match_id) for one in end.results}


def check_output(run: Path) -> None:
    """Check that the logs contain refusals only, and that their size is limited."""
    for name in CONTAINED:
        assert "REACHED" not in printed(run, name)
    assert printed(run, "network").count("refused") >= 4
    spied = printed(run, "spy")
    for what in ("wanted", "writing to", "root"):
        assert f"refused {what}" in spied
    assert spied.count("refused wanted") >= THINGS
    assert "left" in printed(run, "leave")
    wrote = [line.split() for line in printed(run, "disk").splitlines() if "wrote" in line]
    for _, size, _, _, folder in wrote:
        writable = folder in {"/tmp", "/dev/shm", ".", "memory"}
        assert size in {"7", "8"} if writable else size == "0", folder
    assert len(wrote) >= 10
    for path in (run / "logs").rglob("*.log"):
        assert path.stat().st_size < 51_000


def some_matches() -> list[ScheduledMatch]:
    """Return matches in which every entry meets a harmless one."""
    tables = [GOOD, GOOD[::-1], ("spy", "good-0")]
    # The one that hangs needs all its time, so it begins early.
    tables += [("good-1", name) for name in (*FORFEITS, *ATTACKS, *CONTAINED)]
    return matches_at(*tables)


@pytest.mark.long
def test_a_tournament_among_bots_that_mean_harm_has_correct_standings(
    cup: Path, wanted: tuple[dict[str, str], Sandbox], calm: dict[str, Moves]
) -> None:
    contained(cup, wanted[1], calm)
    assert "# cut: only 50,000 bytes are kept" in printed(cup.parent / "run", "flood")


@pytest.mark.long
def test_workers_of_a_cluster_contain_bots_that_mean_harm_as_well(
    cup: Path, wanted: tuple[dict[str, str], Sandbox], calm: dict[str, Moves], tmp_path: Path
) -> None:
    """Those whose attacks are on the referee play in one process only."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    cluster = Cluster(tmp_path / "cluster")
    cluster.folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORGANISERS_SECRET", "AWS_SECRET")
        cluster.start(workers=2)
    try:
        settings = MatchSettings.of(load_tournament(cup), None, {})
        needs = RunSettings(settings, wanted[1].reserved)
        with dask_workers(cluster.address, needs) as backend:
            without = frozenset({*ATTACKS, *FORFEITS, "burn"} - {"memory"})
            contained(cup, wanted[1], calm, WorkerExecutor(backend), without)
    finally:
        cluster.end()
