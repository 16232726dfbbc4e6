"""The audit names what is wrong about a run, whoever changed it: a stranger, or its owner.

A stranger changes files. The owner holds the key, changes whatever he likes and signs all of it
again, except for what was published before the first match.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace as replaced
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from asara_codec.results import Termination
from asara_game.rules import RULES_VERSION
from asara_server.match.deal_secrets import tournament_secret
from asara_server.match.spec import ClockSettings, MatchSpec, Player
from asara_server.replay.file import read_replay, write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunInfo
from asara_server.tournament.run.manifest import Manifest
from tests.cli.command import asara
from tests.tournament.played_runs import (
    HEADER,
    KEY,
    OTHER_KEY,
    OTHER_SEED,
    VOID,
    Forger,
    other_edition,
    play_run,
    replayed,
    result_of,
    rules_of,
)
from tests.tournament.sample_bots import SEED

FIRST, SECOND, THIRD = "r1-basic-0001-1", "r1-basic-0001-2", "r1-basic-0002-1"
AGAIN = "r1-basic-0003-1"
"""A match that was attempted twice, since its first attempt is void."""


@dataclass(frozen=True)
class Played:
    """A run, and what was published before its first match."""

    run: Path
    key: Path
    manifest: str
    commitment: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("cup")
    run = play_run(folder, void=[AGAIN])
    play_run(folder, HEADER.replace(SEED, OTHER_SEED), run="other-run")
    key = folder / "key.pub"
    key.write_bytes(KEY.public_pem)
    commitment = json.loads((run / "run.json").read_text())["deal_commitment"]
    digest = sha256((run / "manifest.json").read_bytes()).hexdigest()
    return Played(run, key, digest, commitment)


@pytest.fixture
def run(played: Played, tmp_path: Path) -> Path:
    """A copy of the run, beside another run of the same tournament and the same key."""
    shutil.copytree(played.run.parent / "other-run", tmp_path / "other-run")
    return Path(shutil.copytree(played.run, tmp_path / "run"))


def audited(played: Played, run: Path) -> tuple[int, str]:
    """Exit status and output of the audit by somebody who holds all that was published."""
    published = ("--key", played.key, "--manifest", played.manifest)
    done = asara("audit", run, *published, "--commitment", played.commitment)
    return done.returncode, done.stdout.replace(f"{run}/", "")


def test_an_honest_run_is_sound(played: Played, run: Path) -> None:
    status, output = audited(played, run)
    assert status == 0, output
    assert output.endswith("audited 12 replays: 12 sound, 0 unsound\n")
    assert "given with --key" in output
    assert f"manifest: {played.manifest}, as published" in output
    assert f"{AGAIN}: attempt 1 is void: {VOID}" in output
    assert "not checked: the programs of the bots" in output


def test_a_run_that_its_owner_signs_again_unchanged_is_sound(played: Played, run: Path) -> None:
    Forger(run).sign()
    assert audited(played, run)[0] == 0


# What a stranger can do: change files


def replay(run: Path, name: str) -> Path:
    return run / "replays" / f"{name}.asara"


def edit(run: Path, name: str, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file; it must occur."""
    text = (run / name).read_text()
    assert old in text, text
    (run / name).write_text(text.replace(old, new, 1))


def edit_line(run: Path, name: str, number: int, change: Callable[[str], str]) -> None:
    """Change a line of a file; the number counts from 1."""
    lines = (run / name).read_text().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    (run / name).write_text("".join(lines))


def swap(one: Path, other: Path) -> None:
    a, b = one.read_bytes(), other.read_bytes()
    one.write_bytes(b)
    other.write_bytes(a)


def delete(*paths: Path) -> None:
    for path in paths:
        path.unlink()


def delete_half(run: Path) -> None:
    delete(*sorted((run / "replays").iterdir())[::2])


def make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def forge_rank(run: Path) -> None:
    def change(line: str) -> str:
        result = json.loads(line)
        one, other = result["seats"]
        one["rank"], other["rank"] = other["rank"], one["rank"]
        return json.dumps(result, separators=(",", ":")) + "\n"

    edit_line(run, "results.jsonl", 1, change)


