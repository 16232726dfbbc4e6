"""The audit names what a stranger changes about the files of a run.

A stranger has no key, or another one than the owner.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asara_server.journal.journal import Fact
from asara_server.replay.file import read_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import JOURNAL
from tests.cli.command import asara
from tests.match.playouts import replay_bytes
from tests.sizes import others_long
from tests.tournament.played_runs import (
    OTHER_KEY,
    VOID,
    facts_of,
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
    edit,
    edit_line,
    resign_everything,
)


def test_an_honest_run_is_sound(played: Played, run: Path) -> None:
    status, output = audited(played, run)
    assert status == 0, output
    assert output.endswith("\nThe run is sound.\n")
    assert "given with --public-key" in output
    assert f"manifest: {played.manifest}, as published" in output
    assert f"{AGAIN}: attempt 1 is void: {VOID}" in output
    assert "not checked: the bots' programs and output" in output


Change = Callable[[Path], object]
"""Changes a run."""


def edited(name: str, old: str, new: str) -> Change:
    return lambda run: edit(run, name, old, new)


def deleted(*names: str) -> Change:
    return lambda run: delete(*(run / name for name in names))


def changed(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda run: (run / name).write_bytes(change((run / name).read_bytes()))


def from_other_run(*names: str) -> Change:
    return lambda run: [shutil.copyfile(run.parent / "other-run" / n, run / n) for n in names]


def moved(old: str, new: str) -> Change:
    return lambda run: (run / old).rename(run / new)


def copied(old: str, new: str) -> Change:
    return lambda run: shutil.copyfile(run / old, run / new)


def swap(run: Path) -> None:
    one, other = run / A, run / C
    a, b = one.read_bytes(), other.read_bytes()
    one.write_bytes(b)
    other.write_bytes(a)


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


def without_void(data: bytes) -> bytes:
    return b"".join(line for line in data.splitlines(keepends=True) if VOID.encode() not in line)


def other_interval(data: bytes) -> bytes:
    return re.sub(rb'("interval_95": \[\s+0\.)(\d)', rb"\g<1>9\2", data, count=1)


def endless_score(data: bytes) -> bytes:
    return re.sub(rb'("score": )[\d.]+', rb"\g<1>9" + b"0" * 400, data, count=1)


def with_members(**changed: object) -> Callable[[bytes], bytes]:
    """Change members of `standings.json`; None removes one."""

    def change(data: bytes) -> bytes:
        members = {**json.loads(data), **changed}
        kept = {name: value for name, value in members.items() if value is not None}
        return json.dumps(kept, indent=2).encode()

    return change


def link(run: Path, name: str) -> None:
    elsewhere = (run / name).rename(run.parent / "elsewhere")
    (run / name).symlink_to(elsewhere)


def make_directory(run: Path) -> None:
    (run / A).unlink()
    (run / A).mkdir()


A, B, C, NEW = (f"replays/{name}.asara" for name in (FIRST, SECOND, THIRD, "r3-basic-0001-1"))
RESULTS, HEAD, MANIFEST = "results.jsonl", "tree_head.json", "manifest.json"

COPIES = (RESULTS, "run.json", MANIFEST, f"{MANIFEST}.sig", HEAD, f"{HEAD}.sig")
"""Files that follow from the journal."""

STRANGER: dict[str, tuple[Change, str]] = {
    **{f"{name} deleted": (deleted(name), f"{name}: missing") for name in COPIES},
    **{
        f"{name} changed by a bit": (
            changed(name, lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]),
            f"{name}: changed: run.journal contains something else",
        )
        for name in COPIES
    },
    **{f"{name} of another run": (from_other_run(name), f"{name}: changed") for name in COPIES},
    "a rank in the results": (forge_rank, "results.jsonl: changed"),
    "results cut": (changed(RESULTS, lambda data: data[:-9]), "results.jsonl: changed"),
    "results in another order": (swap_lines, "results.jsonl: changed"),
    "a void attempt hidden": (changed(RESULTS, without_void), "results.jsonl: changed"),
    "results that are a link": (
        lambda run: link(run, RESULTS),
        "results.jsonl: not a regular file",
    ),
    "standings edited": (
        edited("standings.json", '"place": 1', '"place": 2'),
        r"standings.json: overall\[0\].place: expected 1 by the results; found 2",
    ),
    "standings with a fraction": (
        edited("standings.json", '"place": 1', '"place": 1.0'),
        r"standings.json: overall\[0\].place: expected 1 by the results; found 1.0",
    ),
    "standings of another bootstrap": (
        changed("standings.json", other_interval),
        r"standings.json: .*interval_95\[0\]: expected",
    ),
    "standings without a row": (
        changed("standings.json", with_members(ladder=[])),
        "standings.json: length of ladder: expected 3 by the results; found 0",
    ),
    "standings without a table": (
        changed("standings.json", with_members(ladder=None)),
        "standings.json: ladder: missing",
    ),
    "standings with another table": (
        changed("standings.json", with_members(winners=["ann"])),
        "standings.json: winners: extra",
    ),
    "standings with a number too large": (
        changed("standings.json", endless_score),
        "standings.json: cannot be read: not JSON, or a number in it is too large",
    ),
    "standings with blanks": (
        edited("standings.json", '": ', '":  '),
        "standings.json: .*changed",
    ),
    "standings deleted": (deleted("standings.json"), "standings.json: missing"),
    "standings emptied": (
        changed("standings.json", lambda data: b""),
        "standings.json: cannot be read",
    ),
    "half of the replays deleted": (
        lambda run: delete(*sorted((run / "replays").iterdir())[::2]),
        f"{A}: missing",
    ),
    "all replays deleted": (
        lambda run: shutil.rmtree(run / "replays"),
        "replays: No such file or directory",
    ),
    "replays exchanged": (swap, f"{A}: exchanged with {C}"),
    "a replay replaced by a copy": (copied(A, B), f"{B}: replaced by a copy of {A}"),
    "a replay copied": (copied(A, NEW), f"{NEW}: extra: a copy of {A}"),
    "a replay renamed": (moved(A, NEW), f"{A}: renamed to {NEW}"),
    "a replay with another suffix": (
        moved(A, f"replays/{FIRST}.bak"),
        rf"replays/{FIRST}.bak: extra[^$]*{A}: missing",
    ),
    "a replay of another run with the same names": (
        from_other_run(A),
        f"{A}: changed: .*; record 1 .*: the deal does not follow from the secret",
    ),
    "a replay that is a link": (lambda run: link(run, A), f"{A}: not a regular file"),
    "a replay that is a directory": (make_directory, f"{A}: not a regular file"),
    "a replay that is cut": (
        changed(A, lambda data: data[:-1]),
        f"{A}: changed: expected SHA-256",
    ),
    "a replay with a byte more": (
        changed(A, lambda data: data + b"\0"),
        f"{A}: changed: .*; record",
    ),
    "a replay signed by another key": (
        lambda run: (run / A).write_bytes(replay_bytes(read_replay(run / A), SigningKey.new())),
        f"{A}: changed: .*; record .*: another key signed this file",
    ),
    "a file in replays": (
        lambda run: (run / "replays" / "notes.txt").write_text("x"),
        "replays/notes.txt: extra: not a replay of the run",
    ),
    "the journal deleted": (
        deleted(JOURNAL),
        "run.journal: missing[^$]*The run cannot be audited without run.journal",
    ),
    "a byte of the journal flipped": (
        changed(JOURNAL, lambda data: data[:999] + bytes([data[999] ^ 1]) + data[1000:]),
        r"run.journal: damaged at byte \d+: a row has another checksum",
    ),
    "the journal of an earlier version": (
        changed(JOURNAL, lambda data: data.replace(b"log 3", b"log 2", 1)),
        "run.journal: damaged at byte 0: it does not begin as a log in this version's format",
    ),
    "the journal of another run": (
        from_other_run(JOURNAL),
        "manifest.json: not the manifest that was published",
    ),
    "the journal without its facts": (
        lambda run: write_facts(run, [facts_of(run)[0], *facts_of(run)[-1:]]),
        "run.journal: has no sound description of the run",
    ),
    "the journal without its end": (
        lambda run: write_facts(run, facts_of(run)[:-1]),
        "tree_head.json: extra: run.journal contains no end of the run",
    ),
    "the journal with another row": (
        lambda run: write_facts(run, [*facts_of(run), Fact("others", {})]),
        "run.journal: changed after the signing",
    ),
    "tournament file edited": (
        edited("tournament.toml", "rounds = 2", "rounds = 3"),
        "tournament.toml: changed after the run began",
    ),
    "tournament file with a comment": (
        changed("tournament.toml", lambda data: data + b"# x\n"),
        "tournament.toml: changed after the run began",
    ),
    "tournament file deleted": (deleted("tournament.toml"), "tournament.toml: missing"),
    "another public key": (
        changed("referee.pub", lambda _: OTHER_KEY.public_pem),
        "referee.pub: not the key that signed manifest.json",
    ),
    "a public key that is none": (
        changed("referee.pub", lambda _: b"x"),
        "referee.pub: not the key that signed manifest.json",
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
    assert_named(played, run, expected)


def test_numbers_of_other_numerical_libraries_are_no_other_standings(
    played: Played, run: Path
) -> None:
    path = run / "standings.json"
    first = rb'("interval_95": \[\s+0\.\d{5})(\d)'
    last = {str(digit).encode(): str(digit ^ 1).encode() for digit in range(10)}
    other, number = re.subn(first, lambda found: found[1] + last[found[2]], path.read_bytes())
    assert number
    path.write_bytes(other)
    status, output = audited(played, run)
    assert "standings.json: changed after the signing" in output
    assert output.endswith("\nThe run is NOT sound: 1 fault.\n")
    assert status == 1


def test_a_run_without_the_copy_of_its_key_is_not_changed(played: Played, run: Path) -> None:
    delete(run / "referee.pub")
    status, output = audited(played, run)
    assert "  referee.pub: missing, which changes nothing: it is only a copy of the key" in output
    assert output.endswith("\nThe run is sound.\n")
    assert status == 0
    (run / A).write_bytes(replay_bytes(read_replay(run / A), OTHER_KEY))
    assert "another key signed this file" in audited(played, run)[1]
    delete(run / JOURNAL)  # and with it the manifest
    assert "another key signed this file" in audited(played, run)[1]
    output = asara("audit", run, status=1).stdout
    assert f"{run}/referee.pub: missing\n" in output


@pytest.mark.parametrize("left", ["manifest.json.sig", "run.json", "run.journal"])
def test_a_run_is_recognised_by_any_of_its_files(played: Played, run: Path, left: str) -> None:
    kept = {"referee.pub", left}
    delete(*(path for path in run.iterdir() if path.is_file() and path.name not in kept))
    (run / left).touch()
    done = asara("audit", run, "--public-key", played.key)
    assert ": missing" in done.stdout
    assert done.returncode == 1


def test_everything_signed_anew_by_another_key_is_never_called_trusted(
    played: Played, run: Path
) -> None:
    resign_everything(run)
    done = asara("audit", run)
    assert "Nothing outside the run confirms that its key is the organiser's" in done.stderr
    assert f"signing key: {OTHER_KEY.public.hex()}, found in the run itself" in done.stdout
    done = asara("audit", run, "--manifest", played.manifest)
    assert done.returncode == 1
    assert "not the manifest that was published" in done.stdout


def test_the_published_hash_of_the_manifest_vouches_for_its_key(played: Played) -> None:
    done = asara("audit", played.run, "--manifest", played.manifest.upper())
    assert (done.returncode, done.stderr) == (0, "")
    assert ", as published" in done.stdout
