"""Strangers at a public address: they are bounded, and a bot with a valid token always gets in."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import grpc
import pytest
from grpc_health.v1 import health_pb2

from asara_codec.clocks import Clocks
from asara_codec.results import Termination
from asara_server.logs import logger
from asara_server.match.inputs import LateReplyRecord
from asara_server.network.addresses import client_network
from asara_server.network.bot_server import BotServer
from asara_server.network.connection_gate import ConnectionGate, GateConnection
from asara_server.network.grpc_server import serve
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from tests.events import EVENT_S, turns, until
from tests.match.playouts import replay_of
from tests.network.served import TLS, Tokens, secure_channel
from tests.network.sockets import connect_idle, is_open, open_files
from tests.referee.harness import (
    RefereeServer,
    Stream,
    dial_until_welcome,
    play_bot,
    spec,
    together,
)

LIMITS = LimitSettings(unknown_connections=10)


class RemoteServer(RefereeServer):
    """A referee with an address for bots on other machines."""

    def channel(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        channel = secure_channel(self.address, *options)
        self._channels.append(channel)
        return channel

    async def dial_in(self, name: str) -> Stream:
        return await dial_until_welcome(self.stream, f"secret-{name}")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])


@asynccontextmanager
async def remote_server(limits: LimitSettings = LIMITS) -> AsyncIterator[RemoteServer]:
    referee = Referee(limits=limits)
    tokens = Tokens()
    running = await serve(referee, "localhost:0", tls=TLS, authenticator=tokens)
    server = RemoteServer(referee, running.address)
    for name in "ab":
        referee.register_bot(f"token-{name}", name, authenticator=tokens)
    try:
        yield server
    finally:
        await referee.stop(finish_s=0)
        await server.close()
        await running.stop(0)


async def plays_a_match(server: RemoteServer) -> None:
    """Connect both bots and play a match to its end."""
    a, b = await server.dial_in("a"), await server.dial_in("b")
    record, *_ = await together(server.referee.play(spec()), play_bot(a), play_bot(b))
    assert [r.termination for r in record.ends] == [Termination.COMPLETED] * 2


async def test_a_bot_connects_only_at_the_address_it_is_registered_for(tmp_path: Path) -> None:
    async with remote_server() as server:
        server.referee.register_bot("token-c", "c")
        running = await serve(server.referee, f"unix:{tmp_path / 'socket'}")
        elsewhere = RefereeServer(server.referee, running.address)
        for at, token in (
            (server, "token-a"),  # its key is not its token
            (server, "token-c"),
            (server, "secret-c"),
            (server, ""),
            (elsewhere, "token-a"),  # nor does the key admit it elsewhere
            (elsewhere, "secret-a"),
        ):
            stream = at.stream()
            await stream.hello(token)
            assert await stream.ending() == (grpc.StatusCode.UNAUTHENTICATED, "unknown-token")
        await server.dial_in("a")
        assert server.referee.is_connected("token-a")
        assert not server.referee.is_connected("token-c")
        await elsewhere.close()
        await running.stop(0)


async def test_connections_of_one_client_take_no_place_of_another() -> None:
    async with remote_server() as server:
        other = await connect_idle(server.port, source="127.0.0.9")
        crowd = [await connect_idle(server.port, source="127.0.0.8") for _ in range(100)]
        await until(lambda: sum(map(is_open, crowd)) == LIMITS.unknown_connections - 1)
        assert is_open(other)
        for connection in (other, *crowd):
            connection.close()


async def test_connections_that_were_known_once_make_room_for_strangers() -> None:
    """Otherwise a bot with a valid token could keep out all others."""
    limits = LimitSettings(unknown_connections=5)
    gate = ConnectionGate(Path("socket"), limits, logger("test"), tls=False)

    def connect(client: str) -> GateConnection:
        connection = GateConnection(gate, client)
        connection.transport = mock.Mock(**{"is_closing.return_value": False})
        gate.add(connection)
        return connection

    insider = [connect("10.0.0.1") for _ in range(4)]
    gate._minute_ends_s = 0.0  # the minute in which they were counted is over
    strangers = [connect("10.0.0.2")]
    for connection in insider:
        connection.admit()
    for connection in insider:
        connection.release()
    strangers += [connect("10.0.0.3"), connect("10.0.0.4")]
    assert gate._unknown.keys() >= set(strangers)
    assert min(gate._attempts.values()) >= 0
    gate.break_connections()


async def test_a_known_bot_keeps_its_connection_whatever_strangers_do() -> None:
    async with remote_server() as server:
        a, b = await server.dial_in("a"), await server.dial_in("b")
        playing = asyncio.create_task(server.referee.play(spec()))
        await a.until("match_started")
        idle = []
        for _ in range(20):
            idle += [await connect_idle(server.port) for _ in range(10)]
            await turns()
        await together(playing, play_bot(a), play_bot(b))
        assert [r.termination for r in (await playing).ends] == [Termination.COMPLETED] * 2
        for connection in idle:
            connection.close()


@pytest.mark.parametrize("greeting", [b"", b"x", b"\x16\x03\x01"])
async def test_a_connection_without_a_token_is_closed_in_time(greeting: bytes) -> None:
    async with remote_server(LimitSettings(hello_s=0.3)) as server:
        stranger = await connect_idle(server.port)
        stranger.send(greeting)
        await until(lambda: not is_open(stranger))
        stranger.close()


async def test_silent_streams_on_one_connection_take_no_place() -> None:
    async with remote_server() as server:
        channel = server.channel()
        silent = [Stream(channel) for _ in range(300)]
        await plays_a_match(server)
        for stream in silent:
            stream.call.cancel()


async def test_a_connection_with_too_many_refused_streams_is_closed() -> None:
    async with remote_server(LimitSettings(unknown_streams=3)) as server:
        channel = server.channel()
        for _ in range(3):
            stream = Stream(channel)
            await stream.hello("guess")
            assert (await stream.ending())[1] == "unknown-token"
        stream = Stream(channel)
        assert (await stream.ending())[0] is grpc.StatusCode.UNAVAILABLE
        await plays_a_match(server)


async def test_streams_of_a_known_bot_are_not_counted() -> None:
    async with remote_server(LimitSettings(unknown_streams=3)) as server:
        channel = server.channel()
        for _ in range(5):
            stream = Stream(channel)
            await stream.hello("secret-a")
            await stream.expect("welcome")


async def test_a_stranger_may_not_send_much() -> None:
    async with remote_server() as server:
        stranger = await connect_idle(server.port)
        sent = 0
        while is_open(stranger):
            try:
                sent += stranger.send(bytes(10_000))
            except OSError:
                break
            await turns(1)
            assert sent < 10_000_000
        assert sent
        stranger.close()


async def test_a_client_that_sends_and_never_reads_does_not_hold_up_the_end() -> None:
    referee = Referee(limits=LimitSettings(unknown_bytes=1 << 40))
    running = await serve(referee, "127.0.0.1:0", authenticator=Tokens())
    client = await connect_idle(int(running.address.rpartition(":")[2]))
    settings = bytes.fromhex("000006040000000000000400100000")
    client.setblocking(True)
    client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    ended, flooded = threading.Event(), threading.Event()

    def flood() -> None:
        with contextlib.suppress(OSError):
            while not ended.is_set():
                client.sendall(settings * 1_000)  # the answers are not read
                flooded.set()

    flooding = asyncio.create_task(asyncio.to_thread(flood))
    await until(flooded.is_set)
    try:
        async with asyncio.timeout(EVENT_S):
            await running.stop(0.5)
    finally:
        ended.set()
        with contextlib.suppress(OSError):  # the server has broken it
            client.shutdown(socket.SHUT_RDWR)
        await flooding
        client.close()
        await referee.stop(finish_s=0)


async def test_a_connection_of_a_client_that_never_read_is_closed_on_both_sides() -> None:
    referee = Referee(limits=LimitSettings(unknown_bytes=1 << 40))
    running = await serve(referee, "127.0.0.1:0", authenticator=Tokens())
    before = open_files()
    for _ in range(2):
        client = await connect_idle(int(running.address.rpartition(":")[2]))
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        settings = bytes.fromhex("000006040000000000000400100000") * 1_000
        refused = sent = 0
        while refused < 50:  # nobody takes any more
            try:
                sent += client.send(settings[sent % 15 :])
            except BlockingIOError:
                refused += 1
                await asyncio.sleep(0.01)
        client.close()
    await until(lambda: open_files() <= before + 1)  # libuv keeps one file for itself
    async with asyncio.timeout(EVENT_S):
        await running.stop(0)
    await referee.stop(finish_s=0)


async def test_there_is_neither_health_nor_reflection_for_strangers(tmp_path: Path) -> None:
    referee = Referee()
    guarded = await serve(referee, "localhost:0", tls=TLS, authenticator=Tokens())
    own = BotServer(referee, "token-a", on_flood=lambda why: None)
    await own.start(f"unix:{tmp_path / 'socket'}")
    async with (
        secure_channel(guarded.address) as first,
        grpc.aio.insecure_channel(own.address) as second,
    ):
        for channel in (first, second):
            for method in (
                "/grpc.health.v1.Health/Check",
                "/grpc.health.v1.Health/Watch",
                "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            ):
                call: Any = channel.unary_unary(method)
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call(health_pb2.HealthCheckRequest().SerializeToString())
                assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    await guarded.stop(0)
    await own.stop()


async def test_connections_end_with_the_server() -> None:
    before = open_files()
    async with remote_server() as server:
        stranger = await connect_idle(server.port)
        await server.dial_in("a")
    await until(lambda: not is_open(stranger))
    stranger.close()
    await until(lambda: open_files() <= before + 3)


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
    ],
)
def test_clients_are_addresses_or_networks(host: str, network: str) -> None:
    assert client_network(host) == network


async def test_both_protocols_are_served_at_a_wildcard_address() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    running = await serve(Referee(), "[::]:0", tls=TLS)
    port = int(running.address.rpartition(":")[2])
    for host in ("127.0.0.1", "[::1]"):
        name = ("grpc.ssl_target_name_override", "localhost")
        async with secure_channel(f"{host}:{port}", name) as channel:
            stream = Stream(channel)
            await stream.hello("guess")
            assert (await stream.ending())[1] == "unknown-token"
    await running.stop(0)


async def test_a_late_reply_over_tcp_is_recorded_with_its_arrival_at_the_socket() -> None:
    quick = Clocks(bank_us=100_000, increment_us=0, grace_us=0)
    async with remote_server() as server:
        a, b = await server.dial_in("a"), await server.dial_in("b")
        playing = asyncio.create_task(server.referee.play(spec(clocks=quick)))
        first = await a.until("decision")
        await b.until("match_ended")
        await a.answer(first)
        record = await playing
        [late] = [each for each in replay_of(record).records if isinstance(each, LateReplyRecord)]
        assert late.unread_bytes == 0
        assert late.socket_us is not None
        assert (
            record.duration_us - 5_000 <= late.socket_us <= late.time_us
        )  # it counts milliseconds
