import asyncio
import os
import socket
import stat
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from asara_server.eventlog.journal import Journal, JournalError
from asara_server.eventlog.record_codec import record_bytes, record_from_bytes
from asara_server.eventlog.replay import ReplayHeader
from asara_server.eventlog.resimulate import resimulate
from asara_server.network import live_feed as live_feed_module
from asara_server.network.live_feed import GREETING, LENGTH, LiveFeedError, live_feed, open_feed
from asara_server.network.live_file import LIVE_FILE, LiveFile
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from tests.events import EVENT_S, turns, until
from tests.referee.harness import play_bot, referee_server, spec, together


def feed_of(folder: Path) -> LiveFile:
    """Return the content of the folder's live.json."""
    live = LiveFile.read(folder)
    assert live is not None
    return live


class Reader:
    """What a reader has received: records by match, and the numbers of matches that are over."""

    def __init__(self):
        self.records: dict[int, list[bytes]] = {}
        self.over: set[int] = set()

    async def read(self, folder):
        """Read to the end of the feed."""
        with pytest.raises(LiveFeedError, match="the feed has ended"):
            await self._read(feed_of(folder).socket)

    async def _read(self, path):
        async with open_feed(path) as batches:
            async for batch in batches:
                for number, record in batch:
                    if record:
                        self.records.setdefault(number, []).append(record)
                    else:
                        self.over.add(number)

    @property
    def headers(self):
        return [self.header(number) for number in self.records]

    def header(self, number):
        header = record_from_bytes(self.records[number][0])
        assert isinstance(header, ReplayHeader)
        return header

    def match(self, number=1):
        """The match of this number, simulated again."""
        header = self.header(number)
        records: list[Any] = list(map(record_from_bytes, self.records[number][1:]))
        return resimulate(header.spec(), header.limits(), records)


async def play_slowly(stream):
    """Play a match in which every decision takes a few milliseconds."""
    while (response := await stream.read()).WhichOneof("response") != "match_ended":
        if response.HasField("decision"):
            await turns()
            await stream.answer(response.decision)


@asynccontextmanager
async def fed_referee(tmp_path, *, journal=False):
    """A referee with a live feed and the connected bots a and b."""
    opened = Journal(tmp_path / "run.journal") if journal else None
    async with (
        referee_server(LimitSettings(), journal=opened) as server,
        live_feed(server.referee, tmp_path),
    ):
        server.admit("a", "b")
        a, b = [await server.dial(name, max_matches=64) for name in "ab"]
        yield server, a, b
    if opened is not None:
        opened.close()


@pytest.mark.parametrize("journal", [False, True])
async def test_a_reader_receives_every_record_of_a_match(tmp_path, journal):
    async with fed_referee(tmp_path, journal=journal) as (server, a, b):
        reader = Reader()
        reading = asyncio.create_task(reader.read(tmp_path))
        playing = asyncio.create_task(server.referee.play(spec()))
        await together(play_bot(a), play_bot(b))
        record = await playing
        await until(lambda: reader.over)
    await reading
    [header] = reader.headers
    assert header.match_id == "m1"
    assert header.deal_secret == record.spec.secret
    assert reader.records[1][1:] == [record_bytes(each) for each in record.records]
    assert reader.match().results == record.results
    assert reader.over == {1}


async def test_a_record_is_encoded_once_for_journal_and_readers(tmp_path, monkeypatch):
    encoded = []

    def counted(record):
        encoded.append(record)
        return record_bytes(record)

    monkeypatch.setattr(live_feed_module, "record_bytes", counted)
    async with fed_referee(tmp_path, journal=True) as (server, a, b):
        reader = Reader()
        reading = asyncio.create_task(reader.read(tmp_path))
        playing = asyncio.create_task(server.referee.play(spec()))
        await until(lambda: reader.records)
        before = len(encoded)
        await together(play_slowly(a), play_slowly(b))
        record = await playing
        await until(lambda: reader.over)
    await reading
    assert len(encoded) == before < 10
    assert len(reader.records[1]) == 1 + len(record.records)


