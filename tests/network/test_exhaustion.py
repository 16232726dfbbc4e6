"""Attacks on the memory, the open files and the time of a referee in a process of its own."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from asara_server.network.grpc_server import PLAY_SERVICE
from tests.network.served import TLS, Served, served

LARGEST = 65_000
"""Bytes of a name in the largest requests that are read at all."""

_SEPARATE = [("grpc.use_local_subchannel_pool", 1)]


def channel_to(address: str, *, tls: bool = False) -> grpc.aio.Channel:
    if not tls:
        return grpc.aio.insecure_channel(address, options=_SEPARATE)
    credentials = grpc.ssl_channel_credentials(TLS.certificate.read_bytes())
    return grpc.aio.secure_channel(address, credentials, options=_SEPARATE)


async def refused(channel: grpc.aio.Channel, method: str, request: bytes, times: int) -> str:
    """Call a method again and again, eight calls at once; return the last refusal's text."""
    call: Any = channel.unary_unary(method)
    detail = ""

    async def repeat() -> None:
        nonlocal detail
        for _ in range(times // 8):
            try:
                await call(request)
            except grpc.aio.AioRpcError as error:
                detail = error.details() or ""

    await asyncio.gather(*(repeat() for _ in range(8)))
    return detail


def attacks(name: str) -> list[tuple[str, bytes]]:
    """Requests with a name of the attacker's choice."""
    check = health_pb2.HealthCheckRequest(service=name).SerializeToString()
    return [
        ("/grpc.health.v1.Health/Check", check),
        ("/grpc.health.v1.Health/Watch", check),
        (f"/{PLAY_SERVICE}/Play", check),
    ]


async def assert_bounded(process: Served, calls: int, *, tls: bool = False) -> None:
    """Send each request this often; memory grows by less than 32 MiB over all of them."""
    async with channel_to(process.addresses[0], tls=tls) as channel:
        for method, request in attacks("x" * 100):
            await refused(channel, method, request, 100)
        before = process.memory_mib
        for size in (LARGEST, 6 << 20):
            times = calls if size == LARGEST else calls // 50
            for method, request in attacks("x" * size):
                assert len(await refused(channel, method, request, times)) < 300
        assert process.memory_mib - before < 32


@pytest.mark.long
@pytest.mark.parametrize("kind", ["local", "remote", "bots"])
async def test_refused_calls_leave_nothing_in_memory(kind: str) -> None:
    with served(kind) as process:
        await assert_bounded(process, 800, tls=kind == "remote")
