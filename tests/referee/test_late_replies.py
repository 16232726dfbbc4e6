"""Late replies on real streams: who reads them, how long a replay waits, and what others notice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.journal.journal import Journal
from asara_server.match.inputs import LateReplyRecord
from asara_server.match.spec import SECOND_US, MatchRecord
from asara_server.referee.hosted import MatchCut
from asara_server.referee.limits import LimitSettings
from asara_server.replay.audit import audit
from asara_server.replay.signing import SigningKey
from tests.events import EVENT_S, until
from tests.match.playouts import replay_bytes, replay_of
from tests.referee.harness import (
    RefereeServer,
    Stream,
    own_address,
    play_bot,
    referee_server,
    spec,
    together,
)

QUICK = Clocks(bank_us=0, increment_us=150_000, grace_us=50_000, reconnect_us=5_000_000)
KEY = SigningKey.new()


class Seated:
    """A match whose seat 0 has been asked its first decision."""

    def __init__(self, streams: list[Stream], playing: "asyncio.Task[MatchRecord]", first: Any):
        self.streams = streams
        self.playing = playing
        self.first = first

    async def record(self) -> MatchRecord:
        return await asyncio.wait_for(self.playing, EVENT_S)


async def seated(server: RefereeServer, seats: int = 2, match_id: str = "m1") -> Seated:
    names = "abc"[:seats]
    server.admit(*names)
    streams = [await server.dial(name, live_updates=True) for name in names]
    match_spec = spec(seats, clocks=QUICK, match_id=match_id)
    playing = asyncio.create_task(server.referee.play(match_spec))
    return Seated(streams, playing, await streams[0].until("decision"))


def late_reply_was_read(server: RefereeServer) -> bool:
    [hosted] = server.referee.running_matches()
    assert hosted.match is not None
    return any(isinstance(each, LateReplyRecord) for each in hosted.match.records)


def late_replies(record: MatchRecord) -> list[LateReplyRecord]:
    return [each for each in replay_of(record).records if isinstance(each, LateReplyRecord)]


async def test_a_reply_after_the_end_is_in_the_signed_replay_and_delays_nobody() -> None:
    async with referee_server(LimitSettings(late_reply_s=100_000)) as server:
        match = await seated(server)
        ended = [await stream.until("match_ended") for stream in match.streams]
        assert [result.termination for result in ended[0].results] == [3, 1]
        assert not match.playing.done(), "the replay is open"
        assert not server.referee.running_matches(), "the match is over"
        await match.streams[0].answer(match.first)
        record = await match.record()  # as soon as the reply is there
        [late] = late_replies(record)
        assert (late.seat, late.decision_id) == (0, 1)
        assert late.time_us > record.duration_us
        data = replay_bytes(replay_of(record), KEY)
        assert audit(data, KEY.public).fault is None


async def test_a_replay_waits_for_a_second_at_most() -> None:
    async with referee_server(LimitSettings(late_reply_s=0.3)) as server:
        match = await seated(server)
        await match.streams[0].until("match_ended")
        record = await match.record()
        assert not late_replies(record)
        assert record.duration_us < 400_000, "the wait is no part of the match"


async def test_a_replay_waits_for_no_bot_that_has_gone() -> None:
    async with referee_server(LimitSettings(late_reply_s=60)) as server:
        match = await seated(server)
        await match.streams[0].until("match_ended")
        match.streams[0].call.cancel()
        assert not late_replies(await match.record())


async def test_a_bot_with_another_match_is_late_in_one_and_plays_the_other() -> None:
    async with referee_server(LimitSettings(late_reply_s=5)) as server:
        a, b, c = await server.dial_all("abc", max_matches=2)
        lost = asyncio.create_task(server.referee.play(spec(3, match_id="m1", clocks=QUICK)))
        missed = await a.until("decision")
        [wait] = server.referee.waits()
        entry, over_s = wait.entry, wait.waited_s - QUICK.grace_us / SECOND_US
        allowed_s = (QUICK.bank_us + QUICK.increment_us) / SECOND_US
        assert wait.left_s == pytest.approx(allowed_s - max(over_s, 0))
        other = asyncio.create_task(server.referee.play(spec(3, match_id="m2")))
        await until(
            lambda: (
                ("m1", entry) not in {(one.match_id, one.entry) for one in server.referee.waits()}
            )
        )
        await a.answer(missed)
        record, *_ = await together(other, play_bot(a, 2), play_bot(b, 2), play_bot(c, 2))
        assert record.ends[0].termination is Termination.COMPLETED
        assert [late.seat for late in late_replies(await lost)][:1] == [0]


async def test_the_socket_of_a_bot_at_its_own_address_is_examined_at_its_time_out() -> None:
    async with referee_server(LimitSettings(late_reply_s=100_000)) as server:
        server.admit("b")
        b = await server.dial("b")
        async with own_address(server, "a") as own:
            a = await own.dial("a")
            playing = asyncio.create_task(server.referee.play(spec(clocks=QUICK)))
            missed = await a.until("decision")
            await b.until("match_ended")
            await a.answer(missed)
            [late] = late_replies(await asyncio.wait_for(playing, EVENT_S))
            assert (late.seat, late.unread_bytes) == (0, 0)


async def test_a_late_reply_survives_the_referee(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with Journal(path) as journal:
        async with referee_server(journal=journal) as server:
            match = await seated(server, 3)
            await match.streams[0].until("update")
            await match.streams[0].answer(match.first)
            await until(lambda: late_reply_was_read(server))
            await server.referee.stop(finish_s=0)
            with pytest.raises(MatchCut):
                await match.record()
    with Journal(path) as journal:
        async with referee_server(journal=journal) as server:
            server.admit("a", "b", "c")
            b, c = await server.dial("b"), await server.dial("c")
            playing = server.referee.play(spec(3, clocks=QUICK))
            record, *_ = await together(playing, play_bot(b), play_bot(c))
    assert len(late_replies(record)) == 1
    assert audit(replay_bytes(replay_of(record), KEY), KEY.public).fault is None
