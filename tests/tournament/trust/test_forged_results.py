"""The audit names what the owner of a run changes in its results and signs.

The owner holds the key, changes whatever he likes and signs all of it again, except for what was
published before the first match.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path

import pytest

from asara_codec.results import Termination
from asara_server.replay.file import read_replay
from tests.sizes import others_long
from tests.tournament.played_runs import (
    VOID,
    Forger,
    replayed,
    result_of,
)
from tests.tournament.trust.forged_runs import (
    AGAIN,
    FIRST,
    SECOND,
    THIRD,
    Played,
    assert_named,
    audited,
    delete,
    replay,
    text,
)


def later_attempt(forger: Forger) -> None:
    """Keep the second attempt, whose deal is better, and say nothing of the first."""
    header = read_replay(forger.replay(FIRST)).header
    name = f"{FIRST}.2"
    spec = replaced(header.spec(), match_id=name)
    forger.replay(FIRST).unlink()
    forger.edit_result(0, attempt=2)
    forger.write_replay(name, replayed(spec))


def second_attempt_after_one_that_counts(forger: Forger) -> None:
    header = read_replay(forger.replay(FIRST)).header
    replay = replayed(replaced(header.spec(), match_id=f"{FIRST}.2"))
    forger.write_replay(f"{FIRST}.2", replay, result=False)
    forger.results.insert(1, result_of(forger.schedule[0], 2, replay))


def fourth_attempt(forger: Forger) -> None:
    match = forger.schedule[0]
    replay = replayed(
        replaced(read_replay(forger.replay(FIRST)).header.spec(), match_id=f"{FIRST}.4")
    )
    forger.replay(FIRST).unlink()
    forger.write_replay(f"{FIRST}.4", replay, result=False)
    void = [result_of(match, attempt, None) for attempt in (1, 2, 3)]
    forger.results[:1] = [*void, result_of(match, 4, replay)]


def unscheduled_block(forger: Forger) -> None:
    for name in (FIRST, SECOND):
        spec = read_replay(forger.replay(name)).header.spec()
        new = name.replace("0001", "0009")
        block = new.rpartition("-")[0]
        match = replaced(forger.schedule[0], match_id=new, block=block, entries=spec.entries)
        replay = replayed(replaced(spec, match_id=new, shared_deal=block))
        forger.write_replay(new, replay, result=False)
        forger.results.append(result_of(match, 1, replay))


def without_a_match(forger: Forger) -> None:
    forger.replay(FIRST).unlink()
    del forger.results[0]
    forger.head = forger.head.model_copy(update={"scheduled": 11})
    forger.info = forger.info.model_copy(update={"scheduled": 11})


def without_a_round(forger: Forger) -> None:
    for result in forger.results:
        if result.round == 2:
            forger.replay(result.played_as).unlink()
    forger.results = [result for result in forger.results if result.round == 1]


def void_place(forger: Forger) -> int:
    """The place of the void attempt; the one that repeats it is the last of its group."""
    return next(place for place, result in enumerate(forger.results) if result.void)


def hide_void(forger: Forger) -> None:
    forger.results = [result for result in forger.results if not result.void]


def claim_forfeit(forger: Forger) -> None:
    forger.edit_seat(0, 0, termination=Termination.TIME_OUT, detail="late", rank=2)
    forger.edit_seat(0, 1, rank=1)


def copy_result(forger: Forger) -> None:
    """Let one match count for another, replay included."""
    shutil.copyfile(forger.replay(FIRST), forger.replay(THIRD))


def move_match(forger: Forger) -> None:
    forger.edit_result(0, block="r1-basic-0002")


OWNER: dict[str, tuple[Callable[[Forger], None], str]] = {
    "results say other seats": (
        lambda forger: forger.edit_seat(0, 0, entry="cid"),
        f"line 1: {FIRST}: entries by seat: expected ann, bob; found cid, bob",
    ),
    "a later attempt chosen": (later_attempt, f"{FIRST}: attempt 2, but attempt 1 is missing"),
    "a second attempt after one that counts": (
        second_attempt_after_one_that_counts,
        f"{FIRST}: attempted twice: attempt 2, although attempt 1 .* counts",
    ),
    "more attempts than allowed": (fourth_attempt, f"{FIRST}: attempt 4: expected 1 to 3"),
    "an unscheduled block": (
        unscheduled_block,
        "r1-basic-0009-1: not in the schedule that follows from manifest.json",
    ),
    "a match less": (without_a_match, f"{FIRST}: no result, although the run is finished"),
    "a round less": (without_a_round, "r2-basic-0001-1: no result, although the run is finished"),
    "a void attempt hidden": (hide_void, f"{AGAIN}: attempt 2, but attempt 1 is missing"),
    "a void attempt without a reason": (
        lambda forger: forger.edit_result(void_place(forger), void_reason=""),
        f"{AGAIN}: attempt 1 is void, but has no reason",
    ),
    "a void attempt that counts": (
        lambda forger: forger.edit_result(
            void_place(forger), void=False, seats=forger.results[-1].seats
        ),
        f"{AGAIN}: attempt 1 counts, but has a reason to be void",
    ),
    "a result that counts called void": (
        lambda forger: forger.edit_result(0, void=True, void_reason=VOID, seats=()),
        f"{FIRST}: attempt 1 is void, but has a replay",
    ),
    "an invented forfeit": (
        claim_forfeit,
        r"results.jsonl: line 1: seats\[0\]\.(rank|termination): expected",
    ),
    "more prestige": (
        lambda forger: forger.edit_seat(0, 0, prestige=999),
        r"results.jsonl: line 1: seats\[0\]\.prestige: expected \d+ by the replay; found 999",
    ),
    "another reason of a forfeit": (
        lambda forger: forger.edit_seat(0, 1, detail="was rude"),
        r"results.jsonl: line 1: seats\[1\]\.detail: expected 'the test ends here' by the replay",
    ),
    "a reason without a forfeit": (
        lambda forger: forger.edit_seat(0, 0, detail="; was rude"),
        r"results.jsonl: line 1: seats\[0\]\.detail: expected '' by the replay",
    ),
    "a match that counts for another": (copy_result, f"{THIRD} has the replay of {FIRST}"),
    "a result moved to another block": (
        move_match,
        f"{FIRST}: block: expected 'r1-basic-0001' by the schedule",
    ),
    "a result moved to another round": (
        lambda forger: forger.edit_result(0, round=2),
        f"{FIRST}: round: expected 1 by the schedule; found 2",
    ),
    "results under other rules": (
        lambda forger: forger.edit_result(0, rule_sets="pro"),
        f"{FIRST}: rule_sets: expected 'basic' by the schedule; found 'pro'",
    ),
}


@pytest.mark.parametrize("forgery", others_long(OWNER, 3))
def test_results_that_the_owner_changes_and_signs_are_named(
    played: Played, run: Path, forgery: str
) -> None:
    assert_named(played, run, *OWNER[forgery])


def test_a_run_that_is_said_not_to_have_ended_never_passes(played: Played, run: Path) -> None:
    """Whoever drops results has to drop the tree head, and to say that the run is being played."""
    delete(*run.glob("tree_head*"), run / "standings.json")
    info = json.loads(text(run, "run.json"))
    info.update(state="running", ended=None, tournament_secret=None)
    (run / "run.json").write_text(json.dumps(info, indent=2) + "\n")
    lines = text(run, "results.jsonl").splitlines(keepends=True)
    for line in lines[-4:]:
        replay(run, json.loads(line)["match_id"]).unlink(missing_ok=True)
    (run / "results.jsonl").write_text("".join(lines[:-4]))
    status, output = audited(played, run)
    assert "some of which may be missing" in output
    assert "1 run without a signed end" in output
    assert status != 0
