"""What is given to workers, and what becomes of what they hand in or lose; nothing is played."""

import asyncio
import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from asara_game.rules import format_rule_sets
from asara_server import deals
from asara_server.results import Termination
from asara_server.tournament import blocks
from asara_server.tournament.arena import utc_now
from asara_server.tournament.blocks import BlockDone, BlockTask, UnfitError, play_block
from asara_server.tournament.crew import CrewError, Workers
from asara_server.tournament.directory import read_info
from asara_server.tournament.results import MatchResult, SeatLine
from asara_server.tournament.schedule import Match
from tests.tournament import bots
from tests.tournament.bots import write_tournament
from tests.tournament.runs import play
from tests.tournament.workers import HEADER, outcome

NAMES = ("ann", "bob", "cid")


class LostError(Exception):
    """As of a worker that died."""


class Scripted:
    """A crew that hands in what a function makes of the task, or loses it."""

    tries = 3

    def __init__(self, answer: Callable[[BlockTask], BlockDone], slots: int = 1) -> None:
        self.tasks: list[BlockTask] = []
        self.most = 0
        self._answer = answer
        self._slots = slots
        self._open = 0

    async def slots(self) -> int:
        return self._slots

    def submit(self, task: BlockTask) -> "Future[BlockDone]":
        self.tasks.append(task)
        self._open += 1
        self.most = max(self.most, self._open)
        future: Future[BlockDone] = Future()
        asyncio.get_running_loop().call_later(0.01, self._end, task, future)
        return future

    def _end(self, task: BlockTask, future: "Future[BlockDone]") -> None:
        self._open -= 1
        try:
            future.set_result(self._answer(task))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)

    def loss(self, error: BaseException) -> str:
        return "it died" if isinstance(error, LostError) else ""

    async def stop(self, run: str, finish_s: float) -> None:
        """Nothing runs."""


def result(match: Match, attempt: int, faults: dict[str, Termination]) -> MatchResult:
    """A match that the first seat won."""
    return MatchResult(
        match_id=match.match_id,
        attempt=attempt,
        round=match.round,
        rule_sets=format_rule_sets(match.rule_sets),
        block=match.block,
        seats=tuple(
            SeatLine(
                entry=entry,
                rank=rank,
                prestige=0,
                termination=faults.get(entry, Termination.COMPLETED),
            )
            for rank, entry in enumerate(match.entries, 1)
        ),
        started=utc_now(),
        seconds=0.1,
    )


def done(task: BlockTask, **faults: Termination) -> BlockDone:
    faults |= dict.fromkeys(task.excluded, Termination.NEVER_STARTED)
    played = tuple((result(match, attempt, faults), None) for match, attempt in task.matches)
    return BlockDone("somewhere", played, (), (), ())


def names(task: BlockTask) -> list[str]:
    return [match.match_id for match, _ in task.matches]


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return write_tournament(tmp_path, dict.fromkeys(NAMES, bots.GOOD), HEADER)


@pytest.mark.parametrize("slots", [1, 2, 7])
def test_every_block_is_given_to_one_worker_as_there_is_room(
    cup: Path, tmp_path: Path, slots: int
) -> None:
    crew = Scripted(done, slots)
    end = play(cup, tmp_path / "run", Workers(crew))
    assert [names(task) for task in crew.tasks] == [
        [f"r1-basic-000{block}-1", f"r1-basic-000{block}-2"] for block in (1, 2, 3)
    ]
    assert crew.most == min(slots, 3)
    assert end.standings.complete
    assert len(end.results) == 6


def test_a_worker_learns_the_secrets_of_its_own_deals_and_nothing_they_follow_from(
    cup: Path, tmp_path: Path
) -> None:
    crew = Scripted(done)
    play(cup, tmp_path / "run", Workers(crew))
    tournament = deals.tournament_secret("spring")
    of_blocks = {
        task.matches[0][0].block: deals.block_secret(tournament, task.matches[0][0].block)
        for task in crew.tasks
    }
    assert len(of_blocks) == 3
    for task in crew.tasks:
        told = pickle.dumps(task)
        assert tournament not in told
        assert tournament.hex().encode() not in told
        assert b"spring" not in told
        own = of_blocks[task.matches[0][0].block]
        assert set(task.secrets.values()) == {own}
        for secret in of_blocks.values():
            assert (secret in told) == (secret == own)


def test_independent_matches_have_a_secret_for_each_attempt(cup: Path, tmp_path: Path) -> None:
    cup.write_text(cup.read_text().replace("seats", 'blocks = "independent"\nseats', 1))
    crew = Scripted(done)
    play(cup, tmp_path / "run", Workers(crew))
    tournament = deals.tournament_secret("spring")
    assert crew.tasks[0].secrets == {
        name: deals.match_secret(tournament, name)
        for first in ("r1-basic-0001-1", "r1-basic-0001-2")
        for name in (first, f"{first}.2", f"{first}.3")
    }


def test_a_lost_block_is_played_again_as_the_same_attempt(cup: Path, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def lose_twice(task: BlockTask) -> BlockDone:
        seen[names(task)[0]] += 1
        if names(task)[0] == "r1-basic-0002-1" and seen[names(task)[0]] <= 2:
            raise LostError
        return done(task)

    crew = Scripted(lose_twice)
    end = play(cup, tmp_path / "run", Workers(crew))
    assert seen["r1-basic-0002-1"] == 3
    lost = [task for task in crew.tasks if names(task)[0] == "r1-basic-0002-1"]
    assert lost[0] == lost[1] == lost[2]
    assert {result.attempt for result in end.results} == {1}
    play(cup, tmp_path / "calm", Workers(Scripted(done)))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "calm")


