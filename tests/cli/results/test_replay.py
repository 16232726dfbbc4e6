import json
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse

from asara.v1.replay_pb2 import Replay as ReplayMessage
from asara_codec.clocks import Clocks
from asara_server.match.inputs import Presence, ReplyRecord
from asara_server.match.match import Answer
from asara_server.replay.file import parse_file
from asara_server.replay.signing import SigningKey
from tests.cli.command import asara
from tests.match.playouts import EVERYTHING, finished_replay, random_replay, replay_bytes
from tests.referee.harness import Driven, spec

KEY = SigningKey.new()
REPLAY = random_replay(EVERYTHING, 3, seed=8)


def written(path: Path, replay=REPLAY) -> Path:
    path.write_bytes(replay_bytes(replay, KEY))
    return path


def test_everything_is_exported(tmp_path: Path) -> None:
    path = written(tmp_path / "a.asara")
    done = asara("replay", "export", path, status=0)
    assert json.loads(done.stdout)["records"][0]["header"]["match_id"] == "random-8"
    message = Parse(done.stdout, ReplayMessage())
    written_records = parse_file(path.read_bytes()).records
    assert [r.SerializeToString(deterministic=True) for r in message.records] == written_records


def test_where_two_matches_part(tmp_path: Path) -> None:
    a = written(tmp_path / "a.asara")
    same = asara("replay", "diff", a, a)
    assert (same.returncode, same.stdout) == (
        0,
        "No differences: the set-up, the actions and the results are the same.\n",
    )
    other = random_replay(EVERYTHING, 3, seed=8, replies=50)
    done = asara("replay", "diff", a, written(tmp_path / "b.asara", other), status=1)
    first, *rest = done.stdout.splitlines()
    assert first.startswith("First record that differs: record ")
    assert [line[:5] for line in rest[:2]] == ["  A: ", "  B: "]
    assert any(" of seat 0" in line for line in rest)
    named = replace(REPLAY, header=replace(REPLAY.header, entries=("x", "y", "z")))
    done = asara("replay", "diff", a, written(tmp_path / "c.asara", named))
    assert done.stdout == "Entries\n  A: bot 0, bot 1, bot 2\n  B: x, y, z\n"


def test_where_the_time_went(tmp_path: Path) -> None:
    done = asara("replay", "clock", written(tmp_path / "a.asara"), status=0)
    assert "Match random-8: time used" in done.stdout
    assert "Longest decisions" in done.stdout
    assert "Seat 2 (bot 2) forfeited after" in done.stdout
    assert "crash: exit code 1" in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) == 2 + 3 + 1 + 2 + 5 + 2
    costs = (one.bot_us for one in REPLAY.records if isinstance(one, ReplyRecord))
    longest = [f"{bot_us / 1000:.2f}" for bot_us in sorted(costs, reverse=True)[:5]]
    assert [line.split()[3] for line in lines[8:13]] == longest


@pytest.mark.parametrize(
    ("unread", "socket_us", "replied"), [(0, None, True), (31, 1_200_000, True), (0, None, False)]
)
def test_a_time_out_is_shown_moment_by_moment(
    tmp_path: Path, unread: int, socket_us: int | None, *, replied: bool
) -> None:
    driven = Driven(spec(clocks=Clocks(bank_us=1_000_000, increment_us=0, grace_us=50_000)))
    driven.reply(after_s=0.1)
    seat = driven.asked
    driven.expire(after_s=1.060)
    if replied:
        driven.reply(
            seat=seat, after_s=0.3, socket_us=socket_us, unread_bytes=unread, expected=Answer.LATE
        )
    replay = finished_replay(driven.match)
    done = asara("replay", "clock", written(tmp_path / "a.asara", replay))
    lines = done.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.endswith(" was requested"))
    assert lines[first].startswith("    100.00 ms  decision ")
    assert lines[first + 1].endswith("its time ran out, including 50.00 ms of grace")
    rest = lines[first + 2 :]
    if replied:
        held = "31 unread bytes" if unread else "no unread bytes"
        assert rest.pop(0) == f"  1,160.00 ms  its socket held {held}"
    if socket_us is not None:
        assert rest.pop(0) == "  1,200.00 ms  the last bytes from it arrived at the socket"
    if replied:
        assert rest[0].startswith("  1,460.00 ms  its reply was received ")
        assert "ms late (record 5): '" in rest[0]
        assert rest[0].endswith("which was legal") or rest[0].endswith("which was not legal")
    else:
        assert rest[0].strip() == "no reply was received before the match ended"
    assert "2020-09-13 12:26:40 UTC, on the referee's clock, which stops" in done.stdout


def test_a_decision_was_requested_when_it_was_asked_whatever_happened_meanwhile(
    tmp_path: Path,
) -> None:
    driven = Driven(spec(clocks=Clocks(bank_us=1_000_000, increment_us=0, grace_us=50_000)))
    driven.reply(after_s=0.1)
    other = 1 - driven.asked
    driven.pass_time(0.5)
    driven.match.leave(other, driven.now)
    driven.match.enter(other, Presence(), driven.now)
    driven.expire(after_s=0.560)
    replay = finished_replay(driven.match)
    done = asara("replay", "clock", written(tmp_path / "a.asara", replay), status=0)
    [line] = [line for line in done.stdout.splitlines() if line.endswith(" was requested")]
    assert line.startswith("    100.00 ms  decision ")
