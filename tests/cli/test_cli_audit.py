import random
from pathlib import Path

import pytest

from asara_game.rules import RULE_COMBINATIONS
from asara_server.replay import SigningKey, write_replay
from tests.cli.command import asara, refusal
from tests.server.playouts import random_replay

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
    assert done.stdout.count("somebody else vouches for this file") == 3
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
    assert "no Ed25519 public key" in refusal("audit", empty, "--key", empty)
