"""Jobs that workers get, and the blocks that they return or lose; most play nothing."""

import asyncio
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_game.rules import format_rule_sets
from asara_server.match import deal_secrets
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.schedule.schedule import MAX_ATTEMPTS, ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult, PlayedAttempt
from asara_server.tournament.workers.block_player import (
    LostWorkerError,
    abandon_blocks,
    begin_run,
    play_block,
    stop_blocks,
)
from asara_server.tournament.workers.worker_executor import (
    BlockJob,
    BlockResult,
    RunSettings,
    WorkerError,
    WorkerExecutor,
    WorkerOutput,
    versions,
)
from tests.cli.command import asara
from tests.tournament import sample_bots, samples
from tests.tournament.runs import play
from tests.tournament.sample_bots import STEADY, write_tournament
from tests.tournament.samples import seat
from tests.tournament.worker_runs import HEADER, PATIENT, outcome

NAMES = ("ann", "bob", "cid")


class LostError(Exception):
    """The error of a block whose worker died."""


class Scripted:
    """A backend whose workers return what a function makes of a job, or lose it."""

    sharing = 1
    name = "workers"
    shares_directory = False
    cores = 4

    def __init__(self, answer: Callable[[BlockJob], BlockResult], slots: int = 1) -> None:
        self.jobs: list[BlockJob] = []
        self.jobs_by_leg: list[list[str]] = []
        """Names of the attempts, with a new list after each end of all bots."""
        self.settings: list[RunSettings] = []
        self.most = 0
        self._answer = answer
        self._slots = slots
        self._open = 0

    def begin_run(self, settings: RunSettings) -> None:
        self.settings.append(settings)

    async def take_in(self) -> bool:
        return False

    async def slots(self) -> int:
        return self._slots

    def submit(self, job: BlockJob) -> "Future[BlockResult]":
        self.jobs.append(job)
        if self.jobs_by_leg:
            self.jobs_by_leg[-1] += job.block.attempt_names
        self._open += 1
        self.most = max(self.most, self._open)
        future: Future[BlockResult] = Future()
        asyncio.get_running_loop().call_later(0.01, self._end, job, future)
        return future

    def _end(self, job: BlockJob, future: "Future[BlockResult]") -> None:
        self._open -= 1
        try:
            future.set_result(self._answer(job))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)

    def loss_reason(self, error: BaseException) -> str:
        return "it died" if isinstance(error, LostError) else ""

    async def stop_blocks(self, run_id: str, finish_s: float) -> None:
        """Nothing runs."""

    async def end_bots(self, run_id: str, living: Sequence[str]) -> Sequence[WorkerOutput]:
        assert not self._open
        self.jobs_by_leg.append([])
        return ()

    async def end_run(self, run_id: str) -> Sequence[WorkerOutput]:
        assert run_id == self.settings[-1].run_id
        return ()


def result(match: ScheduledMatch, number: int, faults: dict[str, Termination]) -> MatchResult:
    """A match that the first seat won. An entry with a fault printed something before it ended."""
    seats = [
        seat(entry, rank, "exited with status 1", faults[entry], ("no model",))
        if entry in faults
        else seat(entry, rank)
        for rank, entry in enumerate(match.entries, 1)
    ]
    rules = format_rule_sets(match.rule_sets)
    return samples.match(match.match_id, *seats, block=match.block, rules=rules, attempt=number)


def done(job: BlockJob, **faults: Termination) -> BlockResult:
    faults |= dict.fromkeys(job.out, Termination.NEVER_STARTED)
    attempts = tuple(
        PlayedAttempt(result(match, number, faults)) for match, number in job.block.attempts
    )
    return BlockResult("somewhere", attempts, ())


