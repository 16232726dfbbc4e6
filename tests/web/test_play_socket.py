"""The WebSocket for bots and people: to the referee, it is a stream like any other."""

import asyncio

import pytest
from websockets.exceptions import ConnectionClosed

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.referee.limits import LimitSettings
from asara_server.web.settings import WebLimits, WebSettings
from tests.events import turns, until
from tests.referee import test_faults as faults
from tests.referee import test_referee as referee
from tests.referee.harness import play_bot, spec
from tests.sizes import others_long
from tests.web.play_pipe import WebStream, serving, web_referee_server

# The referee's own tests, which know nothing of WebSockets.
CASES = [
    faults.test_requests_that_answer_nothing_are_ignored_and_answers_are_not_counted,
    faults.test_a_violation_costs_all_running_matches_but_not_the_next_one,
    faults.test_unknown_tokens_are_refused,
    faults.test_what_does_not_begin_with_hello_is_refused,
    faults.test_a_bot_that_connects_too_often_is_refused_for_a_while_and_forfeits_nothing,
    referee.test_two_bots_play_a_match,
    referee.test_a_new_stream_replaces_the_old_one,
    referee.test_a_removed_bot_receives_goodbye,
]


@pytest.fixture
def through_the_web(monkeypatch):
    """Lets the referee's tests reach it by WebSockets."""
    for module in (faults, referee):
        monkeypatch.setattr(module, "referee_server", web_referee_server)


@pytest.mark.usefixtures("through_the_web")
@pytest.mark.parametrize(
    "case", others_long(CASES, 3), ids=lambda case: case.__name__.removeprefix("test_")
)
async def test_the_referee_knows_no_difference(case):
    await case()


@pytest.mark.usefixtures("through_the_web")
@pytest.mark.parametrize(("data", "reason", "detail"), others_long(faults.VIOLATIONS, 2))
async def test_a_request_that_means_nothing_forfeits(data, reason, detail):
    await faults.test_a_request_that_means_nothing_forfeits(data, reason, detail)


@pytest.mark.usefixtures("through_the_web")
@pytest.mark.parametrize(("requests", "actions"), [(101, 0), (2, 30_000)])
async def test_more_requests_than_allowed_forfeit(requests, actions):
    await faults.test_more_requests_than_allowed_forfeit_and_large_ones_count_as_many(
        requests, actions
    )


@pytest.mark.usefixtures("through_the_web")
async def test_a_message_over_the_limit_of_the_websocket_is_a_disconnection():
    await faults.test_a_stream_that_breaks_or_that_the_bot_ends_is_a_disconnection(too_large=True)


@pytest.mark.long
async def test_a_bot_that_never_reads_forfeits():
    limits = LimitSettings(responses_unread=20, unread_patience_s=0.1)
    async with web_referee_server(limits, narrow=True) as server:
        server.admit("a", "b")
        a = await server.dial("a", max_matches=1000)
        b = await server.dial("b", max_matches=1000)
        (await a.socket()).transport.pause_reading()
        reading = asyncio.create_task(play_bot(b, 400))
        playing = []
        for number in range(400):
            match = spec(match_id=f"m{number}", clocks=Clocks(start_up_us=100_000))
            playing.append(asyncio.create_task(server.referee.play(match)))
            await turns()
        records = await asyncio.gather(*playing)
        terminations = {record.ends[0].termination for record in records}
        assert Termination.PROTOCOL_VIOLATION in terminations
        assert Termination.COMPLETED not in terminations
        await reading
        (await a.socket()).transport.resume_reading()
        code, reason = await a.closing()
        assert code == 4008
        assert reason.startswith("responses-unread: ")


async def test_silence_takes_no_stream_of_the_referee_and_ends():
    limits = WebLimits(hello_s=0.2)
    async with web_referee_server(web_limits=limits) as server:
        stream = server.stream()
        await stream.socket()
        assert server.referee.stream_count_without_hello == 0
        assert await stream.closing() == (4003, "hello-first: send Hello within 0.2 s")


async def test_text_is_refused():
    async with web_referee_server() as server:
        for hello in (True, False):
            server.referee.register_bot(f"token-{hello}", str(hello))
            stream = server.stream()
            if hello:
                await stream.hello(f"token-{hello}")
                await stream.expect("welcome")
            await (await stream.socket()).send("Hello")
            assert (await stream.closing())[0] == 4003


async def test_more_websockets_than_allowed_are_refused():
    async with web_referee_server(web_limits=WebLimits(play_sockets=2)) as server:
        server.admit("a", "b", "c")
        streams = [await server.dial(name) for name in "ab"]
        assert (await server.stream().closing())[0] == 4008
        streams[0].call.cancel()
        await until(lambda: not server.referee.is_connected("token-a"))
        while True:  # until the page has noticed that the WebSocket is gone
            stream = server.stream()
            try:
                await stream.hello("token-c")
                await stream.expect("welcome")
            except (AssertionError, ConnectionClosed):
                continue
            break


async def test_the_text_of_an_error_names_no_path():
    async with serving(WebSettings(play_address="unix:/nowhere/socket")) as address:
        stream = WebStream(address)
        await stream.hello("token")
        assert await stream.closing() == (4014, "the connection to the referee broke")


async def test_without_a_referee_nobody_can_play():
    async with serving(WebSettings()) as address:
        stream = WebStream(address)
        assert await stream.closing() == (4005, "no match is played at this server")


async def test_a_referee_that_stops_says_so():
    async with web_referee_server() as server:
        server.admit("a")
        stream = await server.dial("a")
        await server.referee.stop(finish_s=0)
        code, _ = await stream.closing()
        assert code in (4000, 4014)
