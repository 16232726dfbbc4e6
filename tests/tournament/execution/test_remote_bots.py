"""Whole runs with entries on other machines: admission, waiting, and what bots learn."""

import asyncio
import io
from pathlib import Path

import grpc
import pytest

from asara.v1.play_pb2 import MatchStarted
from asara_codec.results import Termination
from asara_server.logs import configure
from asara_server.referee.referee import Referee
from asara_server.tournament.config.token_store import new_token, revoke_token, sha256_of
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.match_runner import MatchQueue
from asara_server.tournament.execution.remote_bots import RemoteBots
from asara_server.tournament.run.directory import RunDirectory, read_remote
from asara_server.tournament.run.read_run import read_run
from asara_server.tournament.schedule.schedule import Attempt
from asara_server.tournament.standings.match_result import MatchResult
from tests.events import turns, until
from tests.referee.harness import Stream, play_bot, together
from tests.tournament.remote_bots import Clock, Run, running, write_cup
from tests.tournament.runs import matches_at
from tests.tournament.sample_bots import HEADER

HERE = {"ann": "here", "cid": "here"}
UNKNOWN = (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def play_all(stream: Stream) -> list[str]:
    """Play until the referee says goodbye; return the matches that ended for the bot."""
    return [ended.match_id for ended in await play_bot(stream, matches=10**9)]


def names(result: MatchResult) -> list[str]:
    """Entries of a match, by seat."""
    return [line.entry for line in result.seats]


def held_in(folder: Path, text: str) -> bool:
    """True if a file in the folder contains this text."""
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def results(run: Run, number: int) -> None:
    """Wait until this number of matches are over."""
    await until(lambda: len(run.results) >= number)


def states(folder: Path) -> dict[str, str]:
    """States of the bots on other machines, as the run in this folder reports them."""
    info = read_remote(folder)
    return {name: entry.state for name, entry in info.entries.items()} if info else {}


async def test_bots_from_elsewhere_play_a_whole_run_and_no_token_is_left(tmp_path: Path) -> None:
    log = io.StringIO()
    configure("debug", log)
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "rounds = 2\n")
    async with running(file) as run:
        streams = [await run.dial(token) for token in tokens.values()]
        end, *played = await together(run.end(), *map(play_all, streams))
    assert end.standings.complete
    assert not any(result.forfeits for result in end.results)
    assert [len(matches) for matches in played] == [4, 4]
    for token in tokens.values():
        assert not held_in(tmp_path, token)
        assert not held_in(tmp_path / "run", sha256_of(token))
        assert token not in log.getvalue()
        assert sha256_of(token) not in log.getvalue()
    out = tmp_path / "run"
    assert read_run(out).info.remote == ("ann", "bob")
    assert read_remote(out) is None


async def test_matches_that_can_begin_do_not_wait_for_a_bot_that_is_not_there(
    tmp_path: Path, clock: Clock
) -> None:
    header = HEADER.replace("seats = 2", "seats = [2, 3]") + "jobs = 1\n"
    file, tokens = write_cup(tmp_path, ("bob", "ann", "cid"), header)
    async with running(file) as run:
        ann, cid = await run.dial(tokens["ann"]), await run.dial(tokens["cid"])
        playing = asyncio.create_task(together(play_all(ann), play_all(cid)))
        await results(run, 2)
        assert not any("bob" in names(result) for result in run.results)
        assert run.runner.executor.awaited == ["bob"]
        await until(lambda: states(tmp_path / "run") == HERE | {"bob": "awaited"})
        clock.pass_time(600)
        await results(run, 3)
        bob = await run.dial(tokens["bob"])  # which plays from its next match on
        end, *_ = await together(run.end(), play_all(bob), playing)
    late = [result for result in end.results if "bob" in names(result)]
    assert len(late) == 4 + 3
    assert late[-1].forfeits == ()
    missed = [line for result in late for line in result.forfeits]
    assert missed
    for line in missed:
        assert line.entry == "bob"
        assert line.termination is Termination.MISSED
        assert line.detail == "did not connect within 600 s"
    assert end.out == {}


async def test_a_match_whose_entries_play_no_other_comes_first() -> None:
    """Otherwise an entry would need another process."""
    matches = matches_at(("ann", "x"), ("bob", "x"), ("bob", "y"), ("cid", "x"), ("ann", "y"))
    pending = [Attempt(match, 1) for match in matches]
    queue = MatchQueue(pending, RemoteBots(Referee(), (), None), asyncio.Event())
    given = [(await anext(queue)).match.match_id for _ in range(3)]
    assert given == ["m0", "m2", "m1"]
    queue.finish_match(matches[2])
    queue.finish_match(matches[0])
    assert [(await anext(queue)).match.match_id for _ in range(2)] == ["m4", "m3"]


FULL, OURS = OSError(28, "No space left on device"), ValueError("a fault of ours")


