"""A page for one seat holds nothing that the seat could not see."""

import random
import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from asara.v1.replay_view_pb2 import ReplayView
from asara_server import bundled
from asara_server.replay import replay_view as module
from asara_server.replay.signing import SigningKey
from tests.cli.command import asara
from tests.leak.replay_worlds import elsewhere
from tests.match.playouts import EVERYTHING, random_replay, replay_bytes
from tests.sizes import others_long

KEY = SigningKey.new()


def page(replay: Path, *options: str) -> bytes:
    out = replay.with_suffix(".html")
    asara("replay", "page", replay, "--out", out, *options, status=0)
    return out.read_bytes()


@pytest.fixture(autouse=True)
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "page.js").write_text("console.log(1)")
    (tmp_path / "single" / "page.css").write_text("main{}")
    monkeypatch.setattr(bundled, "page", lambda: tmp_path)


@pytest.mark.parametrize("seats", others_long([4, 3, 2], 3))
def test_the_page_of_a_seat_is_the_same_in_every_world_that_it_cannot_tell_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seats: int
) -> None:
    replay = random_replay(EVERYTHING, seats, seed=10 + seats)
    file = tmp_path / "match.asara"
    file.write_bytes(replay_bytes(replay, KEY))
    dice = random.Random(2)
    for seat in range(seats):
        true = page(file, "--seat", str(seat))
        with monkeypatch.context() as patch:
            patch.setattr(module, "resimulated", elsewhere(seat, dice))
            assert page(file, "--seat", str(seat)) == true


def test_the_page_of_a_seat_holds_neither_the_replay_nor_the_secret(tmp_path: Path) -> None:
    replay = random_replay(EVERYTHING, 4, seed=5)
    file = tmp_path / "match.asara"
    file.write_bytes(replay_bytes(replay, KEY))
    written = page(file, "--seat", "1")
    assert b'id="replay"' not in written
    block = written.split(b'id="replay-view">')[1].split(b"<")[0]
    data = zlib.decompress(b64decode(block))
    for hidden in (replay.header.deal_secret, *replay.digests, KEY.public):
        assert hidden not in data
    seen = ReplayView.FromString(data)
    assert {private.seat for moment in seen.moments for private in moment.private_views} == {1}
    assert {m.decision.seat for m in seen.moments if m.HasField("decision")} == {1}
    assert b'id="replay"' in page(file)