def test_a_block_that_is_lost_too_often_is_void_and_not_tried_by_a_resumed_run(
    cup: Path, tmp_path: Path
) -> None:
    def lose(task: BlockTask) -> BlockDone:
        if names(task)[0] == "r1-basic-0002-1":
            raise LostError
        return done(task)

    crew = Scripted(lose)
    end = play(cup, tmp_path / "run", Workers(crew))
    assert len(crew.tasks) == 2 + crew.tries
    assert end.cut == ("block r1-basic-0002 has no result, and is given up: it died",)
    assert (end.standings.matches.played, end.standings.matches.void) == (4, 2)
    again = Scripted(lose)
    play(cup, tmp_path / "run", Workers(again), resume=True)
    assert again.tasks == []


def test_what_a_worker_broke_off_is_played_by_another(cup: Path, tmp_path: Path) -> None:
    def break_off(task: BlockTask) -> BlockDone:
        whole = done(task)
        if names(task) == ["r1-basic-0001-1", "r1-basic-0001-2"]:
            return replace(whole, played=whole.played[:1])
        return whole

    crew = Scripted(break_off)
    end = play(cup, tmp_path / "run", Workers(crew))
    assert [names(task) for task in crew.tasks[:2]] == [
        ["r1-basic-0001-1", "r1-basic-0001-2"],
        ["r1-basic-0001-2"],
    ]
    assert end.standings.complete


def test_a_worker_that_does_not_fit_ends_the_run_which_can_go_on(cup: Path, tmp_path: Path) -> None:
    def refuse(task: BlockTask) -> BlockDone:
        if names(task)[0] == "r1-basic-0002-1":
            raise UnfitError("worker 7: it has Python 2.7")
        return done(task)

    with pytest.raises(CrewError, match=r"worker 7: it has Python 2\.7"):
        play(cup, tmp_path / "run", Workers(Scripted(refuse)))
    assert read_info(tmp_path / "run").state == "cut short"
    crew = Scripted(done)
    end = play(cup, tmp_path / "run", Workers(crew), resume=True)
    assert [names(task)[0] for task in crew.tasks] == ["r1-basic-0002-1", "r1-basic-0003-1"]
    assert end.standings.complete


def test_what_goes_wrong_otherwise_is_no_loss(cup: Path, tmp_path: Path) -> None:
    def fail(_: BlockTask) -> BlockDone:
        raise ZeroDivisionError

    crew = Scripted(fail)
    with pytest.raises(ZeroDivisionError):
        play(cup, tmp_path / "run", Workers(crew))
    assert len(crew.tasks) == 1


def test_who_faults_too_often_is_suspended_from_the_next_block_on(
    cup: Path, tmp_path: Path
) -> None:
    cup.write_text(cup.read_text() + "[limits]\nsuspend_share = 0.4\nsuspend_after = 2\n")
    crew = Scripted(lambda task: done(task, bob=Termination.CRASH))
    end = play(cup, tmp_path / "run", Workers(crew))
    why = "suspended after it forfeited 2 of its first 2 matches"
    assert end.suspended == {"bob": why}
    first = next(i for i, task in enumerate(crew.tasks) if "bob" in task.matches[0][0].entries)
    assert [dict(task.excluded) for task in crew.tasks] == [
        {"bob": why} if i > first else {} for i in range(3)
    ]


def test_who_does_not_start_is_out_from_the_next_block_on(cup: Path, tmp_path: Path) -> None:
    cup.write_text(cup.read_text() + "[limits]\nfailed_starts = 2\n")
    crew = Scripted(lambda task: done(task, bob=Termination.NEVER_STARTED))
    end = play(cup, tmp_path / "run", Workers(crew))
    assert end.out == {"bob": "not started again after 2 failures in a row"}
    assert end.suspended == {}
    assert [set(task.excluded) for task in crew.tasks][-1] == {"bob"}


def test_what_was_not_built_is_not_asked_of_a_worker(cup: Path, tmp_path: Path) -> None:
    for name in ("made", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(bots.GOOD)
    entry = '[[entries]]\nname = "{0}"\ncommand = "python bot.py"\ndirectory = "{0}"\nbuild = {1}\n'
    programs = {"made": "pass", "broken": "raise SystemExit(1)"}
    cup.write_text(
        HEADER
        + "".join(entry.format(name, ["python", "-c", code]) for name, code in programs.items())
    )
    crew = Scripted(done)
    end = play(cup, tmp_path / "run", Workers(crew))
    assert end.out == {"broken": "cannot be built: exited with status 1"}
    (task,) = crew.tasks
    assert task.excluded == end.out
    assert task.needs.paths == (("made", tmp_path / "run" / "builds" / "made"),)
    assert task.needs.missing() == []


def test_where_a_block_does_not_fit_it_is_said_what_is_missing(cup: Path, tmp_path: Path) -> None:
    crew = Scripted(done)
    play(cup, tmp_path / "run", Workers(crew))
    task = crew.tasks[0]
    needs = task.needs
    gone = tmp_path / "gone"
    program = needs.program._replace(asara="7.0", python="2.7", edition_sha256="00")
    task = replace(task, needs=replace(needs, program=program, paths=(("ann", gone),)))
    with pytest.raises(UnfitError) as caught:
        play_block(task)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("worker process ") for line in lines)
    ours = blocks.Program.here()
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [
        f"it has asara {ours.asara}, and the runner 7.0",
        f"it has Python {ours.python}, and the runner 2.7",
        f"it has the edition of the game {ours.edition_sha256}, and the runner 00",
        "entry ann",
    ]
    assert f"entry ann: {gone} does not exist there" in lines[-1]
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), UnfitError)
