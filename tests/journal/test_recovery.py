"""A restarted referee continues the matches of the one before it."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.journal.journal import Journal, JournalError
from asara_server.journal.record_codec import Results, Signature
from asara_server.journal.recovery import recover
from asara_server.journal.replay import ReplayHeader
from asara_server.journal.resimulate import resimulated_steps
from asara_server.journal.rows import split_frames
from asara_server.match.inputs import ForfeitRecord, ReopenRecord, ReplyRecord, StartRecord
from asara_server.match.spec import MatchRecord, MatchSpec
from asara_server.replay.file import parse_replay
from asara_server.replay.signing import SigningKey
from tests.events import EVENT_S
from tests.match.playouts import LIMITS, record_bytes, replay_bytes, replay_of
from tests.referee.harness import SECRET, RefereeServer, play_bot, referee_server, spec, together

PATIENT = Clocks(bank_us=5_000_000, increment_us=0, grace_us=0, reconnect_us=5_000_000)
QUICK = Clocks(start_up_us=200_000, bank_us=5_000_000, reconnect_us=200_000)


@asynccontextmanager
async def kept(path: Path) -> AsyncIterator[RefereeServer]:
    """A referee with a journal, which ends as by a kill: no bot forfeits."""
    journal = Journal(path / "run.journal")
    async with referee_server(journal=journal) as server:
        server.admit("a", "b")
        try:
            yield server
        finally:
            kill(journal)
    journal._added.clear()
    journal.close()


def kill(journal: Journal | None) -> None:
    """Let the journal take nothing more."""
    assert journal is not None
    os.dup2(os.open(os.devnull, os.O_RDONLY), journal._file.fileno())


async def play_some(folder: Path, match: MatchSpec, replies: int) -> None:
    """Play so many replies, and end the referee as by a kill."""
    async with kept(folder) as server:
        streams = {name: await server.dial(name) for name in "ab"}
        playing = asyncio.create_task(server.referee.play(match))
        decisions = {
            asyncio.create_task(stream.until("decision")): stream for stream in streams.values()
        }
        for _ in range(replies):
            done, _ = await asyncio.wait(decisions, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream = decisions.pop(task)
                await stream.answer(task.result())
                decisions[asyncio.create_task(stream.until("decision"))] = stream
        await asyncio.wait(decisions, return_when=asyncio.FIRST_COMPLETED)
        for task in decisions:
            task.cancel()
        kill(server.referee._host.journal)
        playing.cancel()


async def play_both(server: RefereeServer, match: MatchSpec) -> MatchRecord:
    """Play a match whose bots connect first."""
    a, b = await server.dial("a"), await server.dial("b")
    record: MatchRecord
    record, *_ = await together(
        server.referee.play(match), play_bot(a, seed=1), play_bot(b, seed=2)
    )
    return record


def check(record: MatchRecord) -> None:
    """The replay of a match that was reopened holds like any other."""
    assert not record.void
    kept_replay = replay_of(record)
    replay = parse_replay(replay_bytes(kept_replay, SigningKey.new()))
    assert replay == kept_replay
    for _ in resimulated_steps(replay):
        pass
    assert sum(isinstance(each, ReopenRecord) for each in replay.records) == 1


async def test_bots_that_come_back_play_on_at_the_same_decision_with_the_same_clock(tmp_path):
    match = spec(clocks=PATIENT)
    await play_some(tmp_path, match, replies=7)
    async with kept(tmp_path) as server:
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(match))
        first = asyncio.create_task(a.read())
        second = asyncio.create_task(b.read())
        [told], [waiting] = await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        asked, other = (a, b) if told is first else (b, a)
        waiting.cancel()
        assert told.result().match_started.resumed
        decision = await asked.expect("decision")
        [hosted] = server.referee.running_matches()
        assert hosted.match is not None
        replies = [each for each in hosted.match.records if isinstance(each, ReplyRecord)]
        last = replies[-1]
        reopened = next(each for each in hosted.match.records if isinstance(each, ReopenRecord))
        assert reopened.time_us == last.time_us + last.referee_us
        took_us = sum(each.bot_us for each in replies if each.seat == hosted.match.asked)
        assert decision.clock_us == 5_000_000 - took_us - last.referee_us
        other = await server.dial("b" if other is b else "a")  # its read was cancelled
        await asked.answer(decision)
        record, *_ = await together(playing, play_bot(asked, seed=1), play_bot(other, seed=2))
        check(record)
        assert record.duration_us < 5_000_000


async def test_a_match_that_was_over_is_told_without_its_bots(tmp_path):
    match = spec()
    async with kept(tmp_path) as server:
        record = await play_both(server, match)
    async with kept(tmp_path) as server:
        again = await server.referee.play(match)
    assert (again.records, again.ends) == (record.records, record.ends)
    assert again.started_unix_ms == record.started_unix_ms


async def test_bots_that_do_not_come_back_have_crashed(tmp_path):
    match = spec(clocks=QUICK)
    await play_some(tmp_path, match, replies=3)
    async with kept(tmp_path) as server:
        b = await server.dial("b")
        record, _ = await together(server.referee.play(match), play_bot(b))
    assert [result.termination for result in record.ends] == [
        Termination.CRASH,
        Termination.COMPLETED,
    ]
    check(record)


async def test_a_bot_that_is_gone_for_good_forfeits_at_once(tmp_path):
    match = spec()
    await play_some(tmp_path, match, replies=3)
    async with kept(tmp_path) as server:
        b = await server.dial("b")
        server.referee.mark_lost("token-a", "could not be started")
        record, _ = await together(server.referee.play(match), play_bot(b))
    assert record.ends[0].detail == "could not be started"
    assert isinstance(replay_of(record).records[-1], ForfeitRecord)
    check(record)


async def test_a_stop_leaves_a_match_to_be_gone_on_with(tmp_path):
    match = spec(clocks=Clocks(reconnect_us=0))
    async with kept(tmp_path) as server:
        a = await server.dial("a")
        await server.dial("b")
        playing = asyncio.create_task(server.referee.play(match))
        await a.until("match_started")
        [cut] = (await server.referee.stop(finish_s=0)).values()
        assert "cut in year 1" in cut
        assert (await a.until("match_ended")).void
        with pytest.raises(Exception, match="cut in year 1"):
            await playing
    async with kept(tmp_path) as server:
        record = await play_both(server, match)
    check(record)


async def test_another_match_of_the_same_name_is_refused(tmp_path):
    await play_some(tmp_path, spec(), replies=1)
    async with kept(tmp_path) as server:
        with pytest.raises(JournalError, match="m1 has other entries or another deal"):
            await server.referee.play(spec(secret=SECRET[::-1]))


HEADER = record_bytes(ReplayHeader.of(spec(), LIMITS, 0))
START = record_bytes(StartRecord((), ()))


@pytest.mark.parametrize(
    ("records", "fault"),
    [
        ((), "record 1: the header is missing"),
        ((b"\xff",), "record 1: not a serialized ReplayRecord"),
        ((START,), "record 1: no record of this kind has its place here"),
        ((HEADER, START, b"\xff"), "record 3: not a serialized ReplayRecord"),
        ((HEADER, HEADER), "record 2: no record of this kind has its place here"),
        ((HEADER, record_bytes(Results((), ()))), "record 2: no record of this kind"),
        ((HEADER, record_bytes(Signature(bytes(32), bytes(64)))), "record 2: no record of"),
    ],
)
def test_records_that_cannot_be_are_refused_with_their_place(
    tmp_path: Path, records: tuple[bytes, ...], fault: str
) -> None:
    with Journal(tmp_path / "run.journal") as journal:
        journal.unfinished["m1"] = records
        with pytest.raises(JournalError, match=rf"run.journal: match m1: {fault}"):
            recover(journal, spec())


async def test_records_that_do_not_hold_void_the_match(tmp_path):
    match = spec(clocks=QUICK)
    await play_some(tmp_path, match, replies=3)
    with Journal(tmp_path / "run.journal") as journal:
        journal.add("m1", journal.unfinished["m1"][2])  # a second time
    async with kept(tmp_path) as server:
        assert (await server.referee.play(match)).void


@pytest.mark.sources_only
async def test_everything_is_committed_before_it_is_told(tmp_path, monkeypatch):
    """Whatever a stream is given, the journal on the disk leads to it."""
    really_commit = Journal.commit
    committed: list[bytes] = []
    ahead: list[str] = []

    def added(journal: Journal) -> Iterator[tuple[int, bytes]]:
        return split_frames(b"".join(journal._added))

    def commit(self: Journal) -> None:
        committed.extend(record for number, record in added(self) if number)
        really_commit(self)

    monkeypatch.setattr(Journal, "commit", commit)
    async with kept(tmp_path) as server:
        a, b = await server.dial("a"), await server.dial("b")
        assert len(server.referee._bots) == 2
        for bot in server.referee._bots.values():
            session = bot.session
            assert session is not None
            really_send = session.send

            def send(message: bytes, really_send=really_send) -> None:
                [hosted] = server.referee._host.by_id.values() or [None]
                made = 0 if hosted is None or hosted.match is None else len(hosted.match.records)
                if made and len(committed) != 1 + made:
                    ahead.append(f"{len(committed)} of {1 + made}")
                really_send(message)

            monkeypatch.setattr(session, "send", send)
        record, *_ = await together(
            server.referee.play(spec()), play_bot(a, seed=1), play_bot(b, seed=2)
        )
    assert tuple(committed) == record.records[:-1]
    assert len(committed) > 50
    assert not ahead


async def test_where_the_journal_fails_nothing_more_is_told(tmp_path):
    async with kept(tmp_path) as server:
        a, b = await server.dial("a"), await server.dial("b")
        playing = asyncio.create_task(server.referee.play(spec()))
        decision = await asyncio.wait_for(asyncio.create_task(_first_decision(a, b)), EVENT_S)
        journal = server.referee._host.journal
        assert journal is not None
        os.dup2(os.open("/dev/full", os.O_WRONLY), journal._file.fileno())
        stream, asked = decision
        await stream.answer(asked)
        with pytest.raises(JournalError, match="the disk is full"):
            await playing
        assert await stream.silent()
        with pytest.raises(JournalError, match="the disk is full"):
            await server.referee.play(spec(match_id="m2"))


async def _first_decision(a, b):
    tasks = {asyncio.create_task(s.until("decision")): s for s in (a, b)}
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    [task] = done
    return tasks[task], task.result()