def swap_lines(run: Path) -> None:
    lines = (run / "results.jsonl").read_text().splitlines(keepends=True)
    (run / "results.jsonl").write_text("".join([lines[1], lines[0], *lines[2:]]))


def link(path: Path) -> None:
    elsewhere = path.rename(path.parents[2] / path.name)
    path.symlink_to(elsewhere)


def resign_everything(run: Path) -> None:
    """Sign each file again with another key, replays included."""
    forger = Forger(run, OTHER_KEY)
    (run / "referee.pub").write_bytes(OTHER_KEY.public_pem)
    public = {"public_key": OTHER_KEY.public.hex()}
    forger.manifest = forger.manifest.model_copy(update=public)
    for path in (run / "replays").iterdir():
        write_replay(path, read_replay(path), OTHER_KEY)
    forger.sign()


def append(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


def from_other_run(run: Path, *names: str) -> None:
    for name in names:
        shutil.copyfile(run.parent / "other-run" / name, run / name)


def drop_void(run: Path) -> None:
    lines = (run / "results.jsonl").read_text().splitlines(keepends=True)
    (run / "results.jsonl").write_text("".join(line for line in lines if VOID not in line))


STRANGER: dict[str, tuple[Callable[[Path], object], str]] = {
    "results edited": (forge_rank, r"results.jsonl: line 1: seats\[0\]\.rank: expected \d by the"),
    "results deleted": (lambda run: (run / "results.jsonl").unlink(), "results.jsonl: missing"),
    "results cut": (
        lambda run: (run / "results.jsonl").write_bytes((run / "results.jsonl").read_bytes()[:-9]),
        "results.jsonl: cut short in line 13",
    ),
    "results without a line": (
        lambda run: edit_line(run, "results.jsonl", 2, lambda line: ""),
        f"{SECOND}: no result, although the run is finished",
    ),
    "results in another order": (
        swap_lines,
        "results.jsonl: changed after the signing",
    ),
    "a result twice": (
        lambda run: edit_line(run, "results.jsonl", 1, lambda line: line + line),
        f"line 2: {FIRST}: attempted twice",
    ),
    "a byte order mark": (
        lambda run: (run / "results.jsonl").write_bytes(
            b"\xef\xbb\xbf" + (run / "results.jsonl").read_bytes()
        ),
        "results.jsonl: line 1",
    ),
    "a blank in a result": (
        lambda run: edit(run, "results.jsonl", '":"r1', '": "r1'),
        "results.jsonl: line 1: not written as asara writes it",
    ),
    "Windows line ends": (
        lambda run: (run / "results.jsonl").write_bytes(
            (run / "results.jsonl").read_bytes().replace(b"\n", b"\r\n")
        ),
        "results.jsonl: line 1: not written as asara writes it",
    ),
    "an unknown key in a result": (
        lambda run: edit(run, "results.jsonl", '"round":1', '"round":1,"note":"x"'),
        "results.jsonl: line 1: not written as asara writes it",
    ),
    "another duration": (
        lambda run: edit(run, "results.jsonl", '"seconds":3600.0', '"seconds":3601.0'),
        "results.jsonl: changed after the signing",
    ),
    "a duration shorter than the match": (
        lambda run: edit(run, "results.jsonl", '"seconds":3600.0', '"seconds":0.001'),
        "results.jsonl: line 1: seconds: expected",
    ),
    "another time of start": (
        lambda run: edit(run, "results.jsonl", '"started":"2020', '"started":"2021'),
        "results.jsonl: line 1: started: expected '2020",
    ),
    "a void attempt hidden": (drop_void, f"{AGAIN}: attempt 2, but attempt 1 is missing"),
    "another reason of a void attempt": (
        lambda run: edit(run, "results.jsonl", VOID, "the referee failed: OSError"),
        "results.jsonl: changed after the signing",
    ),
    "standings edited": (
        lambda run: edit(run, "standings.json", '"place": 1', '"place": 2'),
        r"standings.json: overall\[0\].place: expected 1 by the results; found 2",
    ),
    "standings of another bootstrap": (
        lambda run: (run / "standings.json").write_text(
            re.sub(
                r'("interval_95": \[\s+0\.)(\d)', r"\g<1>9\2", text(run, "standings.json"), count=1
            )
        ),
        r"standings.json: .*interval_95\[0\]: expected",
    ),
    "standings without a row": (
        lambda run: (run / "standings.json").write_text(
            json.dumps({**json.loads(text(run, "standings.json")), "ladder": []}, indent=2)
        ),
        "standings.json: ladder: expected 3 by the results; found 0",
    ),
    "standings with blanks": (
        lambda run: edit(run, "standings.json", '": ', '":  '),
        "standings.json: .*changed",
    ),
    "standings deleted": (lambda run: (run / "standings.json").unlink(), "standings.json: missing"),
    "standings emptied": (
        lambda run: (run / "standings.json").write_bytes(b""),
        "standings.json: cannot be read",
    ),
    "standings of another run": (
        lambda run: from_other_run(run, "standings.json", "results.jsonl"),
        "results.jsonl: changed after the signing",
    ),
    "half of the replays deleted": (delete_half, f"replays/{FIRST}.asara: missing"),
    "all replays deleted": (
        lambda run: shutil.rmtree(run / "replays"),
        "replays: No such file or directory",
    ),
    "replays exchanged": (
        lambda run: swap(replay(run, FIRST), replay(run, THIRD)),
        f"replays/{FIRST}.asara: exchanged with replays/{THIRD}.asara",
    ),
    "a replay replaced by a copy": (
        lambda run: shutil.copyfile(replay(run, FIRST), replay(run, SECOND)),
        f"replays/{SECOND}.asara: replaced by a copy of replays/{FIRST}.asara",
    ),
    "a replay copied": (
        lambda run: shutil.copyfile(replay(run, FIRST), replay(run, "r3-basic-0001-1")),
        f"replays/r3-basic-0001-1.asara: extra: a copy of replays/{FIRST}.asara",
    ),
    "a replay renamed": (
        lambda run: replay(run, FIRST).rename(replay(run, "r3-basic-0001-1")),
        f"replays/{FIRST}.asara: renamed to replays/r3-basic-0001-1.asara",
    ),
    "a replay with another suffix": (
        lambda run: replay(run, FIRST).rename(run / "replays" / f"{FIRST}.bak"),
        rf"replays/{FIRST}.bak: extra[^$]*replays/{FIRST}.asara: missing",
    ),
    "a replay of another run with the same names": (
        lambda run: from_other_run(run, f"replays/{FIRST}.asara"),
        f"replays/{FIRST}.asara: record 1 .*: the deal does not follow from the secret",
    ),
    "a replay that is a link": (
        lambda run: link(replay(run, FIRST)),
        f"replays/{FIRST}.asara: not a regular file",
    ),
    "a replay that is a directory": (
        lambda run: make_directory(replay(run, FIRST)),
        f"replays/{FIRST}.asara: not a regular file",
    ),
    "a replay that is cut": (
        lambda run: replay(run, FIRST).write_bytes(replay(run, FIRST).read_bytes()[:-1]),
        f"replays/{FIRST}.asara: changed: expected SHA-256",
    ),
    "a replay with a byte more": (
        lambda run: append(replay(run, FIRST), b"\0"),
        f"replays/{FIRST}.asara: record",
    ),
    "a file in replays": (
        lambda run: (run / "replays" / "notes.txt").write_text("x"),
        "replays/notes.txt: extra: not a replay of the run",
    ),
    "run.json edited": (
        lambda run: edit(run, "run.json", '"title": "Cup"', '"title": "Final"'),
        "run.json: title: expected 'Cup' by manifest.json; found 'Final'",
    ),
    "run.json with another time": (
        lambda run: edit(run, "run.json", '"started": "2', '"started": "3'),
        "run.json: changed after the signing",
    ),
    "run.json deleted": (lambda run: (run / "run.json").unlink(), "run.json: missing"),
    "run.json with the entries exchanged": (
        lambda run: edit(run, "run.json", '"ann",\n    "bob"', '"bob",\n    "ann"'),
        "run.json: entries: expected ",
    ),
    "run.json with another sandbox": (
        lambda run: edit(run, "run.json", '"sandbox": "none"', '"sandbox": "bubblewrap"'),
        "run.json: sandbox: expected 'none' by manifest.json; found 'bubblewrap'",
    ),
    "run.json says that it goes on": (
        lambda run: edit(run, "run.json", '"state": "finished"', '"state": "running"'),
        "run.json: state: expected 'finished' by tree_head.json; found 'running'",
    ),
    "run.json with another seed": (
        lambda run: edit(run, "run.json", f'"seed": "{SEED}"', f'"seed": "{OTHER_SEED}"'),
        "run.json: seed: the deals that follow from it are not those of manifest.json",
    ),
    "run.json with a suspension": (
        lambda run: edit(run, "run.json", '"suspended": {}', '"suspended": {"ann": "late"}'),
        "run.json: suspended: expected {} by tree_head.json; found {'ann': 'late'}",
    ),
    "the secret of another run": (
        lambda run: edit(
            run,
            "run.json",
            tournament_secret(SEED).hex(),
            tournament_secret(OTHER_SEED).hex(),
        ),
        "run.json: tournament_secret: expected",
    ),
    "tournament file edited": (
        lambda run: edit(run, "tournament.toml", "rounds = 2", "rounds = 3"),
        "tournament.toml: changed after the run began",
    ),
    "tournament file with a comment": (
        lambda run: append(run / "tournament.toml", b"# x\n"),
        "tournament.toml: changed after the run began",
    ),
    "tournament file deleted": (
        lambda run: (run / "tournament.toml").unlink(),
        "tournament.toml: missing",
    ),
    "another public key": (
        lambda run: (run / "referee.pub").write_bytes(OTHER_KEY.public_pem),
        "referee.pub: not the key that signed manifest.json",
    ),
    "the public key deleted": (lambda run: (run / "referee.pub").unlink(), "referee.pub: missing"),
    "the schedule edited": (
        lambda run: edit(run, "schedule.jsonl", '["ann","bob"]', '["bob","ann"]'),
        r"schedule.jsonl: line 1: expected .* by manifest.json; found",
    ),
    "the schedule deleted": (
        lambda run: (run / "schedule.jsonl").unlink(),
        "schedule.jsonl: missing",
    ),
    "the manifest deleted": (
        lambda run: (run / "manifest.json").unlink(),
        "manifest.json: missing",
    ),
    "the manifest edited": (
        lambda run: edit(run, "manifest.json", '"bank_us": 60000000', '"bank_us": 90000000'),
        "manifest.json: not the manifest that was published",
    ),
    "the signature of the manifest deleted": (
        lambda run: (run / "manifest.json.sig").unlink(),
        "manifest.json.sig: missing",
    ),
    "the signature of another run's manifest": (
        lambda run: from_other_run(run, "manifest.json.sig"),
        "manifest.json: not signed by key",
    ),
    "manifest and tree head deleted": (
        lambda run: delete(*run.glob("manifest*"), *run.glob("tree_head*")),
        "manifest.json: missing; nothing shows what was decided",
    ),
    "all documents deleted": (
        lambda run: delete(*(path for path in run.iterdir() if path.is_file())),
        "no signed end of a run",
    ),
    "the tree head deleted": (
        lambda run: delete(*run.glob("tree_head*")),
        "tree_head.json: missing: nothing signs results, standings",
    ),
    "the tree head edited": (
        lambda run: edit(run, "tree_head.json", '"played": 12', '"played": 11'),
        "tree_head.json: not signed by key",
    ),
    "the tree head of another run": (
        lambda run: from_other_run(run, "tree_head.json", "tree_head.json.sig"),
        "tree_head.json: belongs to another run",
    ),
    "the tree head with a blank": (
        lambda run: append(run / "tree_head.json", b" "),
        "tree_head.json: not written as asara writes it",
    ),
    "everything signed by another key": (
        resign_everything,
        "manifest.json: expected a signature by key .* another key signed this run",
    ),
}


def text(run: Path, name: str) -> str:
    return (run / name).read_text()


@pytest.mark.parametrize("forgery", STRANGER)
def test_what_a_stranger_changes_is_named(played: Played, run: Path, forgery: str) -> None:
    forge, expected = STRANGER[forgery]
    forge(run)
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1


# What the owner can do: sign it as well


def other_names(forger: Forger) -> None:
    players = (Player("ann", "1"), Player("cid", "2"))
    forger.play_again(FIRST, players=players)


def exchange_seats(forger: Forger) -> None:
    players = (Player("bob", "1"), Player("ann", "2"))
    forger.play_again(FIRST, players=players)


def other_edition_in_one_match(forger: Forger) -> None:
    forger.play_again(FIRST, rules=rules_of(other_edition(), forger.schedule[0]))


def other_deal(forger: Forger) -> None:
    forger.play_again(FIRST, secret=bytes(32))


def deal_of_another_block(forger: Forger) -> None:
    header = read_replay(forger.replay(THIRD)).header
    forger.play_again(FIRST, secret=header.deal_secret)


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


def manifest_with(**changes: object) -> Callable[[Forger], None]:
    def change(forger: Forger) -> None:
        forger.manifest = forger.manifest.model_copy(update=changes)

    return change


def new_entry(forger: Forger) -> None:
    remote = forger.manifest.entries[0].model_copy(update={"remote": True})
    entries = (remote, *forger.manifest.entries[1:])
    forger.manifest = forger.manifest.model_copy(update={"entries": entries})


def fresh_processes(forger: Forger) -> None:
    players = (Player("ann", "1", "match"), Player("bob", "2", "match"))
    forger.play_again(FIRST, players=players)


def manifest_processes(forger: Forger) -> None:
    first, *others = forger.manifest.entries
    entries = (first.model_copy(update={"processes": "match"}), *others)
    forger.manifest = forger.manifest.model_copy(update={"entries": entries})


OWNER: dict[str, tuple[Callable[[Forger], None], str]] = {
    "other names in a match": (
        other_names,
        rf"{FIRST}.asara: record 1 .*: entries: expected \('ann', 'bob'\) by manifest",
    ),
    "seats exchanged in a match": (
        exchange_seats,
        rf"{FIRST}.asara: record 1 .*: entries: expected .* found \('bob', 'ann'\)",
    ),
    "results say other seats": (
        lambda forger: forger.edit_seat(0, 0, entry="cid"),
        f"line 1: {FIRST}: entries by seat: expected ann, bob; found cid, bob",
    ),
    "another edition in a match": (
        other_edition_in_one_match,
        rf"{FIRST}.asara: record 1 .*: edition: expected",
    ),
    "other clocks in a match": (
        lambda forger: forger.play_again(FIRST, clocks=ClockSettings(bank_s=90)),
        rf"{FIRST}.asara: record 1 .*: clocks.bank_us: expected 60000000 by manifest",
    ),
    "another start-up time in a match": (
        lambda forger: forger.play_again(FIRST, clocks=ClockSettings(start_up_s=1)),
        "clocks.start_up_us: expected 30000000 by manifest",
    ),
    "a deal that nobody committed to": (
        other_deal,
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
        lambda forger: forger.edit_result(4, void_reason=""),
        f"{AGAIN}: attempt 1 is void, but has no reason",
    ),
    "a void attempt that counts": (
        lambda forger: forger.edit_result(4, void=False, seats=forger.results[5].seats),
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
        "run.json: edition_sha256: expected '0000",
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
    "another commitment": (
        manifest_with(deal_commitment="00" * 32),
        "manifest.json: deal_commitment: expected .* as published",
    ),
    "a run that may end early": (
        manifest_with(may_end_early=True),
        "manifest.json: not the manifest that was published",
    ),
    "an entry called remote": (new_entry, "manifest.json: schedule_sha256: expected"),
    "fresh processes in a match": (
        fresh_processes,
        rf"{FIRST}.asara: record 1 .*: processes: expected \('run', 'run'\) by manifest",
    ),
    "fresh processes in the manifest": (
        manifest_processes,
        "run.json: processes: expected .*'ann': 'match'",
    ),
    "joint deals": (manifest_with(deals="joint"), "a nonce of every seat: expected True"),
}

HEADS: dict[str, tuple[dict[str, Any], str]] = {
    "a leaf dropped": ({"attempts": 12}, "attempts: expected 13 by results.jsonl; found 12"),
    "another root": ({"root": "00" * 32}, "tree_head.json: root: expected"),
    "a match more": ({"scheduled": 13}, "tree_head.json: scheduled: expected 12 by manifest.json"),
    "a match played more": ({"played": 13}, "tree_head.json: played: expected 12 by results"),
    "a void match": ({"void": 1}, "tree_head.json: void: expected 0 by results.jsonl; found 1"),
    "cut short": ({"state": "cut short"}, "run.json: state: expected 'cut short' by tree_head"),
    "a suspension": (
        {"suspended": {"ann": "suspended after it forfeited 9 of its first 10 matches"}},
        "tree_head.json: suspended: ann: expected 'no' by results.jsonl",
    ),
    "another secret": (
        {"tournament_secret": "00" * 32},
        "tree_head.json: the secret of the tournament does not open the commitment",
    ),
    "no secret": ({"tournament_secret": None}, "tree_head.json: tournament_secret: missing"),
    "another run.json": ({"run_sha256": "00" * 32}, "run.json: changed after the signing"),
}


@pytest.mark.parametrize("forgery", OWNER)
def test_what_the_owner_changes_and_signs_is_named(played: Played, run: Path, forgery: str) -> None:
    forge, expected = OWNER[forgery]
    forger = Forger(run)
    forge(forger)
    forger.sign()
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1


@pytest.mark.parametrize("forgery", HEADS)
def test_a_tree_head_that_the_owner_changes_and_signs_is_named(
    played: Played, run: Path, forgery: str
) -> None:
    changes, expected = HEADS[forgery]
    Forger(run).sign(**changes)
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1


# Without a tree head


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
    (run / "submissions.jsonl").unlink(missing_ok=True)
    status, output = audited(played, run)
    assert "some of which may be missing" in output
    assert "1 run without a signed end" in output
    assert status != 0


@pytest.mark.parametrize("left", ["manifest.json.sig", "schedule.jsonl", "journal.sqlite"])
def test_a_run_is_recognised_by_any_of_its_files(played: Played, run: Path, left: str) -> None:
    kept = {"referee.pub", left}
    delete(*(path for path in run.iterdir() if path.is_file() and path.name not in kept))
    (run / left).touch()
    done = asara("audit", run, "--key", played.key)
    assert "manifest.json: missing" in done.stdout
    assert done.returncode == 1


# Who signed


def test_everything_signed_anew_by_another_key_is_never_called_trusted(
    played: Played, run: Path
) -> None:
    resign_everything(run)
    done = asara("audit", run)
    assert f"signed by its own key {OTHER_KEY.public.hex()}; nothing shows who holds it" in (
        done.stderr
    )
    assert "its own key" in done.stdout
    done = asara("audit", run, "--manifest", played.manifest)
    assert done.returncode == 1
    assert "not the manifest that was published" in done.stdout


def test_the_published_hash_of_the_manifest_vouches_for_its_key(played: Played) -> None:
    done = asara("audit", played.run, "--manifest", played.manifest.upper())
    assert (done.returncode, done.stderr) == (0, "")
    assert "named in the manifest that was published" in done.stdout


def test_a_replay_by_another_key_among_the_others(played: Played, run: Path) -> None:
    write_replay(replay(run, FIRST), read_replay(replay(run, FIRST)), SigningKey.new())
    status, output = audited(played, run)
    assert status == 1
    assert "another key signed this file" in output


def test_a_run_of_a_version_that_did_not_record_the_lifetime_of_processes(run: Path) -> None:
    class EarlierManifest(Manifest):
        def content(self) -> bytes:
            lines = super().content().decode().splitlines(keepends=True)
            return "".join(line for line in lines if '      "processes"' not in line).encode()

    class EarlierInfo(RunInfo):
        def content(self) -> bytes:
            text = super().content().decode()
            return re.sub(r'  "processes": \{[^}]*\},\n', "", text).encode()

    forger = Forger(run)
    forger.manifest = EarlierManifest.model_validate_json(forger.manifest.model_dump_json())
    forger.info = EarlierInfo.model_validate_json(forger.info.model_dump_json())
    for result in forger.results:
        if not result.void:
            players = [Player(seat.entry, seat.entry) for seat in result.seats]
            forger.play_again(result.played_as, players=tuple(players))
    forger.sign()
    assert '"processes": "run"' in (run / "manifest.json").read_text()
    assert "processes" not in (run / "run.json").read_text()
    done = asara("audit", run)
    assert done.returncode == 0, done.stdout


# Runs with joint deals


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