def names(job: BlockJob) -> list[str]:
    return [match.match_id for match, _ in job.block.attempts]


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Three blocks, in each of which two entries play twice."""
    header = f'{HEADER}blocks = "independent"\n'
    return write_tournament(tmp_path, dict.fromkeys(NAMES, sample_bots.GOOD), header)


@pytest.fixture
def mirrored(cup: Path) -> Path:
    """The same with one deal in each block."""
    cup.write_text(cup.read_text().replace("independent", "mirrored"))
    return cup


@pytest.mark.parametrize("slots", [2, 7])
def test_every_block_is_given_to_one_worker_as_there_is_room(
    cup: Path, tmp_path: Path, slots: int
) -> None:
    backend = Scripted(done, slots)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert [names(job) for job in backend.jobs] == [
        [f"r1-basic-000{block}-1", f"r1-basic-000{block}-2"] for block in (1, 2, 3)
    ]
    assert backend.most == min(slots, 3)
    assert end.standings.complete
    assert len(end.results) == 6


def test_a_worker_learns_the_secrets_of_its_own_deals_and_nothing_they_follow_from(
    mirrored: Path, tmp_path: Path
) -> None:
    backend = Scripted(done)
    play(mirrored, tmp_path / "run", WorkerExecutor(backend))
    tournament = deal_secrets.tournament_secret(sample_bots.SEED)
    of_blocks = {
        job.block.attempts[0][0].block: deal_secrets.secret_of(
            tournament, "", job.block.attempts[0][0].block
        )
        for job in backend.jobs
    }
    assert len(of_blocks) == 3
    for job in backend.jobs:
        sent = pickle.dumps(job)
        assert tournament not in sent
        assert tournament.hex().encode() not in sent
        assert sample_bots.SEED.encode() not in sent
        own = of_blocks[job.block.name]
        assert set(job.secrets.values()) == {own}
        for secret in of_blocks.values():
            assert (secret in sent) == (secret == own)
    mirrored.write_text(mirrored.read_text().replace("mirrored", "independent"))
    backend = Scripted(done)
    play(mirrored, tmp_path / "independent", WorkerExecutor(backend))
    assert backend.jobs[0].secrets == {  # one for each attempt
        name: deal_secrets.secret_of(tournament, name)
        for first in ("r1-basic-0001-1", "r1-basic-0001-2")
        for name in (first, f"{first}.2", f"{first}.3")
    }


def test_a_lost_block_is_played_again_as_the_same_attempt(cup: Path, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def lose_twice(job: BlockJob) -> BlockResult:
        seen[names(job)[0]] += 1
        if names(job)[0] == "r1-basic-0002-1" and seen[names(job)[0]] <= 2:
            raise LostError
        return done(job)

    backend = Scripted(lose_twice)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert seen["r1-basic-0002-1"] == 3
    lost = [job for job in backend.jobs if names(job)[0] == "r1-basic-0002-1"]
    assert {job.block.attempts for job in lost} == {lost[0].block.attempts}
    assert {result.attempt for result in end.results} == {1}
    lost_twice = {"r1-basic-0002-1", "r1-basic-0002-2"}
    for result in end.results:
        assert result.lost == (("it died", "it died") if result.match_id in lost_twice else ())
    audited = asara("audit", tmp_path / "run").stdout
    assert audited.count("was given to a worker before, which did not return it: it died") == 4
    play(cup, tmp_path / "calm", WorkerExecutor(Scripted(done)))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "calm")


def test_a_block_that_is_lost_too_often_is_void_and_not_tried_by_a_resumed_run(
    cup: Path, tmp_path: Path
) -> None:
    def lose(job: BlockJob) -> BlockResult:
        if names(job)[0] == "r1-basic-0002-1":
            raise LostError
        return done(job)

    backend = Scripted(lose)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert len(backend.jobs) == 2 + MAX_ATTEMPTS
    assert end.unfinished == ("block r1-basic-0002 is given up without a result: it died",)
    assert (end.standings.matches.played, end.standings.matches.void) == (4, 2)
    again = Scripted(lose)
    play(cup, tmp_path / "run", WorkerExecutor(again), resume=True)
    assert again.jobs == []


def test_what_a_worker_broke_off_is_played_by_another(cup: Path, tmp_path: Path) -> None:
    def break_off(job: BlockJob) -> BlockResult:
        whole = done(job)
        if names(job) == ["r1-basic-0001-1", "r1-basic-0001-2"]:
            return replace(whole, attempts=whole.attempts[:1])
        return whole

    backend = Scripted(break_off)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert [names(job) for job in backend.jobs[:2]] == [
        ["r1-basic-0001-1", "r1-basic-0001-2"],
        ["r1-basic-0001-2"],
    ]
    assert end.standings.complete


def test_what_workers_had_when_the_runner_was_killed_is_not_forgotten(
    cup: Path, tmp_path: Path
) -> None:
    def die(job: BlockJob) -> BlockResult:
        if names(job)[0] == "r1-basic-0002-1":
            raise ZeroDivisionError  # it passes through the runner, like a signal
        return done(job)

    run = tmp_path / "run"
    with pytest.raises(ZeroDivisionError):
        play(cup, run, WorkerExecutor(Scripted(die)))
    end = play(cup, run, WorkerExecutor(Scripted(done)), resume=True)
    lost = {result.match_id: result.lost for result in end.results if result.lost}
    why = ("the run ended before its worker returned it",)
    assert lost == {"r1-basic-0002-1": why, "r1-basic-0002-2": why}


def test_a_worker_that_does_not_fit_ends_the_run_which_can_go_on(cup: Path, tmp_path: Path) -> None:
    def refuse(job: BlockJob) -> BlockResult:
        if names(job)[0] == "r1-basic-0002-1":
            raise WorkerError("worker 7: it has Python 2.7")
        return done(job)

    with pytest.raises(WorkerError, match=r"worker 7: it has Python 2\.7"):
        play(cup, tmp_path / "run", WorkerExecutor(Scripted(refuse)))
    assert read_run(tmp_path / "run").info.state == "cut short"
    backend = Scripted(done)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend), resume=True)
    assert [names(job)[0] for job in backend.jobs] == ["r1-basic-0002-1", "r1-basic-0003-1"]
    assert end.standings.complete


SUSPENDED = "suspended after it forfeited 2 of its first 2 matches"
OUT = "not started again after 2 failures in a row: exited with status 1"
"""What the entry printed is for the organiser alone."""


@pytest.mark.parametrize(
    ("limits", "fault", "suspended", "out"),
    [
        ("suspend_share = 0.4\nsuspend_after = 2", Termination.CRASH, {"bob": SUSPENDED}, {}),
        ("failed_starts = 2", Termination.NEVER_STARTED, {}, {"bob": OUT}),
    ],
    ids=["suspended", "out"],
)
def test_who_faults_too_often_plays_no_more_from_the_next_block_on(
    cup: Path,
    tmp_path: Path,
    limits: str,
    fault: Termination,
    suspended: dict[str, str],
    out: dict[str, str],
) -> None:
    cup.write_text(f"{cup.read_text()}[limits]\n{limits}\n")
    backend = Scripted(lambda job: done(job, bob=fault))
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert (end.suspended, end.out) == (suspended, out)
    first = next(i for i, job in enumerate(backend.jobs) if "bob" in job.playing)
    assert [(dict(job.suspended), dict(job.out)) for job in backend.jobs] == [
        (suspended, out) if i > first else ({}, {}) for i in range(3)
    ]


def test_what_was_not_built_is_not_asked_of_a_worker(cup: Path, tmp_path: Path) -> None:
    for name in ("made", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(sample_bots.GOOD)
    entry = '[[entries]]\nname = "{0}"\ncommand = "python bot.py"\ndirectory = "{0}"\nbuild = {1}\n'
    programs = {"made": "pass", "broken": "raise SystemExit(1)"}
    cup.write_text(
        HEADER
        + "".join(entry.format(name, ["python", "-c", code]) for name, code in programs.items())
    )
    backend = Scripted(done)
    end = play(cup, tmp_path / "run", WorkerExecutor(backend))
    assert end.out == {"broken": "build failed: exited with status 1"}
    job = backend.jobs[0]
    assert job.out == end.out
    settings = backend.settings[0]
    assert job.playing == {"made"}
    assert settings.missing(job.playing) == []
    (tmp_path / "run" / "builds" / "made").rename(tmp_path / "moved")
    (line,) = settings.missing(job.playing)
    assert line.startswith(f"entry made: {tmp_path / 'run' / 'builds' / 'made'} does not exist")


def test_where_a_block_does_not_fit_it_is_said_what_is_missing(cup: Path, tmp_path: Path) -> None:
    backend = Scripted(done)
    play(cup, tmp_path / "run", WorkerExecutor(backend))
    job, settings = backend.jobs[0], backend.settings[0]
    with pytest.raises(LostWorkerError):
        play_block(job)
    gone = tmp_path / "gone"
    theirs = {"asara": "7.0", "Python": "2.7", "the edition of the game": "00"}
    built = replace(settings.match_settings, build_directories={"ann": gone})
    begin_run(replace(settings, versions=theirs, match_settings=built))
    with pytest.raises(WorkerError) as caught:
        play_block(job)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("worker process ") for line in lines)
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [
        *(
            f"it has {label} {ours}, but the runner has {theirs[label]}"
            for label, ours in versions().items()
        ),
        "entry ann",
    ]
    assert f"entry ann: {gone} does not exist there" in lines[-1]
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), WorkerError)


def test_a_deal_that_was_lost_is_played_again_when_the_others_of_its_leg_are_over(
    mirrored: Path, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()

    def lose_once(job: BlockJob) -> BlockResult:
        (name,) = job.block.attempt_names
        seen[name] += 1
        if name == "r1-basic-0001-1" and seen[name] == 1:
            raise LostError
        return done(job)

    backend = Scripted(lose_once)
    end = play(mirrored, tmp_path / "run", WorkerExecutor(backend))
    assert [leg for leg in backend.jobs_by_leg if leg] == [
        ["r1-basic-0001-1", "r1-basic-0002-2", "r1-basic-0003-1"],
        ["r1-basic-0001-1"],
        ["r1-basic-0001-2", "r1-basic-0002-1", "r1-basic-0003-2"],
    ]
    assert end.standings.complete
    assert {result.attempt for result in end.results} == {1}


TELLS = "import os\nprint('process', os.getpid(), flush=True)\n" + STEADY
KEPT = 'blocks = "independent"\nprocess_per = "run"\nrounds = 3\n'


@contextmanager
def jobs(tmp_path: Path) -> Iterator[tuple[RunSettings, list[BlockJob]]]:
    """Yield what a worker of this process gets of a run; its bots end afterwards."""
    file = write_tournament(tmp_path, {"ann": TELLS, "bob": TELLS}, HEADER + KEPT, PATIENT)
    backend = Scripted(done)
    play(file, tmp_path / "run", WorkerExecutor(backend))
    begin_run(backend.settings[0])
    try:
        yield backend.settings[0], backend.jobs
    finally:
        abandon_blocks(30)


def pids(result: BlockResult) -> set[int]:
    logs = b"".join(log.content for log in result.output.bot_logs)
    return {int(number) for number in re.findall(rb"^process (\d+)", logs, re.MULTILINE)}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_block_or_a_worker_that_comes_back(tmp_path: Path) -> None:
    with jobs(tmp_path) as (settings, (first, second, third)):
        started = pids(play_block(first))
        assert len(started) == 2
        assert pids(play_block(second)) == set()  # they are kept
        again = pids(play_block(first))
        assert len(again) == 2
        assert not again & started
        stop_blocks(first.run_id, None)  # Dask lost the worker
        assert play_block(third).attempts == ()
        begin_run(settings)  # and found it again
        assert len(play_block(third).attempts) == len(third.block.attempt_names)
