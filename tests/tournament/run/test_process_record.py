"""The record of bot processes: what a resumed run and an audit read in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from asara_game.vocabulary import RuleSet
from asara_server.tournament.run.process_record import (
    PROCESSES,
    ProcessFile,
    ProcessRecorder,
    ProcessRecordError,
    ProcessRow,
    last_group,
    last_group_of,
    living,
    machine,
    matches_alone,
    process_faults,
    read_processes,
    read_processes_of,
)
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


def faults(*lives: list[dict[str, Any]], cleared: int | None = None) -> list[str]:
    rows = [ProcessRow(row="group", blocks={"one": 2, "two": 2})]
    rows += [ProcessRow(**row) for one in lives for row in one]
    if cleared is not None:
        rows.append(ProcessRow(row="cleared", machine="m", at_ns=cleared))
    found = process_faults(rows, SCHEDULE, [], max_attempts=3, remote=frozenset())
    return [fault.partition(", and")[0].removeprefix(f"{PROCESSES}: ") for fault in found]


def test_a_deal_may_be_played_again_when_nobody_is_left_who_saw_it() -> None:
    first, second = ("one-1", "two-2"), ("one-2", "two-1")
    assert faults(life("a", 1, 5, *first), life("b", 2, 6, *first), life("c", 6, 9, *second)) == []


@pytest.mark.parametrize(
    "between",
    [
        life("b", 1, 8),  # plays nothing, and could be told everything
        life("b", 4, 8, "two-2"),
        [*life("b", 4, 6), *life("x", 5, 8)],  # one tells the other
        life("b", 4, None),
    ],
)
def test_somebody_who_lives_between_two_matches_of_a_deal_is_a_fault(
    between: list[dict[str, Any]],
) -> None:
    assert faults(life("a", 1, 5, "one-1"), between, life("c", 7, 9, "one-2")) == [
        "one-2 has the deal of one-1"
    ]


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
        rows.append(ProcessRow(row="group", blocks=blocks))
        for match in matches:
            at = 10 * number + matches.index(match)
            rows += [ProcessRow(**row) for row in life(match, at, at + 1, match)]
    found = process_faults(rows, SCHEDULE, [], max_attempts=3, remote=frozenset())
    assert next(found, "") == (fault and f"{PROCESSES}: {fault}")


def test_a_resumed_run_knows_its_group_and_who_may_live(tmp_path: Path) -> None:
    file = ProcessFile(tmp_path)
    record = ProcessRecorder(file.write)
    file.write_group({"one": 2})
    record.began("a", "ann")
    record.began("b", "bob")
    record.ended("a")
    file.write_group({"two": 2, "three": 4})
    file.write_alone(["three-2"])
    file.close()
    with (tmp_path / PROCESSES).open("a") as torn:
        torn.write('{"row":"began","proce')
    rows = read_processes_of(tmp_path)
    assert last_group(rows) == last_group_of(tmp_path) == {"two": 2, "three": 4}
    assert matches_alone(rows) == {"three-2"}
    assert living(rows) == ["b"]
    elsewhere = [row.model_copy(update={"machine": "other"}) for row in rows]
    assert machine() != "other"
    assert living(elsewhere) == []
    file = ProcessFile(tmp_path)  # the line that was cut off goes
    ProcessRecorder(file.write).cleared()
    file.close()
    assert living(read_processes_of(tmp_path)) == []


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"row": "lived"}',
        b'{"row":"ended","at_ns":"soon"}',
        b"1e999",
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: bytes) -> None:
    content = json.dumps({"row": "cleared"}).encode() + b"\n" + line + b"\n"
    with pytest.raises(ProcessRecordError, match=r"^processes\.jsonl: line 2: cannot be read$"):
        read_processes(content)
