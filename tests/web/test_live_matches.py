"""Live matches: which messages a viewer gets, and how long a page follows the journal of a run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from asara.v1.watch_pb2 import WatchResponse
from asara_codec.wire_format import delimited, varint
from asara_server.journal.journal import Journal
from asara_server.journal.replay import ReplayHeader
from asara_server.journal.resimulate import resimulate
from asara_server.referee.stream_errors import StreamError
from asara_server.tournament.run.directory import JOURNAL
from asara_server.web import live_matches
from asara_server.web.live_matches import LiveMatch, LiveRun
from tests.events import EVENT_S, until
from tests.match.playouts import EVERYTHING, LIMITS, random_replay, record_bytes, replay_records
from tests.referee.harness import spec

REPLAY = random_replay(EVERYTHING, 3, seed=3)
HEADER, *RECORDS, RESULT = replay_records(REPLAY)


async def never() -> None:
    await asyncio.Event().wait()


def live_match(records: Iterable[bytes]) -> LiveMatch:
    """A running match, for which the clock ticks whenever somebody waits for it."""

    async def tick() -> None:
        live.tick()

    live = LiveMatch(REPLAY.header, tick)
    for record in records:
        live.add(record)
    return live


async def first(live: LiveMatch) -> WatchResponse:
    """Begin to watch a match, and leave after the first message."""
    watching = live.watch(0)
    try:
        return WatchResponse.FromString(await anext(watching))
    finally:
        await watching.aclose()


async def test_whoever_watches_alone_is_sent_the_table_as_it_is_now() -> None:
    live = live_match(())
    for start, end in ((0, 30), (30, 60)):
        for record in RECORDS[start:end]:
            live.add(record)
        match = resimulate(REPLAY.header.spec(), REPLAY.header.limits, REPLAY.records[:end])
        assert (await first(live)).started.match.sequence == match.feed.turn_ends[-1]
    assert live.watchers == 0


async def test_a_match_that_is_over_is_shown_without_a_tick() -> None:
    """Its program may have ended, and nobody may have watched before."""
    live = LiveMatch(REPLAY.header, never)
    for record in (*RECORDS, RESULT):
        live.add(record)
    live.end()
    responses = [WatchResponse.FromString(message) async for message in live.watch(0)]
    started, update, ended = responses
    assert started.started.match.sequence == update.update.sequence == len(update.update.events)
    assert [one.prestige for one in ended.ended.results] == [end.prestige for end in REPLAY.ends]
    assert not ended.ended.void


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(HEADER, id="a second header"),
        pytest.param(b"\xff", id="no record"),
        pytest.param(RECORDS[0], id="a record that the match does not make"),
    ],
)
async def test_a_record_that_cannot_be_ends_the_watch_and_is_not_quoted(record: bytes) -> None:
    live = live_match(RECORDS[:10])
    watching = live.watch(10**9)
    await anext(watching)
    live.add(record)
    with pytest.raises(StreamError) as raised:
        await anext(watching)
    assert raised.value.detail == "the match cannot be shown now; look at it when it is over"


# The matches of a run


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    """The journal of a run that is being played."""
    monkeypatch.setattr(live_matches, "known_holder", lambda _: 0)  # nobody sees his own lock
    monkeypatch.setattr(live_matches, "_READY_S", EVENT_S)
    with Journal(tmp_path / JOURNAL) as journal:
        yield journal


@asynccontextmanager
async def followed(journal: Journal) -> AsyncIterator[LiveRun]:
    run = LiveRun(journal.path.parent)
    try:
        yield run
    finally:
        await run.close()


def begin(journal: Journal, name: str, shared_deal: str = "") -> None:
    match = replace(spec(match_id=name), shared_deal=shared_deal)
    journal.begin(name, record_bytes(ReplayHeader.of(match, LIMITS, 0)))
    journal.commit()


async def found(run: LiveRun, name: str) -> LiveMatch:
    match = await run.find(name)
    assert match is not None
    return match


async def test_a_match_that_begins_anew_is_shown_once_and_its_watchers_are_told(
    journal: Journal,
) -> None:
    begin(journal, "m1")
    async with followed(journal) as run:
        watching = (await found(run, "m1")).watch(10**9)
        await anext(watching)
        begin(journal, "m1")
        with pytest.raises(StreamError, match="the match begins anew"):
            await anext(watching)
        assert [table["name"] for table in await run.tables()] == ["m1"]


def add_frame(journal: Journal, number: int, content: bytes) -> None:
    journal._added.append(varint(number) + delimited(content))
    journal.commit()


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda journal: journal.path.unlink(), id="it was deleted"),
        pytest.param(lambda journal: journal._file.append(bytes(8) + b"x" * 20), id="damaged"),
        pytest.param(lambda journal: add_frame(journal, 0, b"tea 1"), id="an unknown line"),
        pytest.param(lambda journal: add_frame(journal, 9, RECORDS[0]), id="no header"),
        pytest.param(lambda journal: add_frame(journal, 9, b"\xff"), id="no record"),
    ],
)
async def test_watchers_are_told_when_the_journal_cannot_be_followed(
    journal: Journal, end: Callable[[Journal], object]
) -> None:
    begin(journal, "m1")
    async with followed(journal) as run:
        watching = (await found(run, "m1")).watch(10**9)
        await anext(watching)
        end(journal)
        with pytest.raises(StreamError, match="try again"):
            await anext(watching)
        await until(lambda: len(asyncio.all_tasks()) == 1)  # nothing ticks any more


async def test_watchers_are_told_when_the_page_is_closed(journal: Journal) -> None:
    begin(journal, "m1")
    async with followed(journal) as run:
        watching = (await found(run, "m1")).watch(10**9)
        await anext(watching)
        await run.close()
        with pytest.raises(StreamError, match="try again"):
            await anext(watching)


async def test_the_latest_100_matches_are_listed_and_any_can_be_watched(journal: Journal) -> None:
    for number in range(103):
        begin(journal, f"m{number}")
    async with followed(journal) as run:
        names = [table["name"] for table in await run.tables()]
        assert names == [f"m{number}" for number in range(102, 2, -1)]
        assert (await found(run, "m0")).header.match_id == "m0"


async def test_the_last_64_matches_that_ended_can_be_watched_for_a_while(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        begin(journal, f"m{number}")
        journal.end(f"m{number}", "{}")
    async with followed(journal) as run:
        await run.tables()
        run._show_news()
        kept = [number for number in range(70) if await run.find(f"m{number}")]
        assert kept == list(range(6, 70))
        monkeypatch.setattr(live_matches, "_OVER_S", -1.0)
        run._show_news()
        assert await run.find("m69") is None


async def test_a_run_is_followed_while_somebody_watches_and_no_longer(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("m1", "m2"):
        begin(journal, name)
    async with followed(journal) as run:
        watching = (await found(run, "m1")).watch(0)
        await anext(watching)
        monkeypatch.setattr(live_matches, "_IDLE_S", 0.0)
        begin(journal, "m3")
        await until(lambda: len(run._running) == 3)
        assert run._reading is not None
        assert not run._reading.done()
        await watching.aclose()
        await until(run._reading.done)


async def test_a_run_that_nobody_plays_is_looked_at_once_a_second(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(live_matches, "known_holder", looks.append)  # None: no process holds it
    begin(journal, "m1")
    async with followed(journal) as run:
        for retry_s, expected in ((EVENT_S, 1), (EVENT_S, 1), (0.0, 2)):
            monkeypatch.setattr(live_matches, "_RETRY_S", retry_s)
            assert await run.tables() == []
            assert len(looks) == expected


async def test_if_the_run_cannot_be_read_no_match_with_a_shared_deal_is_shown(
    journal: Journal,
) -> None:
    """This journal does not say whether the bots of the run are contained."""
    begin(journal, "m1", shared_deal="block-1")
    async with followed(journal) as run:
        assert await run.tables() == [{"entries": ["a", "b"], "started_ms": 0}]
        assert await run.rows() == []
        assert await run.find("m1") is None


@pytest.mark.parametrize(
    ("running", "over", "seconds"), [(0, 0, 0.01), (30, 20, 0.01), (60, 40, 0.06)]
)
async def test_the_clock_ticks_20_times_a_second_or_sends_1000_messages(
    tmp_path: Path, running: int, over: int, seconds: float
) -> None:
    """The ticks are at multiples of 0.05 s, whenever the last one was over; or of 0.1 s."""
    run = LiveRun(tmp_path)
    run._running[1], run._over["m2"] = live_match(()), live_match(())
    run._running[1].watchers, run._over["m2"].watchers = running, over
    assert run.until_tick_s(12.34) == pytest.approx(seconds)