async def test_a_reader_that_comes_late_receives_the_beginning_too(tmp_path):
    async with fed_referee(tmp_path) as (server, a, b):
        playing = asyncio.create_task(server.referee.play(spec()))
        bots = [asyncio.create_task(play_slowly(each)) for each in (a, b)]
        early, late = Reader(), Reader()
        reading = [asyncio.create_task(early.read(tmp_path))]
        await until(lambda: early.records and len(early.records[1]) > 20)
        reading.append(asyncio.create_task(late.read(tmp_path)))
        await asyncio.gather(*bots)
        record = await playing
        await until(lambda: early.over)
        assert late.over
    await asyncio.gather(*reading)
    for reader in (early, late):
        for number, records in reader.records.items():
            assert records[1:] == [record_bytes(each) for each in record.records]
            assert reader.match(number).finished


async def test_matches_side_by_side_are_told_apart(tmp_path):
    async with fed_referee(tmp_path) as (server, a, b):
        reader = Reader()
        reading = asyncio.create_task(reader.read(tmp_path))
        names = [f"m{number}" for number in range(6)]
        playing = [asyncio.create_task(server.referee.play(spec(match_id=name))) for name in names]
        await together(play_bot(a, matches=6), play_bot(b, matches=6))
        records = {each.spec.match_id: each for each in await asyncio.gather(*playing)}
        await until(lambda: len(reader.over) == 6)
    await reading
    for header, held in zip(reader.headers, reader.records.values(), strict=True):
        assert held[1:] == [record_bytes(each) for each in records[header.match_id].records]
    assert len(reader.headers) == 6


async def test_a_match_that_is_cut_ends_in_the_feed(tmp_path):
    async with fed_referee(tmp_path) as (server, a, _):
        reader = Reader()
        reading = asyncio.create_task(reader.read(tmp_path))
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("decision")
        await until(lambda: reader.records)
        assert not reader.over
        playing.cancel()
        await until(lambda: reader.over)
        assert not reader.match().finished
    await reading


async def test_a_reader_is_sent_nothing_that_the_journal_does_not_hold(tmp_path):
    async with fed_referee(tmp_path, journal=True) as (server, a, _):
        reader = Reader()
        reading = asyncio.create_task(reader.read(tmp_path))
        playing = asyncio.create_task(server.referee.play(spec()))
        first = await a.until("decision")
        await until(lambda: reader.records)
        held = len(reader.records[1])
        journal = server.referee._matches._commits.journal
        journal._failed = "the disk is full"
        await a.answer(first)
        with pytest.raises(JournalError, match="the disk is full"):
            await playing
        await until(lambda: reader.over)
        assert len(reader.records[1]) == held
        journal._failed = None
    await reading


# Nothing happens while nobody reads


async def test_without_a_reader_nothing_runs(tmp_path, monkeypatch):
    called = []

    def noted(self):
        called.append(self)
        return iter(())

    monkeypatch.setattr(Referee, "flushed_matches", noted)
    async with fed_referee(tmp_path) as (server, _, _):
        await turns()
        assert not called
        assert server.referee._matches.on_over is None
        async with open_feed(feed_of(tmp_path).socket):
            await until(lambda: called)
            assert server.referee._matches.on_over is not None
        await until(lambda: server.referee._matches.on_over is None)
        await turns()
        calls = len(called)
        await turns()
        assert len(called) == calls


