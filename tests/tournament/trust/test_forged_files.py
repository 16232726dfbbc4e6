"""The audit names what a stranger changes about the files of a run.

A stranger has no key, or another one than the owner.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.match.deal_secrets import tournament_secret
from asara_server.replay.file import read_replay, write_replay
from asara_server.replay.signing import SigningKey
from tests.cli.command import asara
from tests.sizes import others_long
from tests.tournament.played_runs import (
    OTHER_KEY,
    OTHER_SEED,
    VOID,
)
from tests.tournament.sample_bots import SEED
from tests.tournament.trust.forged_runs import (
    AGAIN,
    FIRST,
    SECOND,
    THIRD,
    Played,
    audited,
    delete,
    edit,
    edit_line,
    replay,
    resign_everything,
    text,
)


def test_an_honest_run_is_sound(played: Played, run: Path) -> None:
    status, output = audited(played, run)
    assert status == 0, output
    assert output.endswith("Audited 12 replays: 12 passed, 0 failed.\n")
    assert "given with --public-key" in output
    assert f"manifest: {played.manifest}, as published" in output
    assert f"{AGAIN}: attempt 1 is void: {VOID}" in output
    assert "not checked: the bots' programs and output" in output


def swap(one: Path, other: Path) -> None:
    a, b = one.read_bytes(), other.read_bytes()
    one.write_bytes(b)
    other.write_bytes(a)


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
        "r1-basic-0002-2: no result, although the run is finished",
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
    "an unknown setting in a result": (
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


@pytest.mark.parametrize("forgery", others_long(STRANGER, 3))
def test_what_a_stranger_changes_is_named(played: Played, run: Path, forgery: str) -> None:
    forge, expected = STRANGER[forgery]
    forge(run)
    status, output = audited(played, run)
    assert re.search(expected, output), output
    assert status == 1


@pytest.mark.parametrize("left", ["manifest.json.sig", "run.json", "run.journal"])
def test_a_run_is_recognised_by_any_of_its_files(played: Played, run: Path, left: str) -> None:
    kept = {"referee.pub", left}
    delete(*(path for path in run.iterdir() if path.is_file() and path.name not in kept))
    (run / left).touch()
    done = asara("audit", run, "--public-key", played.key)
    assert "manifest.json: missing" in done.stdout
    assert done.returncode == 1


def test_everything_signed_anew_by_another_key_is_never_called_trusted(
    played: Played, run: Path
) -> None:
    resign_everything(run)
    done = asara("audit", run)
    assert f"signed with key {OTHER_KEY.public.hex()}. Nothing outside the run confirms" in (
        done.stderr
    )
    assert "found in the run itself" in done.stdout
    done = asara("audit", run, "--manifest", played.manifest)
    assert done.returncode == 1
    assert "not the manifest that was published" in done.stdout


def test_the_published_hash_of_the_manifest_vouches_for_its_key(played: Played) -> None:
    done = asara("audit", played.run, "--manifest", played.manifest.upper())
    assert (done.returncode, done.stderr) == (0, "")
    assert ", as published" in done.stdout


def test_a_replay_by_another_key_among_the_others(played: Played, run: Path) -> None:
    write_replay(replay(run, FIRST), read_replay(replay(run, FIRST)), SigningKey.new())
    status, output = audited(played, run)
    assert status == 1
    assert "another key signed this file" in output