@pytest.mark.parametrize("error", [FULL, OURS], ids=["full disk", "our fault"])
async def test_only_a_fault_of_ours_in_looking_after_bots_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(RunDirectory, "write_remote", fail)
    file, tokens = write_cup(tmp_path, ("ann", "bob"))
    async with running(file) as run:
        if error is OURS:
            with pytest.raises(ValueError, match="a fault of ours"):
                await run.end()
            return
        streams = [await run.dial(token) for token in tokens.values()]
        end, *_ = await together(run.end(), *map(play_all, streams))
    assert end.standings.complete


async def test_a_bot_plays_no_more_matches_at_once_than_the_file_says(tmp_path: Path) -> None:
    header = HEADER + "jobs = 8\nrounds = 4\n"
    file, tokens = write_cup(tmp_path, ("ann", "bob"), header, jobs_per_bot=3)
    most = 0

    async def count(stream: Stream) -> None:
        nonlocal most
        here: set[str] = set()
        while (response := await stream.read()).WhichOneof("response") != "goodbye":
            match response.WhichOneof("response"):
                case "match_started":
                    here.add(response.match_started.match_id)
                case "match_ended":
                    here.remove(response.match_ended.match_id)
                case "decision":
                    await stream.answer(response.decision)
            most = max(most, len(here))

    async with running(file) as run:
        streams = [await run.dial(token, max_matches=50) for token in tokens.values()]
        end, *_ = await together(run.end(), *map(count, streams))
    assert end.standings.complete
    assert most == 3


