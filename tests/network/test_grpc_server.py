"""Addresses, certificates, health, reflection."""

import asyncio
import os
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
from tests.network.served import TLS
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
    server, bound = await serve(referee, address, **options)
    try:
        if "tls" in options:
            credentials = grpc.ssl_channel_credentials(TLS.certificate.read_bytes())
            channel = grpc.aio.secure_channel(bound, credentials)
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
        await server.stop(0)
    return bound


@pytest.mark.parametrize(
    ("address", "bound"),
    [
        ("127.0.0.1:0", r"127\.0\.0\.1:[1-9]\d*"),
        ("localhost:0", r"localhost:[1-9]\d*"),
        ("0.0.0.0:0", r"0\.0\.0\.0:[1-9]\d*"),
    ],
)
async def test_a_free_port_is_found(address, bound):
    options = {"allow_insecure_remote": True} if address.startswith("0") else {}
    assert re.fullmatch(bound, await welcome(address, **options))


async def test_a_certificate_makes_any_address_one_for_bots():
    await welcome("localhost:0", tls=TLS)
    server, _ = await serve(Referee(), "0.0.0.0:0", tls=TLS)
    await server.stop(0)


async def test_a_unix_socket_is_created_and_can_be_used_again(tmp_path):
    path = tmp_path / "socket"
    assert await welcome(f"unix:{path}") == f"unix:{path}"
    assert await welcome(f"unix:{path}") == f"unix:{path}", "the path can be used again"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left"))
    await welcome(f"unix:{tmp_path / 'left'}")  # which a program left behind


async def test_a_socket_in_use_is_refused(tmp_path):
    path = tmp_path / "socket"
    server, _ = await serve(Referee(), f"unix:{path}")
    try:
        assert "another program listens there" in await refused(f"unix:{path}")
    finally:
        await server.stop(0)


async def test_paths_that_cannot_be_sockets_are_refused(tmp_path):
    assert "may have 1 to 107" in await refused(f"unix:{tmp_path}/{'x' * 107}")
    assert "may have 1 to 107" in await refused("unix:")
    assert "there is no folder" in await refused(f"unix:{tmp_path}/no/socket")
    (tmp_path / "file").touch()
    assert "is not a socket" in await refused(f"unix:{tmp_path}/file")
    assert (tmp_path / "file").exists()
    assert "is not a socket" in await refused(f"unix:{tmp_path}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_directory_without_write_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    assert "is not writable" in await refused(f"unix:{tmp_path}/socket")


async def test_a_port_in_use_is_refused():
    server, bound = await serve(Referee(), "127.0.0.1:0")
    try:
        assert f"cannot listen on '{bound}': another program listens there" in await refused(bound)
    finally:
        await server.stop(0)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        *(
            (malformed, "write host:port")
            for malformed in ("", "here", "127.0.0.1:", "127.0.0.1:http", "1:2:x", "a:-1")
        ),
        ("127.0.0.1:65536", "at most 65535"),
        ("no.such.host.invalid:80", "no such host"),
        ("0.0.0.0:0", "can be reached from other machines"),
        ("192.0.2.1:7777", "can be reached from other machines"),
    ],
)
async def test_other_addresses_are_refused(address, said):
    assert said in await refused(address)


async def test_an_address_of_another_machine_is_refused():
    error = await refused("192.0.2.1:7777", allow_insecure_remote=True)
    assert "does not have that address" in error


@pytest.mark.parametrize("everywhere", ["0.0.0.0:5", "[::]:5"])
def test_a_wildcard_address_is_reached_by_the_name_of_the_machine(everywhere):
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


async def test_health_and_reflection(tmp_path):
    server, bound = await serve(Referee(), f"unix:{tmp_path}/socket")
    async with grpc.aio.insecure_channel(bound) as channel:
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
    await server.stop(0)


async def test_methods_that_do_not_exist_are_unimplemented(tmp_path):
    server, bound = await serve(Referee(), f"unix:{tmp_path}/socket")
    async with grpc.aio.insecure_channel(bound) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(f"/{PLAY_SERVICE}/Cheat", request_serializer=bytes)(b"")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    await asyncio.wait_for(server.stop(0), EVENT_S)
