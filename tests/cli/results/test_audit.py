import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.trust import run_audit
from asara_server.tournament.trust.inclusion import ProofMaker, check_inclusion
from asara_server.tournament.trust.signed_documents import Published
from tests.cli.command import asara, on_terminal, refusal
from tests.match.playouts import random_replay, replay_bytes
from tests.sizes import others_long
from tests.tournament.played_runs import HEADER, VOID, Forger, play_run
from tests.tournament.played_runs import KEY as CUP_KEY
from tests.tournament.samples import change_run

KEY = SigningKey.new()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three short matches by themselves, sound and signed, with the key beside them."""
    replays = tmp_path / "run" / "replays"
    replays.mkdir(parents=True)
    (replays.parent / "referee.pub").write_bytes(KEY.public_pem)
    for number in range(3):
        replay = random_replay(RULE_COMBINATIONS[0], 2, seed=number, replies=12)
        (replays / f"m{number}.asara").write_bytes(replay_bytes(replay, KEY))
    return replays.parent


def test_a_sound_replay_says_what_was_checked_and_by_whose_key(run: Path) -> None:
    file = run / "replays" / "m1.asara"
    (run / "key.pub").write_bytes(KEY.public_pem)
    done = asara("audit", file, "--public-key", run / "key.pub")
    sound, key, match, checked, unchecked, *_ = done.stdout.splitlines()
    assert sound == f"{file}: passed"
    assert key == f"  signing key: {KEY.public.hex()}, the one given with --public-key"
    assert match.startswith("  match random-1: ")
    assert " replies, " in match
    assert checked.startswith(
        "checked: every record is signed, and the deal matches its commitment; "
    )
    assert unchecked.startswith("not checked: arrival times of replies, ")
    assert asara("audit", file, "--public-key", KEY.public.hex()).stdout == done.stdout
    in_folder = f"  signing key: {KEY.public.hex()}, as in {run / 'referee.pub'}"
    assert asara("audit", file).stdout.splitlines()[1] == in_folder
    (run / "referee.pub").unlink()
    own = f"  signing key: {KEY.public.hex()}, found in the replay itself"
    assert asara("audit", file).stdout.splitlines()[1] == own


OTHER_SIGNER = "is not signed with this key, or the key was mistyped.\n"


def test_another_key_and_no_key(run: Path, tmp_path: Path) -> None:
    other = SigningKey.new()
    (tmp_path / "other.pub").write_bytes(other.public_pem)
    done = asara("audit", run, "--public-key", tmp_path / "other.pub", status=1)
    assert done.stdout.count("another key signed this file") == 3
    assert done.stdout.endswith(f"\nA replay {OTHER_SIGNER}")
    key = KEY.public.hex()
    assert "this looks like a fingerprint" in refusal("audit", run, "--public-key", key[:16])
    in_folder = f"The expected key {key} is from {run / 'referee.pub'}. Nothing else confirms "
    done = asara("audit", run, status=0)
    assert done.stderr.startswith(in_folder)
    assert done.stdout.count("\nchecked: every record is signed") == 1
    (run / "referee.pub").unlink()
    own = f"The first replay is signed with key {key}. Nothing outside the replay confirms "
    assert asara("audit", run, status=0).stderr.startswith(own)
    stranger = random_replay(RULE_COMBINATIONS[0], 2, seed=9, replies=5)
    (run / "replays" / "m9.asara").write_bytes(replay_bytes(stranger, other))
    done = asara("audit", run)
    assert done.stdout.endswith("3 passed, 1 failed.\nThe replays are NOT sound: 1 fault.\n")


def test_what_cannot_be_audited(tmp_path: Path) -> None:
    missing = tmp_path / "no"
    assert refusal("audit", missing) == f"asara: {missing}: no such file or folder\n"
    assert "contains no replay" in refusal("audit", tmp_path)
    bundle = tmp_path / "my-bot.zip"
    bundle.touch()
    assert "unpack it, then pass its folder" in refusal("audit", bundle)
    cup = tmp_path / "cup.toml"
    cup.write_text("seats = 2\n")
    other = f"asara: {cup}: not an ASARA replay; pass a replay (*.asara) or a run's folder\n"
    assert refusal("audit", cup) == refusal("audit", cup, "--inclusion") == other
    empty = tmp_path / "a.asara"
    empty.touch()
    done = asara("audit", empty, status=1)
    assert "the file is empty" in done.stdout
    assert "--inclusion" not in done.stderr
    assert "not an Ed25519 public key" in refusal("audit", empty, "--public-key", empty)


def test_on_a_terminal_results_are_printed_once_the_bar_is_gone(run: Path) -> None:
    shown = on_terminal("audit", run)
    file = f"{run / 'replays' / 'm0.asara'}:"
    bar, results = shown.split(file)
    assert "Auditing" in bar
    assert bar.endswith("\x1b[2K")
    results = file + results.split("Audited 3 replays: ")[0]
    assert "\x1b" not in results
    lines = results.splitlines()
    assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []
    before = lines.index(
        "checked: every record is signed, and the deal matches its commitment; playing"
    )
    assert lines[before + 1] == (
        "    the match again gives the same moves, clock charges, timeouts, results and"
    )
    assert lines[before + 2] == "    messages to the seats"
    assert file in lines or f"{file} passed" in lines  # a path stays whole


def test_a_flipped_byte_shows_that_the_file_was_changed_but_not_where(run: Path) -> None:
    file = run / "replays" / "m1.asara"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    done = asara("audit", file, status=1)
    fault = (
        f"{file}: the signature by key {KEY.public.hex()[:16]} does not fit the records: the file "
        "was changed after the signing, but a signature cannot show where\n"
    )
    assert done.stdout.startswith(fault)
    assert "--inclusion" not in done.stderr
    assert "--inclusion" in asara("audit", run, status=1).stderr


def as_format_3(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:7] + b"\x03" + data[8:])


OTHER_FORMAT = "replay format 3; this program reads format 4: use the version of the program that "


def test_a_replay_of_another_format_is_neither_sound_nor_unsound(run: Path) -> None:
    file = run / "replays" / "m1.asara"
    as_format_3(file)
    done = asara("audit", file, status=3)
    assert done.stdout == (
        f"{file}: {OTHER_FORMAT}wrote it\n"
        "Audited 0 replays: 0 passed, 0 failed; 1 not audited.\n"
        "Not audited: 1 replay of another format.\n"
    )
    done = asara("audit", run, status=3)
    assert done.stdout.endswith(
        "Audited 2 replays: 2 passed, 0 failed; 1 not audited.\n"
        "Not audited: 1 replay of another format.\n"
    )
    (run / "replays" / "m2.asara").write_bytes(b"")
    done = asara("audit", run, status=1)
    assert done.stdout.endswith("The replays are NOT sound: 1 fault.\n")


# Runs


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_run(tmp_path_factory.mktemp("cup"))


@pytest.fixture
def cup(played: Path, tmp_path: Path) -> Path:
    """A copy of a run, which a test may change."""
    return Path(shutil.copytree(played, tmp_path / "cup" / "run"))


def manifest_of(run: Path) -> str:
    return sha256((run / "manifest.json").read_bytes()).hexdigest()


def commitment_of(run: Path) -> str:
    return str(json.loads((run / "manifest.json").read_text())["deal_commitment"])


OTHER_MANIFEST = (
    "\nThe run does not belong to the manifest with this hash, or the hash was mistyped.\n"
)


def test_no_advice_that_the_auditor_has_followed(cup: Path) -> None:
    assert "--manifest" in asara("audit", cup).stderr
    done = asara("audit", cup, "--manifest", "00" * 32, status=1)
    assert "--public-key" in done.stderr
    assert "--manifest" not in done.stderr
    assert done.stdout.endswith(OTHER_MANIFEST)
    done = asara("audit", cup, "--public-key", KEY.public.hex(), status=1)
    assert done.stdout.endswith(
        "\nAudited 12 replays: 12 passed, 0 failed; 1 fault in other files.\n"
        f"The run {OTHER_SIGNER}"
    )
    (cup / "standings.json").unlink()
    done = asara("audit", cup, "--manifest", "00" * 32, status=1)
    assert done.stdout.endswith("\nThe run is NOT sound: 2 faults.\n")


def test_a_run_says_who_signed_it_and_what_was_not_checked(cup: Path) -> None:
    (cup / "report.html").write_text("<p>")
    for folder in ("bundles", "pages"):
        (cup / folder).mkdir()
    (cup / "notes.txt").write_text("mine")
    done = asara("audit", cup, "--manifest", manifest_of(cup))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{cup}: Cup, finished: 12 of 12 matches have a result",
        f"  signing key: {CUP_KEY.public.hex()}, from the published manifest",
        f"  manifest: {manifest_of(cup)}, as published",
        f"  deal commitment: {commitment_of(cup)}, from the manifest",
        "  notes.txt: extra: not part of the run, and not checked",
        "  checked: the signatures of the manifest, the results and 12 replays",
        "  checked: the schedule, deals, results and standings, by playing every match again",
        "  not checked: bundles/, logs/, pages/, report.html, run.index",
        (
            "  not checked: the bots' programs and output, and the reasons that the referee gave "
            "for crashes, failed starts and void matches"
        ),
        "Audited 12 replays: 12 passed, 0 failed.",
        "The run is sound.",
    ]


DUPLICATE = HEADER + 'blocks = "duplicate"\n'


@pytest.mark.long
def test_a_run_of_duplicate_blocks_with_an_attempt_that_was_void(tmp_path: Path) -> None:
    names = ("ann", "bob", "cid", "dot")
    run = play_run(tmp_path / "cup", DUPLICATE, names=names, void=["r1-basic-0001-2"])
    done = asara("audit", run, status=0)
    assert "r1-basic-0001-2: attempt 1 is void" in done.stdout
    forger = Forger(run)
    forger.edit_result(0, duplicate_deal="r1-basic-0002")
    forger.sign()
    done = asara("audit", run, status=1)
    assert "duplicate_deal: expected 'r1-basic-0001' by the schedule" in done.stdout


def test_a_single_replay_is_checked_against_the_secret_of_its_run(cup: Path) -> None:
    file = cup / "replays" / "r1-basic-0001-1.asara"
    asara("audit", file, "--manifest", manifest_of(cup), status=0)
    done = asara("audit", file, "--manifest", "00" * 32, status=1)
    assert "not the manifest that was published: expected SHA-256 0000" in done.stdout
    assert done.stdout.endswith(OTHER_MANIFEST)
    (cup / "tree_head.json").unlink()
    done = asara("audit", file, "--manifest", manifest_of(cup), status=3)
    assert "no signed end of a run" in done.stdout
    assert "NOT" not in done.stdout


def test_a_changed_replay_is_one_fault(cup: Path) -> None:
    file = cup / "replays" / "r1-basic-0001-1.asara"
    data = file.read_bytes()
    for changed in (data[:-1], data[:7] + b"\x03" + data[8:]):
        file.write_bytes(changed)
        done = asara("audit", cup, status=1)
        assert done.stdout.startswith(f"{file}: changed: ")
        assert done.stdout.count(file.name) == 1
        assert "the manifest, the results and 11 of 12 replays\n" in done.stdout
        assert done.stdout.endswith(
            "\nAudited 12 replays: 11 passed, 1 failed.\nThe run is NOT sound: 1 fault.\n"
        )


def test_a_run_with_a_replay_of_another_format_is_not_called_sound(cup: Path) -> None:
    file = cup / "replays" / "r1-basic-0001-1.asara"
    as_format_3(file)
    Forger(cup).sign()
    done = asara("audit", cup, status=3)
    assert "the manifest, the results and 11 of 12 replays\n" in done.stdout
    assert "by playing these matches again\n" in done.stdout
    assert done.stdout.endswith("1 not audited.\nNot audited: 1 replay of another format.\n")
    done = asara("audit", file, "--inclusion", status=3)
    assert done.stdout == (
        f"{file}: {OTHER_FORMAT}wrote it\n"
        "Audited 0 replays: 0 passed, 0 failed; 1 not audited.\n"
        "Not audited: 1 replay of another format.\n"
    )


def test_replays_behind_a_link_are_counted_once(cup: Path) -> None:
    (cup / "replays").rename(cup / "elsewhere")
    (cup / "replays").symlink_to(cup / "elsewhere")
    (cup.parent / "again").symlink_to(cup)
    done = asara("audit", cup, cup.parent / "again")
    assert "Audited 12 replays: 12 passed" in done.stdout


def test_a_run_that_was_cut_short_says_what_is_missing(tmp_path: Path) -> None:
    run = play_run(tmp_path / "cup", most=8)
    done = asara("audit", run, status=0)
    assert "cut short: 8 of 12 matches have a result" in done.stdout
    assert "4 replays are not published yet" in done.stdout
    missing = "r1-basic-0003-2, r2-basic-0001-1, r2-basic-0002-2 and 1 more"
    assert f"4 matches have no result: {missing}\n" in done.stdout
    assert "not checked: that the deals derive from the secret of the tournament" in done.stdout
    assert done.stdout.endswith("Audited 4 replays: 4 passed, 0 failed.\nThe run is sound.\n")
    (run / "replays" / "r1-basic-0001-1.asara").unlink()
    assert "replays/r1-basic-0001-1.asara: missing" in asara("audit", run).stdout
    run = play_run(tmp_path / "longer", most=11)
    done = asara("audit", run, status=0)
    assert "1 replay is not published yet" in done.stdout
    assert "1 match has no result: r2-basic-0003-1\n" in done.stdout


def test_matches_that_stay_void_are_named_with_their_reasons(tmp_path: Path) -> None:
    first, second, third = "r1-basic-0003-1", "r1-basic-0003-2", "r2-basic-0001-1"
    for number, void in enumerate(((first,), (first, second, third))):
        attempts = [f"{name}{suffix}" for name in void for suffix in ("", ".2", ".3")]
        run = play_run(tmp_path / str(number), void=attempts)
        done = asara("audit", run, status=0)
        assert f"{first}: attempt 3 is void: {VOID}\n" in done.stdout
        said = ("1 match stays void", "3 matches stay void")[number]
        assert f"  {said}: {', '.join(void)}\n" in done.stdout


def test_a_run_that_was_killed_says_that_nothing_signs_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play_run(tmp_path / "cup", most=8)
    change_run(run, state="running")
    for path in (*run.glob("tree_head.json*"), run / "standings.json"):
        path.unlink()
    with (run / "run.journal").open("ab") as file:
        file.write(b"\x50\0\0\0row")  # the row that is being written
    done = asara("audit", *(run / "replays").iterdir(), "--inclusion", status=3)
    assert f"not checked; {run}: the run has not ended\n" in done.stdout
    done = asara("audit", run, status=3)
    assert "not ended: 8 of 12 matches have a result" in done.stdout
    assert "nothing signs its results and their number" in done.stdout
    assert done.stdout.endswith("\nNothing is wrong, but the run lacks a signed end.\n")
    (run / "replays" / "r1-basic-0001-1.asara").unlink()  # the kill came before it was written
    assert "5 replays are not published yet" in asara("audit", run, status=3).stdout
    monkeypatch.setattr(run_audit, "_BEING_WRITTEN", 1)
    assert "replays/r1-basic-0001-1.asara: missing" in asara("audit", run, status=1).stdout


def test_a_duel_may_end_early_but_a_tournament_may_not(tmp_path: Path) -> None:
    header = HEADER + 'blocks = "independent"\n'
    run = play_run(tmp_path / "cup", header, enough=lambda over: over >= 4)
    done = asara("audit", run, status=0)
    assert "finished: 4 of 4 matches have a result" in done.stdout
    assert "not checked: that its test was decided by then" in done.stdout
    forger = Forger(run)
    changes = {"may_end_early": False}
    forger.manifest = forger.manifest.model_copy(update=changes)
    forger.sign()
    done = asara("audit", run, status=1)
    assert "tree_head.json: scheduled: expected 12 by manifest.json; found 4" in done.stdout
    assert "r1-basic-0003-1: no result, although the run is finished" in done.stdout


# One replay of a run


def prove(run: Path, name: str, proof: Path) -> None:
    file = run / "replays" / f"{name}.asara"
    done = asara("replay", "prove", file, "--out", proof)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("most", "leaves"),
    [
        (1_000, {"r1-basic-0001-1.2": 2, "r1-basic-0002-2": 5}),
        (8, {"r1-basic-0002-1": 3, "r1-basic-0002-2": 4}),
    ],
)
def test_one_replay_belongs_to_a_run_of_which_nothing_else_is_there(
    tmp_path: Path, most: int, leaves: dict[str, int]
) -> None:
    run = play_run(tmp_path / "cup", void=["r1-basic-0001-1"], most=most)
    digest = manifest_of(run)
    alone = tmp_path
    for name, leaf in leaves.items():
        alone = tmp_path / f"{name}.asara"
        prove(run, name, tmp_path / f"{name}.asara.proof")
        shutil.copy(run / "replays" / f"{name}.asara", alone)
        done = asara("audit", alone, "--inclusion", "--manifest", digest)
        assert (done.returncode, done.stderr) == (0, "")
        attempt = f"attempt {1 + name.endswith('.2')} at {name.removesuffix('.2')} of 'Cup'"
        assert f"{alone}: passed; it is {attempt}, leaf {leaf} of" in done.stdout
        assert done.stdout.endswith("\nEach replay is sound, and part of the run.\n")
    shutil.rmtree(run)
    assert asara("audit", alone, "--inclusion", "--manifest", digest).returncode == 0


def test_a_replay_in_its_run_needs_no_proof_and_no_other_replay(cup: Path) -> None:
    file = cup / "replays" / "r1-basic-0001-1.asara"
    for path in (cup / "replays").iterdir():
        if path != file:
            path.unlink()
    done = asara("audit", file, "--inclusion", status=0)
    place, key, _, checked, unchecked, *_ = done.stdout.splitlines()
    assert place.startswith(f"{file}: passed; it is attempt 1 at r1-basic-0001-1 of 'Cup', leaf 1 ")
    assert key == f"  signing key: {CUP_KEY.public.hex()}, found in the run itself"
    assert "and follows from the tournament secret; " in checked
    assert unchecked.startswith("not checked: arrival times of replies, ")
    assert "Nothing outside the run confirms" in done.stderr


PROOFS = {
    "another leaf": ("leaf", lambda proof: proof["leaf"].replace("3600.0", "3601.0")),
    "a leaf of no attempt": ("leaf", lambda proof: "{}"),
    "another place": ("index", lambda proof: 1),
    "a place beyond the tree": ("index", lambda proof: 12),
    "a shorter path": ("path", lambda proof: proof["path"][:-1]),
    "a longer path": ("path", lambda proof: [*proof["path"], "00" * 32]),
    "no path": ("path", lambda proof: []),
    "a path of words": ("path", lambda proof: ["left", "right"]),
    "another tree head": ("tree_head", lambda proof: proof["tree_head"].replace("12", "13")),
    "another signature": ("tree_head_signature", lambda proof: proof["manifest_signature"]),
    "another manifest": ("manifest", lambda proof: proof["manifest"].replace("Cup", "Cap")),
    "no manifest": ("manifest", lambda proof: ""),
    "no signature": ("manifest_signature", lambda proof: "none"),
}


@pytest.mark.parametrize("forgery", others_long(PROOFS, 3))
def test_a_changed_proof_is_refused(played: Path, tmp_path: Path, forgery: str) -> None:
    proof = tmp_path / "proof"
    prove(played, "r1-basic-0001-1", proof)
    key, change = PROOFS[forgery]
    fields = json.loads(proof.read_text())
    proof.write_text(json.dumps({**fields, key: change(fields)}))
    file = played / "replays" / "r1-basic-0001-1.asara"
    done = asara("audit", file, "--inclusion", "--proof", proof, status=1)
    assert done.stdout.endswith("1 failed.\nThe replay is NOT sound: 1 fault.\n")


def test_a_void_attempt_proves_nothing(tmp_path: Path) -> None:
    """An organiser who signs anything can prove the place of any line of the results."""
    run = play_run(tmp_path / "cup", most=8, void=["r1-basic-0001-2"])
    maker = ProofMaker(read_run(run))
    void = next(number for number, result in enumerate(maker._results) if result.void)
    maker._index_of = {sha256(b"its replay").hexdigest(): void}
    signed, expected = check_inclusion(maker.prove(b"its replay"), Published())
    assert expected is None
    assert signed.faults == [f"leaf: {maker._results[void].match_id}: attempt 1 is void"]


def test_a_manifest_from_which_no_schedule_follows_proves_nothing(tmp_path: Path) -> None:
    run = play_run(tmp_path / "cup")
    replay = run / "replays" / "r1-basic-0001-1.asara"
    proof = ProofMaker(read_run(run)).prove(replay.read_bytes())
    forger = Forger(run)
    forger.manifest = forger.manifest.model_copy(update={"seats": (0,)})
    forger.sign()
    forged = {name: (run / name).read_bytes() for name in ("manifest.json", "manifest.json.sig")}
    changes = {
        "manifest": forged["manifest.json"].decode(),
        "manifest_signature": forged["manifest.json.sig"].hex(),
    }
    signed, expected = check_inclusion(proof.model_copy(update=changes), Published())
    fault = "manifest.json: no schedule follows from it: no tournament has such settings"
    assert fault in signed.faults
    assert expected is None
    refused = refusal("replay", "prove", replay, "--out", tmp_path / "proof")
    assert "manifest.json: no tournament has such settings" in refused


def test_the_proof_of_another_replay_another_run_or_no_run(cup: Path, tmp_path: Path) -> None:
    files = [cup / "replays" / f"r1-basic-0001-{number}.asara" for number in (1, 2)]
    prove(cup, "r1-basic-0001-1", tmp_path / "proof")
    done = asara("audit", files[1], "--proof", tmp_path / "proof", status=1)
    assert "belongs to match r1-basic-0001-1; this replay is match r1-basic-0001-2" in done.stdout
    assert done.stdout.endswith(
        "\nThe proof belongs to another match, so it proves nothing here.\n"
    )
    done = asara("audit", files[0], "--inclusion", "--public-key", KEY.public.hex(), status=1)
    assert done.stdout.endswith(f"\nThe replay {OTHER_SIGNER}")
    done = asara("audit", files[0], "--inclusion", "--manifest", "00" * 32)
    assert "not the manifest that was published" in done.stdout
    assert done.stdout.endswith(OTHER_MANIFEST)
    other = random_replay(RULE_COMBINATIONS[0], 2, seed=9, replies=5)
    (cup / "replays" / "x.asara").write_bytes(replay_bytes(other, KEY))
    done = asara("audit", cup / "replays" / "x.asara", "--inclusion")
    assert "this replay does not belong to the run" in done.stdout
    done = asara("replay", "prove", cup / "replays" / "x.asara", "--out", tmp_path / "p", status=2)
    assert "does not belong to the run" in done.stderr
    (tmp_path / "x.asara").write_bytes(replay_bytes(other, KEY))
    done = asara("audit", tmp_path / "x.asara", "--inclusion", status=3)
    assert "not checked; it is not in a run; pass a proof with --proof" in done.stdout
    assert done.stdout.endswith("\nNot checked: a replay without a proof may belong to no run.\n")
    files = [cup / "replays" / "x.asara", tmp_path / "x.asara"]
    done = asara("audit", *files, "--inclusion", status=1)
    assert done.stdout.endswith("\nThe replays are NOT sound: 1 fault.\n")
    error = refusal("replay", "prove", tmp_path / "x.asara", "--out", tmp_path / "p")
    assert "is not in a run's `replays` folder" in error
    assert "is a folder" in refusal("audit", cup, "--inclusion")
