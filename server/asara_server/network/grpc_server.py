"""The referee on the network: addresses, certificates, the gRPC services."""

import asyncio
import os
import socket
import stat
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from asara.v1 import play_pb2, watch_pb2
from asara_server.network.addresses import (
    ServeError,
    check_port,
    join_address,
    numeric_host,
    split_address,
)
from asara_server.network.tls import TlsFiles, tls_credentials
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.session import Authenticator
from asara_server.referee.spectators import follow, list_matches
from asara_server.referee.stream_errors import Context, Ending, StreamError, end_call

PLAY: Final = play_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name
WATCH: Final = watch_pb2.DESCRIPTOR.services_by_name["WatchService"].full_name

#: Bytes that the path of a unix socket may have: the size of sockaddr_un.sun_path less the final 0.
_LONGEST_PATH: Final = 107

_KEEPALIVE_MS: Final = 20_000


class Serving(NamedTuple):
    """A server that runs, and the address that bots dial."""

    server: grpc.aio.Server
    address: str


async def serve(
    referee: Referee,
    address: str,
    *,
    tls: TlsFiles | None = None,
    allow_insecure_remote: bool = False,
    door: Authenticator | None = None,
) -> Serving:
    """Listen on `host:port` (port 0: any free one) or `unix:/path`, and serve until stopped.

    Where a `door` says who may come in, nobody else is told anything: matches cannot be watched.

    Raises ServeError for an address that is malformed, in use, or open to other machines without
    TLS, and for a certificate that cannot be used.
    """
    credentials = None if tls is None else tls_credentials(tls)
    server = grpc.aio.server(options=server_options(referee.limits))
    await _register(server, referee, door)
    bound = _bind(server, address, credentials, allow_insecure_remote)
    await server.start()
    referee.log.info("listening", address=bound, tls=tls is not None)
    return Serving(server, bound)


def check_serving(address: str, tls: TlsFiles) -> None:
    """See that `serve` could listen on a `host:port` by now; raises ServeError as it would."""
    tls_credentials(tls)
    _numeric(address, remote_allowed=True)


def server_options(limits: LimitSettings) -> list[tuple[str, int]]:
    """How gRPC's transport is set."""
    return [
        ("grpc.max_receive_message_length", max(limits.transport_bytes, limits.request_bytes)),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
        ("grpc.http2.min_ping_interval_without_data_ms", _KEEPALIVE_MS // 4),
    ]


# Addresses


def _bind(
    server: grpc.aio.Server,
    address: str,
    credentials: grpc.ServerCredentials | None,
    allow_insecure_remote: bool,
) -> str:
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        _check_path(path)
        target = f"unix:{Path(path).absolute()}"
        _add_port(server, target, credentials)
        return target
    host, numeric, port = _numeric(address, credentials is not None or allow_insecure_remote)
    bound = _add_port(server, join_address(numeric, port), credentials)
    return join_address(host, bound)


def _numeric(address: str, remote_allowed: bool) -> tuple[str, str, int]:
    """Host, its numeric address, and port, seen to be free."""
    host, port = split_address(address, or_else=", or unix:/path")
    numeric = numeric_host(
        address,
        host,
        remote_allowed=remote_allowed,
        danger="without TLS anybody on the way can read tokens and hands: "
        "give a certificate and key, listen on 127.0.0.1",
    )
    check_port(address, numeric, port)
    return host, numeric, port


def _add_port(
    server: grpc.aio.Server, target: str, credentials: grpc.ServerCredentials | None
) -> int:
    try:
        if credentials is not None:
            return server.add_secure_port(target, credentials)
        return server.add_insecure_port(target)
    except RuntimeError as error:
        raise ServeError(f"cannot listen on {target}: {error}") from None


def _check_path(path: str) -> None:
    """Make sure that a socket can be made at a path: grpc would take over one that is in use."""
    absolute = os.fsencode(Path(path).absolute())
    if not path or len(absolute) > _LONGEST_PATH:
        raise ServeError(
            f"unix:{path}: the path has {len(absolute)} bytes, and a socket's may have 1 to "
            f"{_LONGEST_PATH}; choose a shorter one, such as unix:/tmp/asara.sock"
        )
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise ServeError(f"unix:{path}: there is no directory {parent}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ServeError(f"unix:{path}: nothing may be written in {parent}")
    try:
        mode = Path(path).lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ServeError(f"unix:{path}: a file of this name exists, and it is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()  # left behind by a program that was killed
        except OSError as error:
            raise ServeError(f"unix:{path}: {error.strerror}") from None
        else:
            raise ServeError(f"unix:{path}: another program listens there; choose another path")


# Services


_Methods: TypeAlias = dict[str, "grpc.RpcMethodHandler[Any, Any]"]


async def _register(server: grpc.aio.Server, referee: Referee, door: Authenticator | None) -> None:
    servicer = _Servicer(referee, door)
    services: dict[str, _Methods] = {
        PLAY: {"Play": grpc.stream_stream_rpc_method_handler(servicer.play)}
    }
    if door is None:
        services[WATCH] = {
            "ListMatches": grpc.unary_unary_rpc_method_handler(servicer.list_matches),
            "Watch": grpc.unary_stream_rpc_method_handler(servicer.watch),
        }
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(*service) for service in services.items())
    )
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for name in ("", *services):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    names = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)


class _Servicer:
    """All methods take and give bytes: the referee assembles its messages as bytes, and what a bot
    sends must be able to be garbage without gRPC ending the stream on its own.
    """

    def __init__(self, referee: Referee, door: Authenticator | None) -> None:
        self._referee = referee
        self._door = door

    async def play(self, _: object, context: Context) -> None:
        try:
            session = self._referee.new_session(context, self._door)
        except StreamError as ended:
            await end_call(context, ended)
            return
        await session.run()

    async def list_matches(self, data: bytes, context: Context) -> bytes:
        await _parse(watch_pb2.ListMatchesRequest, data, context)
        return list_matches(self._referee.running()).SerializeToString()

    async def watch(self, data: bytes, context: Context) -> None:
        request = await _parse(watch_pb2.WatchRequest, data, context)
        table = self._referee.table(request.match_id)
        if table is None or table.spec.mirrored:
            text = f"no match {request.match_id!r} can be watched now; ListMatches tells which can"
            await end_call(context, StreamError(Ending.MATCH, text))
            return
        most = self._referee.limits.watchers
        if self._referee.watchers >= most:
            text = f"{most} watchers are connected, which is the limit; try again later"
            await end_call(context, StreamError(Ending.TOO_MANY_STREAMS, text))
        self._referee.watchers += 1
        try:
            async for message in follow(table, request.after_sequence, self._referee.settle):
                await context.write(message)
        finally:
            self._referee.watchers -= 1


async def _parse(kind: Any, data: bytes, context: Context) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        text = f"the request is no serialized {kind.DESCRIPTOR.full_name}"
        await end_call(context, StreamError(Ending.UNREADABLE_REQUEST, text))
        raise asyncio.CancelledError from None
