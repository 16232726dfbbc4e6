"""The record of bot processes: what a resumed run and an audit read in it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from asara_game.vocabulary import RuleSet
from asara_server.journal.journal import Fact, Journal, JournalError
from asara_server.tournament.run.run_record import Lives, ProcessRow, RunProcesses, process_rows
from asara_server.tournament.schedule.schedule import ScheduledMatch

SCHEDULE = [
    ScheduledMatch(
        f"{block}-{number}", 1, frozenset({RuleSet.BASIC}), ("ann", "bob"), block, "mirrored"
    )
    for block in ("one", "two")
    for number in (1, 2)
]


def life(process: str, began: int, ended: int | None, *played: str) -> list[dict[str, Any]]:
    """The rows of a process, which plays all matches at the moment when it begins."""
    rows: list[dict[str, Any]] = [
        {"row": "began", "process": process, "entry": f"e{process}", "machine": "m", "at_ns": began}
    ]
    rows += [{"row": "plays", "process": process, "match": one, "at_ns": began} for one in played]
    if ended is not None:
        rows.append({"row": "ended", "process": process, "machine": "m", "at_ns": ended})
    return rows


def rows_of(*lives: list[dict[str, Any]], cleared: int | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"row": "group", "blocks": {"one": 2, "two": 2}}]
    rows += [row for one in lives for row in one]
    if cleared is not None:
        rows.append({"row": "cleared", "machine": "m", "at_ns": cleared})
    return rows


def faults(*lives: list[dict[str, Any]], cleared: int | None = None) -> list[str]:
    return [fault.partition(", and")[0] for fault in faults_of(rows_of(*lives, cleared=cleared))]


def faults_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    lives = Lives()
    for row in rows:
        lives.add(ProcessRow(**row))
    return list(lives.faults(SCHEDULE, [], max_attempts=3, remote=frozenset()))


def test_a_deal_may_be_played_again_when_nobody_is_left_who_saw_it() -> None:
    first, second = ("one-1", "two-2"), ("one-2", "two-1")
    assert faults(life("a", 1, 5, *first), life("b", 2, 6, *first), life("c", 6, 9, *second)) == []


@pytest.mark.parametrize(
    ("between", "last"),
    [
        (life("b", 1, 8), "eb"),  # plays nothing, and could be told everything
        (life("b", 4, 8, "two-2"), "eb"),
        ([*life("b", 4, 6), *life("x", 5, 8)], "ex"),  # one tells the other
        (life("b", 4, None), "eb"),
    ],
)
def test_somebody_who_lives_between_two_matches_of_a_deal_is_a_fault(
    between: list[dict[str, Any]], last: str
) -> None:
    rows = rows_of(life("a", 1, 5, "one-1"), between, life("c", 7, 9, "one-2"))
    (fault,) = faults_of(rows)
    assert fault == (
        "one-2 has the deal of one-1, and some bot process lived all along between them; "
        f"when it began, a process of {last} had lived for 0.000 s"
    )


def test_a_line_that_comes_twice_says_nothing_new() -> None:
    first = life("a", 1, 5, "one-1")
    assert faults(first, first, life("b", 6, 8, "one-2")) == []


def test_another_attempt_at_a_match_has_its_deal() -> None:
    assert faults(life("a", 1, 5, "one-1"), life("b", 4, 8, "one-1.2")) == [
        "one-1.2 has the deal of one-1"
    ]
    assert faults(life("a", 1, 5, "one-1"), life("b", 4, 8, "one-1")) == []  # it was continued


def test_what_a_killed_runner_left_is_dead_once_the_machine_was_cleared() -> None:
    lives = [life("a", 1, None, "one-1"), life("b", 6, 8, "one-2")]
    assert faults(*lives, cleared=5) == []
    assert faults(*lives, cleared=7) == ["one-2 has the deal of one-1"]
    assert faults(*lives) == ["one-2 has the deal of one-1"]


ONE, TWO = {"one": 2}, {"two": 2}


@pytest.mark.parametrize(
    ("groups", "fault"),
    [
        ((ONE, TWO), ""),
        ((ONE | TWO, TWO), "block two is in two groups"),
        (
            (ONE | {"six": 2}, TWO),
            "block six has 2 of its 0 matches in its group",
        ),
        (({"one": 1}, TWO), "block one has 1 of its 2 matches in its group"),
        ((TWO, ONE), "one-1 was played outside its group, whose legs were over or had not begun"),
        (({}, TWO), "one-1 was played outside its group, whose legs were over or had not begun"),
    ],
)
def test_every_match_is_played_in_the_group_that_was_written(
    groups: tuple[dict[str, int], ...], fault: str
) -> None:
    played = (("one-1", "one-2.2"), ("two-1", "two-2"))
    rows = []
    for number, (blocks, matches) in enumerate(zip(groups, played, strict=True)):
        rows.append({"row": "group", "blocks": blocks})
        for match in matches:
            at = 10 * number + matches.index(match)
            rows += life(match, at, at + 1, match)
    assert next(iter(faults_of(rows)), "") == fault


def test_a_resumed_run_knows_who_may_live(tmp_path: Path) -> None:
    def processes(journal: Journal) -> RunProcesses:
        return RunProcesses(process_rows(journal.facts, journal.path), journal.note)

    with Journal(tmp_path / "run.journal") as journal:
        record = processes(journal)
        record.note("began", process="a", entry="ann")
        record.note("began", process="b", entry="bob")
        record.note("ended", process="a")
        record.note("alone", matches=["three-2"])
        record.note("began", process="c", entry="cid", machine="other")
    with Journal(tmp_path / "run.journal") as journal:
        again = processes(journal)
        assert again.alone == {"three-2"}
        assert [*again.living] == [*record.living] == ["b"]
        again.note("cleared")
    with Journal(tmp_path / "run.journal") as journal:
        assert not processes(journal).living


@pytest.mark.parametrize(
    "fact",
    [
        Fact("lived", {}),
        Fact("ended", {"at_ns": "soon"}),
        Fact("ended", {"more": 1}),
        Fact("ended", {"row": "began"}),
    ],
)
def test_a_line_that_cannot_be_read_is_named(fact: Fact) -> None:
    expected = f"^run.journal: has a line that cannot be read: {fact.kind}$"
    with pytest.raises(JournalError, match=expected):
        list(process_rows([Fact("cleared", {}), fact], Path("run.journal")))
