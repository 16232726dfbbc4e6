"""Streams and matches: beginning, interruptions, end."""

import asyncio
import hashlib

import grpc
import pytest
import structlog
from structlog.testing import CapturingLogger

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.journal.resimulate import resimulated_steps
from asara_server.match.match import Match
from asara_server.referee.hosted import MatchCut
from asara_server.referee.limits import LimitSettings
from asara_server.replay.file import parse_replay
from asara_server.replay.signing import SigningKey
from tests.events import turns, until
from tests.match.playouts import replay_bytes, replay_of
from tests.referee.harness import play_bot, referee_server, spec, together

QUICK = Clocks(start_up_us=200_000, bank_us=5_000_000, reconnect_us=200_000)


async def test_two_bots_play_a_match():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        record, [end_a], [end_b] = await together(
            server.referee.play(spec()), play_bot(a, seed=1), play_bot(b, seed=2)
        )
        assert not record.void
        assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2
        assert end_a.results == end_b.results
        assert [r.entry for r in end_a.results] == ["a", "b"]
        replay = replay_of(record)
        assert end_a.deal_secret == replay.header.deal_secret
        assert parse_replay(replay_bytes(replay, SigningKey.new())) == replay
        for _ in resimulated_steps(replay):
            pass
        assert record.duration_us > 0


async def test_welcome_has_entry_and_limits_and_the_number_of_matches_of_a_bot():
    limits = LimitSettings(matches=5)
    async with referee_server(limits) as server:
        server.referee.register_bot("token-a", "a", max_matches=3)
        stream = server.stream()
        await stream.hello("token-a", max_matches=50)
        welcome = await stream.expect("welcome")
        assert (welcome.protocol_version, welcome.entry) == (1, "a")
        assert welcome.referee.startswith("asara/")
        assert welcome.limits.matches == server.referee.match_capacity("token-a") == 3
        assert welcome.limits.request_bytes == limits.request_bytes
        assert server.referee.is_connected("token-a")
        await server.dial("a", max_matches=2)
        assert server.referee.match_capacity("token-a") == 2
        server.referee.register_bot("token-b", "b", max_matches=9)
        await server.dial("b", max_matches=9)
        assert server.referee.match_capacity("token-b") == 5


async def test_a_new_stream_replaces_the_old_one():
    async with referee_server() as server:
        old, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        decision = await old.until("decision")
        new = await server.dial("a")
        assert await old.ending() == (grpc.StatusCode.ABORTED, "replaced")
        assert (await new.expect("match_started")).resumed
        assert (await new.expect("decision")).decision_id == decision.decision_id
        await new.answer(decision)
        _, _, record = await together(play_bot(new), play_bot(b), playing)
        assert record.ends[0].termination is Termination.COMPLETED


async def test_a_bot_plays_as_many_matches_at_once_as_it_says():
    async with referee_server() as server:
        server.admit("a", "b")
        a = await server.dial("a", max_matches=2)
        b = await server.dial("b", max_matches=10)
        played = [server.referee.play(spec(match_id=f"m{n}")) for n in range(5)]
        most = 0

        async def watch():
            nonlocal most
            while True:
                most = max(most, len(server.referee.running_matches()))
                await turns(1)

        watching = asyncio.create_task(watch())
        *records, ended, _ = await together(*played, play_bot(a, 5), play_bot(b, 5))
        watching.cancel()
        assert most == 2
        assert len(ended) == 5
        assert not any(record.void for record in records)


async def test_a_bot_that_never_dials_in_forfeits():
    async with referee_server() as server:
        server.admit("a", "b", "c")
        a, b = await server.dial("a"), await server.dial("b")
        record, _, _ = await together(
            server.referee.play(spec(3, clocks=QUICK)), play_bot(a), play_bot(b)
        )
        never = record.ends[2]
        assert (never.rank, never.termination) == (3, Termination.NEVER_STARTED)
        assert never.detail == "did not connect within 0.2 s"


async def test_a_bot_that_disconnects_before_the_match_has_crashed():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        a.call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        record, _ = await together(server.referee.play(spec(clocks=QUICK)), play_bot(b))
        assert record.ends[0].termination is Termination.CRASH
        assert record.ends[0].detail == "went away and did not come back within 0.2 s"


