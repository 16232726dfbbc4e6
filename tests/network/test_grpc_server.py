"""Addresses, certificates, health, reflection."""

import asyncio
import re
import socket
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from asara_server.network.addresses import ServeError, reachable_address
from asara_server.network.grpc_server import PLAY_SERVICE, serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee
from tests.events import EVENT_S
from tests.network.served import TLS, secure_channel
from tests.referee.harness import Stream


async def refused(address, **options):
    """Fail to listen at an address; return the text of the error."""
    with pytest.raises(ServeError) as caught:
        await serve(Referee(), address, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


async def welcome(address, **options):
    """Serve at an address and connect a bot; return the bound address."""
    referee = Referee()
    referee.register_bot("token-a", "a")
    running = await serve(referee, address, **options)
    bound = running.address
    try:
        if "tls" in options:
            channel = secure_channel(bound)
        else:
            channel = grpc.aio.insecure_channel(
                bound,
                [("grpc.use_local_subchannel_pool", 1)],  # not that of an earlier server
            )
        async with channel:
            stream = Stream(channel)
            await stream.hello("token-a")
            assert (await stream.expect("welcome")).entry == "a"
    finally:
        await running.stop(0)
    return bound


async def test_a_free_port_is_found():
    for host, options in (("127.0.0.1", {}), ("localhost", {"tls": TLS})):
        bound = await welcome(f"{host}:0", **options)
        assert re.fullmatch(rf"{re.escape(host)}:[1-9]\d*", bound)
    running = await serve(Referee(), "0.0.0.0:0", tls=TLS)  # TLS may be reached from anywhere
    await running.stop(0)


async def test_a_unix_socket_is_created(tmp_path):
    assert await welcome(f"unix:{tmp_path / 'socket'}") == f"unix:{tmp_path / 'socket'}"


async def test_an_address_in_use_is_refused():
    running = await serve(Referee(), "127.0.0.1:0")
    assert "another program listens there" in await refused(running.address)
    await running.stop(0)


async def test_other_addresses_are_refused():
    for malformed in ("", "here", "127.0.0.1:", "127.0.0.1:http", "1:2:x", "a:-1"):
        assert "write host:port" in await refused(malformed)
    assert "at most 65535" in await refused("127.0.0.1:65536")
    assert "no such host" in await refused("no.such.host.invalid:80")
    for remote in ("0.0.0.0:0", "192.0.2.1:7777"):
        assert "can be reached from other machines" in await refused(remote)
    error = await refused("192.0.2.1:7777", tls=TLS)
    assert "does not have that address" in error


def test_a_wildcard_address_is_reached_by_the_name_of_the_machine():
    for everywhere in ("0.0.0.0:5", "[::]:5"):
        assert reachable_address(everywhere) == f"{socket.gethostname()}:5"
    assert reachable_address("localhost:5") == "localhost:5"


async def test_certificates_that_cannot_be_used_are_refused(tmp_path):
    missing = TlsFiles(tmp_path / "none.pem", TLS.key)
    assert "none.pem: No such file" in await refused("127.0.0.1:0", tls=missing)
    swapped = TlsFiles(TLS.key, TLS.certificate)
    assert "must be PEM files that belong together" in await refused("127.0.0.1:0", tls=swapped)
    (tmp_path / "empty.key").touch()
    empty = TlsFiles(TLS.certificate, tmp_path / "empty.key")
    assert "must be PEM files" in await refused("127.0.0.1:0", tls=empty)


async def test_health_and_reflection_and_no_other_method(tmp_path):
    running = await serve(Referee(), f"unix:{tmp_path}/socket")
    async with grpc.aio.insecure_channel(running.address) as channel:
        checks: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", PLAY_SERVICE):
            response = await checks.Check(health_pb2.HealthCheckRequest(service=name))
            assert response.status == health_pb2.HealthCheckResponse.SERVING
        stub: Any = reflection_pb2_grpc.ServerReflectionStub
        about = stub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        [answer] = [r async for r in about.ServerReflectionInfo(iter([request]))]
        names = {service.name for service in answer.list_services_response.service}
        assert {PLAY_SERVICE, "grpc.health.v1.Health"} <= names
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=PLAY_SERVICE)
        [answer] = [r async for r in about.ServerReflectionInfo(iter([request]))]
        assert answer.file_descriptor_response.file_descriptor_proto
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(f"/{PLAY_SERVICE}/Cheat", request_serializer=bytes)(b"")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    await asyncio.wait_for(running.stop(0), EVENT_S)
