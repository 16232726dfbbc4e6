import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from asara.v1.replay_view_pb2 import ReplayView
from asara_server import bundled
from asara_server.replay.signing import SigningKey
from tests.cli.command import asara, refusal
from tests.match.playouts import EVERYTHING, random_replay, replay_bytes

REPLAY = random_replay(EVERYTHING, 3, seed=8)
KEY = SigningKey.new()


@pytest.fixture(autouse=True)
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page" / "single").mkdir(parents=True)
    (tmp_path / "page" / "single" / "page.js").write_text("console.log(1)")
    (tmp_path / "page" / "single" / "page.css").write_text("main{}")
    monkeypatch.setattr(bundled, "page", lambda: tmp_path / "page")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a.asara").write_bytes(replay_bytes(REPLAY, KEY))
    return tmp_path / "a.asara"


def view_in(page: Path) -> ReplayView:
    block = page.read_bytes().split(b'id="replay-view">')[1].split(b"<")[0]
    return ReplayView.FromString(zlib.decompress(b64decode(block)))


def test_a_page_is_written_of_everything_or_of_one_seat(tmp_path: Path, file: Path) -> None:
    out = tmp_path / "match.html"
    done = asara("replay", "page", file, "--out", out)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"Wrote the page to {out}, with everything\n"
    assert b64decode(out.read_bytes().split(b'id="replay">')[1].split(b"<")[0]) == file.read_bytes()
    own = tmp_path / "own.html"
    done = asara("replay", "page", file, "--out", own, "--seat", "2", "--language", "de")
    assert done.stderr == f"Wrote the page to {own}, with what seat 2 could see\n"
    assert view_in(own).viewer_seat == 2
    assert '<html lang="de" data-language="de">' in own.read_text()


def test_a_seat_that_is_not_there_is_refused(tmp_path: Path, file: Path) -> None:
    for seat in ("3", "-1"):
        done = asara("replay", "page", file, "--out", tmp_path / "x.html", "--seat", seat, status=2)
        assert f"there is no seat {seat}; this match has seats 0 to 2" in done.stderr


def test_without_a_built_page_the_error_says_what_to_do(tmp_path: Path, file: Path) -> None:
    (tmp_path / "page" / "single" / "page.css").unlink()
    done = asara("replay", "page", file, "--out", tmp_path / "x.html", status=1)
    assert "the page is not built (page.css: No such file or directory); run" in done.stderr


def test_logs_are_added_only_if_asked(tmp_path: Path, file: Path) -> None:
    error = refusal("replay", "page", file, "--out", tmp_path / "x.html", "--bot-output")
    assert "is not in a run's `replays` folder" in error
    run = tmp_path / "run"
    logs = run / "logs" / REPLAY.header.match_id
    logs.mkdir(parents=True)
    (run / "replays").mkdir()
    (run / "run.json").touch()
    inside = file.rename(run / "replays" / file.name)
    for seat in (0, 1):
        (logs / f"{seat}-bot {seat}.log").write_text(f"# note\nseat {seat} thinks\n")
        (logs / f"{seat}-bot {seat}.decisions").write_text("7 1\n")
    plain, with_logs, own = (tmp_path / name for name in ("a.html", "b.html", "c.html"))
    for out, *options in (
        (plain,),
        (with_logs, "--bot-output"),
        (own, "--bot-output", "--seat", "1"),
    ):
        assert asara("replay", "page", inside, "--out", out, *options).returncode == 0
    texts = [
        [m.decision.log for m in view_in(page).moments if m.decision.log]
        for page in (plain, with_logs, own)
    ]
    assert texts == [[], ["seat 0 thinks", "seat 1 thinks"], ["seat 1 thinks"]]