@pytest.mark.parametrize("connected", [True, False])
async def test_a_lost_process_forfeits_at_once_and_never_started_if_it_never_dialled_in(connected):
    async with referee_server() as server:
        server.admit("a", "b")
        b = await server.dial("b")
        if connected:
            await server.dial("a")
        playing = asyncio.create_task(server.referee.play(spec()))
        await (b.expect("match_started") if connected else turns(1))
        server.referee.mark_lost("token-a", "exited with status 3")
        result = (await playing).ends[0]
        termination = Termination.CRASH if connected else Termination.NEVER_STARTED
        assert (result.termination, result.detail) == (termination, "exited with status 3")
        stream = server.stream()
        await stream.hello("token-a")
        assert await stream.ending() == (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")


async def test_a_removed_bot_receives_goodbye():
    async with referee_server() as server:
        server.admit("a")
        a = await server.dial("a")
        told: list[str] = []
        server.referee.before_send("token-a", lambda: told.append("it runs"))
        server.referee.remove_bot("token-a", "the tournament is over")
        assert told == ["it runs"]
        assert (await a.expect("goodbye")).reason == "the tournament is over"
        assert await a.ending() == (grpc.StatusCode.OK, None)
        assert not server.referee.is_connected("token-a")
        server.admit("a")


async def test_a_disconnected_bot_forfeits_and_may_connect_again():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("match_started")
        await b.until("match_started")
        server.referee.disconnect_bot("token-a", "no longer wanted")
        assert not server.referee.is_connected("token-a")
        assert (await a.until("goodbye")).reason == "no longer wanted"
        result = (await playing).ends[0]
        assert result.termination is Termination.CRASH
        assert result.detail == "dismissed: no longer wanted"
        await server.dial("a")
        server.referee.disconnect_bot("token-z", "there is none")


async def test_tokens_are_registered_once():
    async with referee_server() as server:
        server.admit("a")
        with pytest.raises(ValueError, match="already in use by a"):
            server.referee.register_bot("token-a", "b")
        with pytest.raises(ValueError, match="b is not registered"):
            await server.referee.play(spec())


@pytest.mark.sources_only
async def test_a_failure_of_the_engine_voids_that_match_only(monkeypatch):
    written = CapturingLogger()
    log = structlog.wrap_logger(
        written,
        processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
    )
    real = Match.reply

    def broken(match, *arguments):
        if match.spec.match_id == "m1" and match.state.year == 2:
            raise RuntimeError("seven hands")
        return real(match, *arguments)

    monkeypatch.setattr(Match, "reply", broken)
    async with referee_server(log=log) as server:
        a, b = await server.dial_all("ab", max_matches=2)
        bad, good, ended, _ = await together(
            server.referee.play(spec(match_id="m1")),
            server.referee.play(spec(match_id="m2")),
            play_bot(a, 2),
            play_bot(b, 2),
        )
    assert bad.void
    assert bad.ends == ()
    assert not good.void
    assert [(e.match_id, e.void) for e in ended] == [("m1", True), ("m2", False)]
    assert "seven hands" not in str(ended)
    assert ended[0].deal_secret == b""
    assert any("seven hands" in str(call) for call in written.calls), "the log has the traceback"


async def test_stopping_waits_for_the_open_decision_and_reports_what_was_cut():
    async with referee_server() as server:
        server.admit("a", "b", "c")
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec(match_id="m1")))
        decision = await a.until("decision")
        waiting = asyncio.create_task(server.referee.play(spec(3, match_id="m2")))
        await turns(1)
        stopping = asyncio.create_task(server.referee.stop(finish_s=5))
        await turns()
        assert not stopping.done()
        await a.answer(decision)
        assert await stopping == {
            "m2": "match m2: cut before it began",
            "m1": "match m1: cut in year 1 after 1 decisions",
        }
        for task, name in ((playing, "m1"), (waiting, "m2")):
            with pytest.raises(MatchCut, match=f"match {name}: cut"):
                await task
        for stream in (a, b):
            assert (await stream.until("match_ended")).void
            assert (await stream.expect("goodbye")).reason == "the referee is stopping"
            assert await stream.ending() == (grpc.StatusCode.OK, None)
        late = server.stream()
        await late.hello("token-c")
        assert await late.ending() == (grpc.StatusCode.UNAVAILABLE, "stopping")
        with pytest.raises(MatchCut):
            await server.referee.play(spec())


async def test_stopping_waits_no_longer_than_allowed():
    async with referee_server() as server:
        a, _ = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("decision")
        cut = await server.referee.stop(finish_s=0.05)
        assert cut == {"m1": "match m1: cut in year 1 after 0 decisions, while a had to decide"}
        with pytest.raises(MatchCut):
            await playing


async def test_stopping_does_not_wait_for_a_match_that_ends_meanwhile():
    async with referee_server() as server:
        a, _ = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("decision")
        stopping = asyncio.create_task(server.referee.stop(finish_s=3_600))
        await turns(1)
        server.referee.mark_lost("token-b", "exited with status 3")
        assert await stopping == {}
        assert (await playing).ends[1].detail == "exited with status 3"


async def test_a_cancelled_play_leaves_nothing_behind():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        commitment = (await a.until("match_started")).deal_commitment
        assert commitment == hashlib.sha256(spec().secret).digest()
        await a.until("decision")
        playing.cancel()
        assert (await a.until("match_ended")).void
        assert (await b.until("match_ended")).void
        record, *_ = await together(server.referee.play(spec()), play_bot(a), play_bot(b))
        assert not record.void
