"""The audit names what the owner of a run changes and signs.

The owner holds the key, changes whatever he likes and signs all of it again, except for what was
published before the first match.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_game.rules import RULES_VERSION
from asara_server.journal.journal import Fact
from asara_server.match.spec import MatchSpec, Player
from asara_server.replay.file import read_replay
from asara_server.tournament.schedule.schedule import Attempt
from tests.cli.command import asara
from tests.sizes import others_long
from tests.tournament.played_runs import (
    HEADER,
    OTHER_SEED,
    VOID,
    Forger,
    facts_of,
    other_edition,
    play_run,
    replayed,
    result_of,
    rules_of,
    write_facts,
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
)


def test_a_run_that_its_owner_signs_again_unchanged_is_sound(played: Played, run: Path) -> None:
    Forger(run).sign()
    assert audited(played, run)[0] == 0


def manifest_with(**changes: object) -> Callable[[Forger], None]:
    def change(forger: Forger) -> None:
        forger.manifest = forger.manifest.model_copy(update=changes)

    return change


def first_entry_with(**changes: object) -> Callable[[Forger], None]:
    def change(forger: Forger) -> None:
        first, *others = forger.manifest.entries
        entries = (first.model_copy(update=changes), *others)
        forger.manifest = forger.manifest.model_copy(update={"entries": entries})

    return change


MANIFESTS: dict[str, tuple[Callable[[Forger], object], str]] = {
    "another title": (manifest_with(title="Final"), "manifest.json: not the manifest that was"),
    "other limits": (
        manifest_with(limits={"suspend_share": 1.0, "suspend_after": 1}),
        "manifest.json: not the manifest that was published",
    ),
    "more rejections forgiven": (
        manifest_with(rejections_forgiven=9),
        "rejections_forgiven: expected 9 by manifest and schedule",
    ),
    "another version of the rules": (
        manifest_with(rules_version=RULES_VERSION + 1),
        f"expected {RULES_VERSION + 1} by manifest and schedule; found {RULES_VERSION}",
    ),
    "another edition in the manifest": (
        manifest_with(edition_sha256="00" * 32),
        "edition: expected '0000",
    ),
    "another number of matches": (
        manifest_with(matches=11),
        "manifest.json: matches: expected 12 by its settings; found 11",
    ),
    "another schedule": (
        manifest_with(rounds=1),
        "manifest.json: schedule_sha256: expected",
    ),
    "an endless schedule": (
        manifest_with(schedule_rule="rotations", matches=10**9),
        "no schedule follows from it: 1000000000 matches are more than any run has",
    ),
    "endless rounds": (
        manifest_with(rounds=10**12),
        "no schedule follows from it: 6000000000000 matches are more than any run has",
    ),
    "tables without seats": (
        manifest_with(seats=(0,)),
        "no schedule follows from it: no tournament has such settings",
    ),
    "tables without entries": (
        manifest_with(schedule_rule="rotations", entries=()),
        "no schedule follows from it: no tournament has such settings",
    ),
    "checks of ranks without a round": (
        manifest_with(rounds=0, looks=(4, 12)),
        "manifest.json: looks: expected '0' by its schedule; found '4, 12'",
    ),
    "endless attempts": (
        manifest_with(max_attempts=10**9),
        "manifest.json: cannot be read: max_attempts: Input should be less than or equal to 100",
    ),
    "another commitment": (
        manifest_with(deal_commitment="00" * 32),
        "manifest.json: not the manifest that was published",
    ),
    "a run that may end early": (
        manifest_with(may_end_early=True),
        "manifest.json: not the manifest that was published",
    ),
    "an entry called remote": (
        first_entry_with(remote=True),
        "manifest.json: schedule_sha256: expected",
    ),
    "fresh processes in the manifest": (
        first_entry_with(process_per="match"),
        r"processes: expected \('match', 'run'\) by manifest and schedule",
    ),
    "joint deals": (manifest_with(deals="joint"), "a nonce of every seat: expected True"),
}


HEADS: dict[str, tuple[dict[str, Any], str]] = {
    "a leaf dropped": ({"attempts": 12}, "attempts: expected 13 by results.jsonl; found 12"),
    "another root": ({"root": "00" * 32}, "tree_head.json: root: expected"),
    "a match more": ({"scheduled": 13}, "tree_head.json: scheduled: expected 12 by manifest.json"),
    "a match played more": ({"played": 13}, "tree_head.json: played: expected 12 by results"),
    "a void match": ({"void": 1}, "tree_head.json: void: expected 0 by results.jsonl; found 1"),
    "a suspension": (
        {"suspended": {"ann": "suspended after it forfeited 9 of its first 10 matches"}},
        "tree_head.json: suspended: ann: expected 'no' by results.jsonl",
    ),
    "another secret": (
        {"tournament_secret": "00" * 32},
        "tree_head.json: the secret of the tournament does not open the commitment",
    ),
    "no secret": ({"tournament_secret": None}, "tree_head.json: tournament_secret: missing"),
    "another journal": ({"journal_sha256": "00" * 32}, "run.journal: changed after the signing"),
    "other results": ({"results_sha256": "00" * 32}, "tree_head.json: results_sha256: expected"),
    "other standings": ({"standings_sha256": "00" * 32}, "standings.json: changed after the sig"),
}


@pytest.mark.parametrize("forgery", others_long(HEADS, 3))
def test_a_tree_head_that_the_owner_changes_and_signs_is_named(
    played: Played, run: Path, forgery: str
) -> None:
    changes, expected = HEADS[forgery]
    Forger(run).sign(**changes)
    assert_named(played, run, expected)


def played_by(*players: Player) -> Callable[[Forger], None]:
    return lambda forger: forger.play_again(FIRST, players=players)


def other_edition_in_one_match(forger: Forger) -> None:
    forger.play_again(FIRST, rules=rules_of(other_edition(), forger.schedule[0]))


def deal_of_another_block(forger: Forger) -> None:
    header = read_replay(forger.replay(THIRD)).header
    forger.play_again(FIRST, secret=header.deal_secret)


REPLAYS: dict[str, tuple[Callable[[Forger], object], str]] = {
    "other names in a match": (
        played_by(Player("ann", "1"), Player("cid", "2")),
        rf"{FIRST}.asara: record 1 .*: entries: expected \('ann', 'bob'\) by manifest",
    ),
    "seats exchanged in a match": (
        played_by(Player("bob", "1"), Player("ann", "2")),
        rf"{FIRST}.asara: record 1 .*: entries: expected .* found \('bob', 'ann'\)",
    ),
    "another edition in a match": (
        other_edition_in_one_match,
        rf"{FIRST}.asara: record 1 .*: edition: expected",
    ),
    "other clocks in a match": (
        lambda forger: forger.play_again(FIRST, clocks=Clocks(bank_us=90_000_000)),
        rf"{FIRST}.asara: record 1 .*: clocks.bank_us: expected 60000000 by manifest",
    ),
    "another start-up time in a match": (
        lambda forger: forger.play_again(FIRST, clocks=Clocks(start_up_us=1_000_000)),
        "clocks.start_up_us: expected 30000000 by manifest",
    ),
    "a deal that nobody committed to": (
        lambda forger: forger.play_again(FIRST, secret=bytes(32)),
        f"{FIRST}.asara: .*the deal does not follow from the secret of the tournament",
    ),
    "the deal of another block": (
        deal_of_another_block,
        "the deal does not follow from the secret of the tournament",
    ),
    "a match outside its block": (
        lambda forger: forger.play_again(FIRST, shared_deal=""),
        f"{FIRST}.asara: record 1 .*: shared_deal: expected",
    ),
    "nonces in a deal that is not joint": (
        lambda forger: forger.play_again(FIRST, shared_deal="", nonces=(bytes(32),) * 2),
        f"{FIRST}.asara: record 1 .*: shared_deal: expected",
    ),
    "fresh processes in a match": (
        played_by(Player("ann", "1", "match"), Player("bob", "2", "match")),
        rf"{FIRST}.asara: record 1 .*: processes: expected \('run', 'run'\) by manifest",
    ),
}


def test_a_joint_deal_without_nonces_is_named(tmp_path: Path) -> None:
    joint = 'blocks = "independent"\ndeals = "joint"\n'
    run = play_run(tmp_path, HEADER.replace("rounds = 2\n", joint))
    assert asara("audit", run).returncode == 0
    forger = Forger(run)
    name = forger.results[0].played_as
    spec: MatchSpec = read_replay(forger.replay(name)).header.spec()
    forger.play_again(name, joint=False, nonces=())
    forger.sign()
    done = asara("audit", run)
    assert done.returncode == 1
    assert "a nonce of every seat: expected True by manifest and schedule; found False" in (
        done.stdout
    )
    assert spec.nonces


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
    forger.results.insert(1, result_of(Attempt(forger.schedule[0], 2), replay))


def fourth_attempt(forger: Forger) -> None:
    match = forger.schedule[0]
    replay = replayed(
        replaced(read_replay(forger.replay(FIRST)).header.spec(), match_id=f"{FIRST}.4")
    )
    forger.replay(FIRST).unlink()
    forger.write_replay(f"{FIRST}.4", replay, result=False)
    void = [result_of(attempt, None) for attempt in Attempt(match).to_last()]
    forger.results[:1] = [*void, result_of(Attempt(match, 4), replay)]


def given_up(forger: Forger) -> None:
    """Say that the referee failed in a match until no attempt was left."""
    forger.replay(FIRST).unlink()
    forger.results[:1] = [result_of(one, None) for one in Attempt(forger.schedule[0]).to_last()]


def unscheduled_block(forger: Forger) -> None:
    for name in (FIRST, SECOND):
        spec = read_replay(forger.replay(name)).header.spec()
        new = name.replace("0001", "0009")
        block = new.rpartition("-")[0]
        match = replaced(forger.schedule[0], match_id=new, block=block, entries=spec.entries)
        replay = replayed(replaced(spec, match_id=new, shared_deal=block))
        forger.write_replay(new, replay, result=False)
        forger.results.append(result_of(Attempt(match), replay))


def without_a_match(forger: Forger) -> None:
    forger.replay(FIRST).unlink()
    del forger.results[0]
    forger.head = forger.head.model_copy(update={"scheduled": 11})


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
    loser, winner = forger.results[0].seats
    late = replaced(loser, termination=Termination.TIME_OUT, detail="late", rank=2)
    forger.edit_result(0, seats=(late, replaced(winner, rank=1)))


RESULTS: dict[str, tuple[Callable[[Forger], object], str]] = {
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
    "a match given up": (given_up, f"{FIRST}: no result, although the run is finished"),
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
    "a shorter match": (
        lambda forger: forger.edit_result(0, seconds=0.0),
        r"results.jsonl: line 1: seconds: expected '\d+\.\d{3} or more' by the replay; found 0.0",
    ),
    "another start": (
        lambda forger: forger.edit_result(0, started="2020-09-13T12:26:41.000+00:00"),
        r"results.jsonl: line 1: started: expected '2020-09-13T12:26:40.000\+00:00' by the replay",
    ),
    "another reason of a forfeit": (
        lambda forger: forger.edit_seat(0, 1, detail="was rude"),
        r"results.jsonl: line 1: seats\[1\]\.detail: expected 'the test ends here' by the replay",
    ),
    "a reason without a forfeit": (
        lambda forger: forger.edit_seat(0, 0, detail="; was rude"),
        r"results.jsonl: line 1: seats\[0\]\.detail: expected '' by the replay",
    ),
    "a match that counts for another": (
        lambda forger: shutil.copyfile(forger.replay(FIRST), forger.replay(THIRD)),
        f"{THIRD} has the replay of {FIRST}",
    ),
    "a result moved to another block": (
        lambda forger: forger.edit_result(0, block="r1-basic-0002"),
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


def test_a_run_that_is_said_not_to_have_ended_never_passes(played: Played, run: Path) -> None:
    """Whoever drops results has to drop the tree head, and to say that the run is being played."""
    forger = Forger(run)
    for result in forger.results[-4:]:
        replay(run, result.played_as).unlink(missing_ok=True)
    facts = [fact for fact in facts_of(run) if fact.kind != "tree_head"]
    write_facts(run, facts, forger.results[:-4])
    delete(*run.glob("tree_head*"), run / "standings.json")
    status, output = audited(played, run)
    assert "some of which may be missing" in output
    assert "the run has no signed end" in output
    assert status != 0


def group(run: Path) -> list[Fact]:
    return [fact for fact in facts_of(run) if fact.kind == "group"]


FACTS: dict[str, tuple[Callable[[Forger], object], str]] = {
    "a block in two groups": (
        lambda forger: write_facts(forger.run, [*facts_of(forger.run), *group(forger.run)]),
        "run.journal: block r1-basic-0001 is in two groups",
    ),
    "a fact of an unknown kind": (
        lambda forger: write_facts(forger.run, [*facts_of(forger.run), Fact("slept", {})]),
        "run.journal: has a line that cannot be read: slept",
    ),
    "another seed": (
        lambda forger: write_facts(
            forger.run, [*facts_of(forger.run), Fact("run", {"seed": OTHER_SEED})]
        ),
        "run.json: seed: does not lead to the deals of manifest.json",
    ),
}
OWNER = MANIFESTS | REPLAYS | RESULTS | FACTS


@pytest.mark.parametrize("forgery", others_long(OWNER, 3))
def test_what_the_owner_changes_and_signs_is_named(played: Played, run: Path, forgery: str) -> None:
    forge, expected = OWNER[forgery]
    forger = Forger(run)
    forge(forger)
    forger.sign()
    assert_named(played, run, expected)