async def test_a_match_of_a_bot_that_plays_as_many_as_it_can_waits_for_another_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it began, it would keep another match from being played."""
    cup = load_tournament(write_cup(tmp_path, ("ann", "bob"))[0])
    monkeypatch.setattr(Referee, "match_capacity", lambda referee, key: 2)
    bots = RemoteBots(Referee(), cup.entries, cup.remote)
    for bot in bots:
        bot.set_connected(True, 0.0)
    bots.begin_match(["ann", "bob"])
    assert bots.unavailable_entries() == set()
    bots.begin_match(["ann", "cid"])
    assert bots.unavailable_entries() == {"ann"}
    bots.finish_match(["ann", "bob"])
    assert bots.unavailable_entries() == set()


async def test_no_bot_that_sees_several_matches_is_given_one_deal_twice(tmp_path: Path) -> None:
    header = HEADER.replace("independent", "mirrored") + "jobs = 2\n"
    file, tokens = write_cup(tmp_path, ("ann", "bob"), header)
    async with running(file) as run:
        ann = await run.dial(tokens["ann"], max_matches=2)
        bob = await run.dial(tokens["bob"], max_matches=2)
        other = asyncio.create_task(play_all(bob))
        started: list[MatchStarted] = []
        while len(started) < 2:
            started.append(await ann.until("match_started"))
        assert not any(match.shared_deal for match in started)
        assert len({match.deal_commitment for match in started}) == 2
        other.cancel()


async def test_who_has_no_token_of_this_tournament_does_not_get_in(tmp_path: Path) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"))
    other = new_token(tmp_path / "tokens.json", "of another cup")
    revoke_token(tmp_path / "tokens.json", "bob")
    new_token(tmp_path / "tokens.json", "bob")
    async with running(file) as run:
        for token in ("", "x", "from elsewhere: ann", sha256_of(tokens["ann"]), other):
            assert await run.refused(token) == UNKNOWN
        assert await run.refused(tokens["bob"]) == UNKNOWN  # the new one is another
        without_tls = await run.call(tls=False)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await say_hello(without_tls, tokens["ann"])
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        await run.dial(tokens["ann"])


async def say_hello(stream: Stream, token: str) -> None:
    await stream.hello(token)
    await stream.read()


@pytest.mark.parametrize("again", [True, False], ids=["new token", "none"])
async def test_a_token_that_is_revoked_ends_its_stream_and_only_a_new_one_lets_in_again(
    tmp_path: Path, clock: Clock, again: bool
) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "jobs = 1\n", wait_s=60)
    kept = tmp_path / "tokens.json"
    async with running(file) as run:
        ann, bob = await run.dial(tokens["ann"]), await run.dial(tokens["bob"])
        await ann.until("match_started")
        revoke_token(kept, "ann")
        assert (await ann.until("goodbye")).reason == "its token was revoked"
        assert await run.refused(tokens["ann"]) == UNKNOWN
        await results(run, 1)
        (line,) = run.results[0].forfeits
        assert (line.entry, line.termination, line.detail) == (
            "ann",
            Termination.CRASH,
            "dismissed: its token was revoked",
        )
        assert run.runner.executor.awaited == ["ann"]
        players = [bob]
        if again:
            players.append(await run.dial(new_token(kept, "ann")))
        else:
            clock.pass_time(60)
        end, *_ = await together(run.end(), *map(play_all, players))
    missed = "its token was revoked, and it did not connect with another within 60 s"
    assert [(line.termination, line.detail) for line in end.results[1].forfeits] == (
        [] if again else [(Termination.MISSED, missed)]
    )


@pytest.mark.parametrize("what", ["garbage", "nothing", "no file"])
async def test_a_file_of_tokens_that_is_damaged_meanwhile_costs_nobody_a_match(
    tmp_path: Path, what: str
) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"))
    kept = tmp_path / "tokens.json"
    async with running(file) as run:
        ann = await run.dial(tokens["ann"])
        if what == "no file":
            kept.unlink()
        else:
            kept.write_text("garbage" if what == "garbage" else "")
        assert await run.refused("x") == UNKNOWN
        bob = await run.dial(tokens["bob"])
        end, *_ = await together(run.end(), play_all(ann), play_all(bob))
    assert [result.forfeits for result in end.results] == [(), ()]
    assert not kept.exists() or kept.read_text() in {"garbage", ""}


async def test_a_bot_that_stays_away_forfeits_its_match_and_is_waited_for_in_the_next(
    tmp_path: Path, clock: Clock
) -> None:
    clocks = "[clocks]\nreconnect_s = 0.1\n"
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "jobs = 1\n", clocks)
    async with running(file) as run:
        ann, bob = await run.dial(tokens["ann"]), await run.dial(tokens["bob"])
        await ann.until("match_started")
        ann.call.cancel()
        await results(run, 1)
        (line,) = run.results[0].forfeits
        assert (line.entry, line.termination) == ("ann", Termination.CRASH)
        clock.pass_time(599)
        await turns()
        assert len(run.results) == 1
        clock.pass_time(1)
        end, _ = await together(run.end(), play_all(bob))
    (line,) = end.results[1].forfeits
    assert (line.termination, line.detail) == (
        Termination.MISSED,
        "went away and did not connect again within 600 s",
    )


async def test_a_run_that_waits_for_a_bot_stops_when_told(tmp_path: Path) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"))
    async with running(file) as run:
        ann = await run.dial(tokens["ann"])
        run.runner.stop()
        end = await run.end()
        assert (await ann.expect("goodbye")).reason == "the referee is stopping"
    assert not end.standings.complete
    assert end.results == ()


async def test_a_run_that_is_resumed_waits_for_its_bots_and_goes_on(tmp_path: Path) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "jobs = 1\n")
    begun = await stopped_in_a_match(file, tokens)
    assert not any(held_in(tmp_path, token) for token in tokens.values())
    async with running(file, resume=True) as run:
        bob = await run.dial(tokens["bob"])
        ann = await run.dial(tokens["ann"])
        resumed = await ann.until("match_started")
        assert (resumed.match_id, resumed.resumed) == (begun, True)
        end, *_ = await together(run.end(), play_all(ann), play_all(bob))
    assert end.standings.complete
    assert not any(result.forfeits for result in end.results)


async def test_a_begun_match_is_forfeited_by_who_does_not_come_to_go_on_with_it(
    tmp_path: Path, clock: Clock
) -> None:
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "jobs = 1\n")
    await stopped_in_a_match(file, tokens)
    async with running(file, resume=True) as run:
        bob = await run.dial(tokens["bob"])
        clock.pass_time(600)
        end, _ = await together(run.end(), play_all(bob))
    ends = [(line.entry, line.termination) for result in end.results for line in result.forfeits]
    assert ends == [("ann", Termination.CRASH), ("ann", Termination.MISSED)]


async def stopped_in_a_match(file: Path, tokens: dict[str, str]) -> str:
    """Stop a run during a match; return the name of the match."""
    async with running(file) as run:
        ann, bob = await run.dial(tokens["ann"]), await run.dial(tokens["bob"])
        begun = (await ann.until("match_started")).match_id
        asked = [asyncio.create_task(bot.until("decision")) for bot in (ann, bob)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        bot, decision = next(
            (bot, task.result()) for bot, task in zip((ann, bob), asked, strict=True) if task.done()
        )
        run.runner.stop()
        await bot.answer(decision)
        end = await run.end()
        for task in asked:
            task.cancel()
        assert len(end.unfinished) == 1
    return str(begun)


async def test_an_entry_that_is_suspended_is_not_waited_for(tmp_path: Path) -> None:
    limits = "[limits]\nsuspend_share = 0\nsuspend_after = 1\n[clocks]\nreconnect_s = 0.1\n"
    file, tokens = write_cup(tmp_path, ("ann", "bob"), HEADER + "jobs = 1\n", limits)
    async with running(file) as run:
        ann, bob = await run.dial(tokens["ann"]), await run.dial(tokens["bob"])
        await ann.until("match_started")
        ann.call.cancel()
        end, _ = await together(run.end(), play_all(bob))
    assert set(end.suspended) == {"ann"}
    assert end.results[1].forfeits[0].detail == end.suspended["ann"]
