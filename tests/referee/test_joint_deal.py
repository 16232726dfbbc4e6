"""Joint deals: every bot sends its nonce before the match begins, or forfeits."""

import asyncio
import hashlib
import random
from dataclasses import replace
from typing import Any

import grpc
import pytest

from asara.v1.play_pb2 import MatchEnded, Nonce, PlayResponse, Reply
from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.journal.replay import ReplayError
from asara_server.journal.resimulate import resimulated_steps
from asara_server.match import deal_secrets
from asara_server.match.spec import MatchSpec
from asara_server.referee.hosted import MatchCut
from tests.events import until
from tests.match.playouts import replay_of
from tests.referee.harness import Stream, play_bot, referee_server, spec, together

QUICK = Clocks(start_up_us=300_000, bank_us=5_000_000, reconnect_us=200_000)
SLOW = Clocks(start_up_us=20_000_000, bank_us=5_000_000)
ONE, TWO, THREE = b"1" * 32, b"2" * 32, b"3" * 32
REFUSED = (grpc.StatusCode.INVALID_ARGUMENT, "nonce")


def joint(seats: int = 2, clocks: Clocks = SLOW, match_id: str = "m1") -> MatchSpec:
    return replace(spec(seats, clocks=clocks, match_id=match_id), joint=True)


async def send_nonce(stream: Stream, nonce: bytes, match_id: str = "m1") -> None:
    await stream.send(nonce=Nonce(match_id=match_id, nonce=nonce))


async def answer(stream: Stream, nonce: bytes) -> Any:
    committed = await stream.expect("deal_committed")
    await send_nonce(stream, nonce, committed.match_id)
    return committed


async def play_and_keep(stream: Stream, nonce: bytes) -> list[PlayResponse]:
    """Play a joint match; return all responses."""
    rng, received = random.Random(1), []
    while True:
        received.append(response := await stream.read())
        kind = response.WhichOneof("response")
        if kind == "deal_committed":
            await stream.send(reply=Reply(match_id="m1", decision_id=1))  # too early, so ignored
            await send_nonce(stream, nonce)
        elif kind == "decision":
            legal = response.decision.legal_actions
            await stream.answer(response.decision, rng.choice(legal))
        elif kind == "match_ended":
            return received


async def test_a_joint_match_from_commitment_to_replay():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        record, *received = await together(
            server.referee.play(joint()), play_and_keep(a, ONE), play_and_keep(b, TWO)
        )
    replay = replay_of(record)
    match = replay.header.spec()
    secret = match.secret
    assert match.nonces == (ONE, TWO)
    assert match.deal_secret == deal_secrets.deal_secret(secret, (ONE, TWO)) != secret
    for seat, responses in enumerate(received):
        committed, started = responses[0].deal_committed, responses[1].match_started
        assert (committed.match_id, committed.seat) == ("m1", seat)
        assert committed.deal_commitment == hashlib.sha256(secret).digest()
        assert started.deal_commitment == committed.deal_commitment
        assert list(started.nonces) == [ONE, TWO]
        assert responses[-1].match_ended.deal_secret == secret
        digest = bytes(32)
        for response in responses:
            digest = hashlib.sha256(digest + response.SerializeToString()).digest()
        assert replay.digests[seat] == digest
    assert replay.header.nonces == (ONE, TWO)
    list(resimulated_steps(replay))
    for nonces, forged_secret in (
        ((TWO, ONE), secret),
        ((ONE, b""), secret),
        ((), secret),
        ((ONE, TWO), b"\1" * 32),
    ):
        header = replace(replay.header, nonces=nonces, deal_secret=forged_secret)
        with pytest.raises(ReplayError):
            list(resimulated_steps(replace(replay, header=header)))


async def test_no_bot_receives_a_nonce_before_it_has_sent_its_own():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(joint()))
        await answer(a, ONE)
        await b.expect("deal_committed")
        assert server.referee.running_matches() == []  # nothing to watch, either
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(b_next := asyncio.ensure_future(b.read())), 0.2)
        await send_nonce(b, TWO)
        assert list((await b_next).match_started.nonces) == [ONE, TWO]
        await together(play_bot(a), play_bot(b), playing)


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        ([bytes(31)], "a nonce of 31 bytes for match m1; it has 32"),
        ([bytes(33)], "a nonce of 33 bytes for match m1; it has 32"),
        ([TWO, ONE], "a second nonce for match m1"),
    ],
)
async def test_a_nonce_of_another_length_or_a_second_one_is_a_violation(
    sent: list[bytes], detail: str
):
    async with referee_server() as server:
        a, b, c = await server.dial_all("abc")
        playing = asyncio.create_task(server.referee.play(joint(3)))
        await answer(a, ONE)
        for nonce in sent:
            await send_nonce(b, nonce)
        assert await b.ending() == REFUSED
        await answer(c, THREE)
        record, _, _ = await together(playing, play_bot(a), play_bot(c))
        result = record.ends[1]
        assert (result.termination, result.detail) == (Termination.PROTOCOL_VIOLATION, detail)
        assert replay_of(record).header.nonces == (ONE, TWO if sent[1:] else b"", THREE)
        assert record.ends[0].termination is Termination.COMPLETED
        list(resimulated_steps(replay_of(record)))


