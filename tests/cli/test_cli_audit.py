import random
from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.match.deal_secrets import commitment, secret_of, tournament_secret
from asara_server.replay.file import write_replay
from asara_server.replay.signing import SigningKey
from asara_server.tournament.run.directory import RunInfo
from tests.cli.command import asara, refusal
from tests.match.playouts import random_replay

KEY = SigningKey.new()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with three short matches, sound and signed."""
    replays = tmp_path / "run" / "replays"
    replays.mkdir(parents=True)
    (replays.parent / "referee.pub").write_bytes(KEY.public_pem)
    for number in range(3):
        replay = random_replay(RULE_COMBINATIONS[0], 2, seed=number, replies=12)
        write_replay(replays / f"m{number}.asara", replay, KEY)
    return replays.parent


def test_sound_replays(run: Path) -> None:
    done = asara("audit", run, run / "replays" / "m1.asara", "--leaks")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "audited 3 replays: 3 sound, 0 unsound\n"


def test_a_damaged_replay_is_named_with_its_record(run: Path) -> None:
    path = run / "replays" / "m1.asara"
    data = bytearray(path.read_bytes())
    data[-300] ^= 1
    path.write_bytes(data)
    done = asara("audit", run)
    assert done.returncode == 1
    line, last = done.stdout.splitlines()
    assert line.startswith(f"{path}: record ")
    assert last == "audited 3 replays: 2 sound, 1 unsound"


def test_another_key_and_no_key(run: Path, tmp_path: Path) -> None:
    other = SigningKey.new()
    (tmp_path / "other.pub").write_bytes(other.public_pem)
    done = asara("audit", run, "--key", tmp_path / "other.pub")
    assert done.returncode == 1
    assert done.stdout.count("another key signed this file") == 3
    (run / "referee.pub").unlink()
    done = asara("audit", run)
    assert done.returncode == 0
    assert f"the key {KEY.public.hex()} is trusted" in done.stderr
    stranger = random_replay(RULE_COMBINATIONS[0], 2, seed=9, replies=5)
    write_replay(run / "replays" / "m9.asara", stranger, other)
    done = asara("audit", run)
    assert done.stdout.endswith("audited 4 replays: 3 sound, 1 unsound\n")


def test_many_files_in_several_processes(run: Path) -> None:
    dice = random.Random(1)
    data = (run / "replays" / "m0.asara").read_bytes()
    bad = sorted(dice.sample(range(40), 3))
    for number in range(40):
        changed = data if number not in bad else data[:-1]
        (run / "replays" / f"x{number:02}.asara").write_bytes(changed)
    done = asara("audit", run, "--processes", "2")
    lines = done.stdout.splitlines()
    assert [Path(line.split(":")[0]).name for line in lines[:-1]] == [
        f"x{number:02}.asara" for number in bad
    ]
    assert lines[-1] == "audited 43 replays: 40 sound, 3 unsound"


def test_what_cannot_be_audited(tmp_path: Path) -> None:
    missing = tmp_path / "no"
    assert refusal("audit", missing) == f"asara: {missing}: no such file or directory\n"
    assert "holds no replay" in refusal("audit", tmp_path)
    empty = tmp_path / "a.asara"
    empty.touch()
    done = asara("audit", empty)
    assert done.returncode == 1
    assert "the file is empty" in done.stdout
    assert "not an Ed25519 public key" in refusal("audit", empty, "--key", empty)


# The deals of a run have to follow from what was published before its first match.

SEED = "spring"
SECRET = tournament_secret(SEED)


def write_run(directory: Path, *, secret: bytes = SECRET, revealed: bytes | None = SECRET) -> Path:
    """A run of two mirrored matches and one alone, whose deals come from `secret`."""
    replays = directory / "replays"
    replays.mkdir(parents=True)
    (directory / "referee.pub").write_bytes(KEY.public_pem)
    for name, block in (("r1-basic-1-1", "r1-basic-1"), ("r1-basic-1-2", "r1-basic-1"), ("m", "")):
        replay = random_replay(
            RULE_COMBINATIONS[0],
            2,
            seed=1,
            replies=12,
            match_id=name,
            secret=secret_of(secret, name, block),
            shared_deal=block,
        )
        write_replay(replays / f"{name}.asara", replay, KEY)
    info = RunInfo(
        asara="0.1.0",
        title="Cup",
        seed=SEED,
        seed_drawn=False,
        deals="committed",
        blocks="mirrored",
        deal_commitment=commitment(SECRET).hex(),
        tournament_secret=revealed and revealed.hex(),
        edition="x",
        edition_sha256="00",
        started="2026-01-01T00:00:00+00:00",
    )
    (directory / "run.json").write_text(info.model_dump_json())
    return directory


def test_deals_that_follow_from_the_published_commitment(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    for arguments in ((), ("--commitment", commitment(SECRET).hex().upper())):
        done = asara("audit", run, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "audited 3 replays: 3 sound, 0 unsound\n"


def test_deals_that_somebody_chose_are_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", secret=tournament_secret("chosen"))
    done = asara("audit", run)
    assert done.returncode == 1
    assert done.stdout.count("the deal does not follow from the secret of the tournament") == 3
    assert done.stdout.endswith("audited 3 replays: 0 sound, 3 unsound\n")


def test_another_secret_than_the_committed_one_is_named(tmp_path: Path) -> None:
    other = tournament_secret("other")
    run = write_run(tmp_path / "run", secret=other, revealed=other)
    done = asara("audit", run)
    assert done.returncode == 1
    assert f"{run}/run.json: the secret of the tournament does not open" in done.stdout


def test_a_commitment_that_was_not_published_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    done = asara("audit", run, "--commitment", "00" * 32)
    assert done.returncode == 1
    assert "does not open the commitment: expected 0000" in done.stdout


def test_a_match_of_another_block_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    replay = random_replay(
        RULE_COMBINATIONS[0],
        2,
        seed=1,
        replies=12,
        match_id="r1-basic-2-1",
        secret=secret_of(SECRET, "", "r1-basic-1"),
        shared_deal="r1-basic-1",
    )
    write_replay(run / "replays" / "r1-basic-2-1.asara", replay, KEY)
    done = asara("audit", run)
    assert "expected a match that shares the deal r1-basic-1; found r1-basic-2-1" in done.stdout


def test_a_secret_that_is_not_told_yet_is_no_fault(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", revealed=None)
    done = asara("audit", run)
    assert done.returncode == 0
    assert "the secret of the tournament is not revealed yet" in done.stderr
    done = asara("audit", run, "--commitment", commitment(SECRET).hex())
    assert done.returncode == 1


@pytest.mark.parametrize("garbage", ["{", "", '{"tournament_secret": "xyz"}', "[]"])
def test_a_run_that_cannot_be_read_is_named(tmp_path: Path, garbage: str) -> None:
    run = write_run(tmp_path / "run")
    (run / "run.json").write_text(garbage)
    done = asara("audit", run)
    assert done.returncode == 1
    assert f"{run}/run.json: cannot be read" in done.stdout
    assert done.stdout.endswith("audited 3 replays: 3 sound, 0 unsound\n")


def test_a_commitment_of_another_shape(run: Path) -> None:
    assert "64 hexadecimal digits" in refusal("audit", run, "--commitment", "abc")
    done = asara("audit", run, "--commitment", "00" * 32)
    assert done.returncode == 1
    assert "no run.json beside the replays reveals a secret" in done.stdout
