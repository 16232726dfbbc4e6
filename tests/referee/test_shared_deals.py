"""Matches with a shared deal: their messages, replays and journals."""

import random
from dataclasses import replace

import pytest

from asara_server.journal.journal import Journal, JournalError
from asara_server.journal.recovery import recover
from asara_server.journal.replay import ReplayError, ReplayHeader
from asara_server.journal.resimulate import resimulated_steps
from asara_server.match.spec import MatchSpec
from asara_server.replay.file import read_replay
from asara_server.replay.signing import SigningKey
from tests.match.playouts import random_match, record_bytes, replay_bytes
from tests.referee.harness import LIMITS, Driven, spec

SECRET = b"the deal of all matches of one b"


def shared(seats: int = 2, rule_sets: str = "basic", match_id: str = "b1-1") -> MatchSpec:
    return replace(spec(seats, rule_sets, match_id=match_id, secret=SECRET), shared_deal="b1")


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_no_seat_receives_the_secret_and_match_started_says_so(seats):
    driven = Driven(shared(seats, "pro+gifts+genie"))
    driven.play_out(random.Random(seats))
    for told in driven.told:
        assert told[0].match_started.shared_deal
        assert told[0].match_started.deal_commitment == driven.match.spec.commitment
        assert told[-1].match_ended.results
        assert told[-1].match_ended.deal_secret == b""
        assert not any(SECRET in response.SerializeToString() for response in told)
    usual = Driven(replace(driven.match.spec, shared_deal=""))
    usual.play_out(random.Random(seats))
    for told in usual.told:
        assert not told[0].match_started.shared_deal
        assert told[-1].match_ended.deal_secret == SECRET


def test_a_replay_holds_the_secret_and_the_name_of_the_block(tmp_path):
    replay = random_match(shared(3, "pro+gifts"), random.Random(3))
    path = tmp_path / "one.asara"
    path.write_bytes(replay_bytes(replay, SigningKey.new()))
    found = read_replay(path)
    assert (found.header.deal_secret, found.header.shared_deal) == (SECRET, "b1")
    assert found == replay
    list(resimulated_steps(found))
    forged = replace(found, header=replace(found.header, shared_deal=""))
    with pytest.raises(
        ReplayError, match="seat 0 was sent other bytes"
    ):  # the seats were told something else
        list(resimulated_steps(forged))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": True}, "match b1-1: a joint deal cannot be shared"),
        ({"nonces": (bytes(32), b"")}, "match b1-1: a joint deal cannot be shared"),
        ({"shared_deal": "b" * 129}, "match b1-1: shared_deal: use 128 bytes at most"),
    ],
)
def test_a_match_whose_deal_cannot_be_shared_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(shared(), **changes)


def test_a_journal_of_another_block_is_refused(tmp_path):
    match = shared()
    with Journal(tmp_path / "run.journal") as journal:
        header = ReplayHeader.of(match, LIMITS.match_limits, 0)
        journal.begin(match.match_id, record_bytes(header))
        journal.commit()
    for changed in ({"shared_deal": "b2"}, {"shared_deal": ""}, {"secret": bytes(32)}):
        with (
            Journal(tmp_path / "run.journal") as journal,
            pytest.raises(JournalError, match="b1-1 has other entries or another deal"),
        ):
            recover(journal, replace(match, **changed))
    with Journal(tmp_path / "run.journal") as journal:
        recovered = recover(journal, match)
        assert recovered is not None
        assert recovered.spec.shared_deal == "b1"