async def test_a_nonce_that_was_not_asked_for_is_a_violation():
    async with referee_server() as server:
        a, _b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.expect("match_started")
        await send_nonce(a, ONE)
        assert await a.ending() == REFUSED
        assert (await playing).ends[0].detail == "match m1 asks for no nonce"


async def test_a_bot_without_a_nonce_never_started_and_a_late_nonce_is_ignored():
    async with referee_server() as server:
        a, b, c = await server.dial_all("abc")
        playing = asyncio.create_task(server.referee.play(joint(3, QUICK)))
        await answer(a, ONE)
        await answer(c, THREE)
        await b.expect("deal_committed")
        started = await a.expect("match_started")
        assert list(started.nonces) == [ONE, b"", THREE]
        await send_nonce(b, TWO)
        record, _, _ = await together(playing, play_bot(a), play_bot(c))
        never = record.ends[1]
        assert (never.rank, never.termination) == (3, Termination.NEVER_STARTED)
        assert never.detail == "sent no nonce within 0.3 s"
        assert server.referee.is_connected("token-b")
        # It has room for the next match, and plays it.
        again = asyncio.create_task(server.referee.play(joint(match_id="m2")))
        await together(answer(a, ONE), answer(b, TWO))
        record, _, _ = await together(again, play_bot(a), play_bot(b))
        assert record.ends[1].termination is Termination.COMPLETED


async def test_a_bot_that_never_dials_in_is_not_waited_for_twice():
    async with referee_server() as server:
        server.admit("a", "b", "c")
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(joint(3, QUICK)))
        await together(answer(a, ONE), answer(b, TWO))
        record, _, _ = await together(playing, play_bot(a), play_bot(b))
        assert record.ends[2].detail == "did not connect within 0.3 s"
        assert replay_of(record).header.nonces == (ONE, TWO, b"")


async def test_after_a_break_only_a_missing_nonce_is_asked_for_again():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(joint()))
        first = await a.expect("deal_committed")
        a.call.cancel()
        a = await server.dial("a")
        assert await answer(a, ONE) == first
        a.call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        a = await server.dial("a")
        assert (await answer(b, TWO)).seat == 1
        assert not (await a.expect("match_started")).resumed
        record, _, _ = await together(playing, play_bot(a), play_bot(b))
        assert replay_of(record).header.nonces == (ONE, TWO)
        assert record.ends[0].termination is Termination.COMPLETED


async def test_a_bot_that_disconnects_after_its_nonce_has_crashed():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(joint(clocks=QUICK)))
        await answer(a, ONE)
        await until(lambda: not server.referee.awaits("token-a"))
        a.call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        await answer(b, TWO)
        record = await playing
        assert record.ends[0].termination is Termination.CRASH
        assert replay_of(record).header.nonces == (ONE, TWO)


async def test_a_process_that_ends_is_not_waited_for():
    async with referee_server() as server:
        a, _b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(joint()))
        await answer(a, ONE)
        server.referee.mark_lost("token-b", "exited with status 3")
        result = (await playing).ends[1]
        assert (result.termination, result.detail) == (Termination.CRASH, "exited with status 3")


async def test_a_match_that_is_called_off_ends_void_for_its_bots():
    async with referee_server() as server:
        a, b = await server.dial_all("ab")
        playing = asyncio.create_task(server.referee.play(joint()))
        await answer(a, ONE)
        b.call.cancel()
        await until(lambda: not server.referee.is_connected("token-b"))
        (cut,) = (await server.referee.stop(finish_s=0)).values()
        assert "before it began" in cut
        assert await a.expect("match_ended") == MatchEnded(match_id="m1", void=True)
        with pytest.raises(MatchCut):
            await playing


async def test_a_bot_that_waits_for_others_nonces_has_no_room_for_another_match():
    async with referee_server() as server:
        a, b, c = await server.dial_all("abc")
        first = asyncio.create_task(server.referee.play(joint()))
        await answer(a, ONE)
        other = replace(spec(match_id="m2"), players=(joint(3).players[0], joint(3).players[2]))
        second = asyncio.create_task(server.referee.play(other))
        assert (await b.expect("deal_committed")).match_id == "m1"
        await send_nonce(b, TWO)
        assert (await a.expect("match_started")).match_id == "m1"
        record, _, _ = await together(first, play_bot(a), play_bot(b))
        assert not record.void
        await together(second, play_bot(a), play_bot(c))