@pytest.mark.long
async def test_a_slow_reader_is_disconnected_and_delays_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(live_feed_module, "_MOST_UNREAD", 10_000)
    async with fed_referee(tmp_path) as (server, a, b):
        stream, writer = await asyncio.open_unix_connection(feed_of(tmp_path).socket, limit=1)
        writer.get_extra_info("socket").setsockopt(1, 8, 1)  # the smallest buffer there is
        transport: Any = writer.transport
        transport.pause_reading()
        quick = Reader()
        reading = asyncio.create_task(quick.read(tmp_path))
        playing = [
            asyncio.create_task(server.referee.play(spec(match_id=f"m{number}", rule_sets="pro")))
            for number in range(40)
        ]
        await together(play_bot(a, matches=40), play_bot(b, matches=40))
        assert len(await asyncio.gather(*playing)) == 40
        await until(lambda: len(quick.over) == 40)
        transport.resume_reading()
        data = await asyncio.wait_for(stream.read(), EVENT_S)
        assert len(data) < sum(len(each) for held in quick.records.values() for each in held)
        writer.close()
    await reading


async def test_readers_are_limited(tmp_path):
    async with fed_referee(tmp_path):
        path = feed_of(tmp_path).socket
        readers = [await asyncio.open_unix_connection(path) for _ in range(9)]
        greeting = LENGTH.pack(len(GREETING)) + GREETING
        for stream, _ in readers[:8]:
            assert await stream.readexactly(len(greeting)) == greeting
        assert await readers[8][0].read() == b""
        for _, writer in readers:
            writer.close()


async def test_what_a_reader_sends_ends_its_connection(tmp_path):
    async with fed_referee(tmp_path):
        stream, writer = await asyncio.open_unix_connection(feed_of(tmp_path).socket)
        writer.write(b"GET / HTTP/1.1\r\n\r\n" * 1000)
        await asyncio.wait_for(stream.read(), EVENT_S)
        writer.close()


# The file and the socket


async def test_only_the_owner_can_open_the_socket(tmp_path):
    async with fed_referee(tmp_path):
        live = feed_of(tmp_path)
        assert live.process == os.getpid()
        assert stat.S_IMODE(live.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / LIVE_FILE).stat().st_mode) == 0o600


async def test_the_file_and_the_socket_are_gone_in_the_end(tmp_path):
    async with fed_referee(tmp_path):
        path = feed_of(tmp_path).socket
    assert not path.parent.exists()
    assert LiveFile.read(tmp_path) is None


async def test_a_feed_of_a_killed_program_is_recognised(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "live"))  # the file stays when the socket is closed
    LiveFile.write(tmp_path, tmp_path / "live")
    with pytest.raises(LiveFeedError, match="Connection refused"):
        async with open_feed(feed_of(tmp_path).socket):
            pass


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"socket": 5, "process": 1}', b"\xff", b"[" * 50_000, b'{"socket": "x"}'],
)
def test_a_damaged_file_is_none(tmp_path, content):
    (tmp_path / LIVE_FILE).write_bytes(content)
    assert LiveFile.read(tmp_path) is None


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (b"", "the feed has ended"),
        (b"HTTP/1.1 200 OK\r\n", "the feed is damaged"),
        (LENGTH.pack(12) + b"asara live 9", "another version"),
        (LENGTH.pack(12) + GREETING + LENGTH.pack(2**31), "a batch is too long"),
        (LENGTH.pack(12) + GREETING + LENGTH.pack(3) + b"\x01\x09x", "cut short"),
        (LENGTH.pack(12) + GREETING + LENGTH.pack(3) + b"\x01", "the feed has ended"),
    ],
)
async def test_what_is_no_feed_is_refused(tmp_path, sent, fault):
    async def serve(_, writer):
        writer.write(sent)
        writer.close()

    async with await asyncio.start_unix_server(serve, tmp_path / "live"):
        with pytest.raises(LiveFeedError, match=fault):
            await Reader()._read(tmp_path / "live")


async def test_without_room_for_a_socket_matches_are_played_without_a_feed(tmp_path, monkeypatch):
    monkeypatch.setattr(live_feed_module, "socket_parent", lambda: str(tmp_path / "missing"))
    async with fed_referee(tmp_path) as (server, a, b):
        playing = asyncio.create_task(server.referee.play(spec()))
        await together(play_bot(a), play_bot(b))
        assert (await playing).results
    assert LiveFile.read(tmp_path) is None
