"""The gRPC server of a referee: its services, at an address, with or without TLS."""

import asyncio
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
    check_socket_path,
    join_address,
    numeric_host,
    split_address,
)
from asara_server.network.tls import TlsFiles, tls_credentials
from asara_server.referee.authenticator import Authenticator
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.spectators import follow, is_public, list_matches
from asara_server.referee.stream_errors import Context, ErrorKind, StreamError, abort_call

PLAY_SERVICE: Final = play_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name
WATCH_SERVICE: Final = watch_pb2.DESCRIPTOR.services_by_name["WatchService"].full_name

_KEEPALIVE_MS: Final = 20_000

_Methods: TypeAlias = dict[str, "grpc.RpcMethodHandler[Any, Any]"]


class RunningServer(NamedTuple):
    """A server that listens, and the address at which bots reach it."""

    server: grpc.aio.Server
    address: str


async def serve(
    referee: Referee,
    address: str,
    *,
    tls: TlsFiles | None = None,
    allow_insecure_remote: bool = False,
    authenticator: Authenticator | None = None,
) -> RunningServer:
    """Listen on `host:port` (port 0: any free one) or `unix:/path`, until the server is stopped.

    With an authenticator, only its bots can connect, and matches cannot be watched. Raise
    ServeError for an address that is malformed, in use, or open to other machines without TLS, and
    for a certificate that cannot be used.
    """
    credentials = None if tls is None else tls_credentials(tls)
    server = grpc.aio.server(options=server_options(referee.limits, address))
    await _add_services(server, referee, authenticator)
    bound = _bind(server, address, credentials, allow_insecure_remote)
    await server.start()
    referee.log.info("listening", address=bound, tls=tls is not None)
    return RunningServer(server, bound)


def check_address(address: str, tls: TlsFiles) -> None:
    """Check that `serve` can listen on a `host:port`; raise ServeError as `serve` would."""
    tls_credentials(tls)
    _resolve(address, remote_allowed=True)


def server_options(limits: LimitSettings, address: str) -> list[tuple[str, int]]:
    """Return the options of gRPC's transport at this address.

    A Unix socket needs no pings, because the system reports every connection that is lost; and a
    runner that was stopped must not find that its bots have not answered in time.
    """
    options = [
        ("grpc.max_receive_message_length", max(limits.transport_bytes, limits.request_bytes)),
        ("grpc.so_reuseport", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", _KEEPALIVE_MS // 4),
    ]
    if not address.startswith("unix:"):
        options += [
            ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
        ]
    return options


def _bind(
    server: grpc.aio.Server,
    address: str,
    credentials: grpc.ServerCredentials | None,
    allow_insecure_remote: bool,
) -> str:
    """Add the address to the server; return it with the port that was chosen."""
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        check_socket_path(path)
        target = f"unix:{Path(path).absolute()}"
        _add_port(server, target, credentials)
        return target
    host, numeric, port = _resolve(address, credentials is not None or allow_insecure_remote)
    bound = _add_port(server, join_address(numeric, port), credentials)
    return join_address(host, bound)


def _resolve(address: str, remote_allowed: bool) -> tuple[str, str, int]:
    """Return host, its numeric address, and port; raise ServeError if the port is not free."""
    host, port = split_address(address, alternative=", or unix:/path")
    numeric = numeric_host(
        address,
        host,
        remote_allowed=remote_allowed,
        danger="without TLS, tokens and hands can be read on the way: "
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


# Services


async def _add_services(
    server: grpc.aio.Server, referee: Referee, authenticator: Authenticator | None
) -> None:
    servicer = _Servicer(referee, authenticator)
    services: dict[str, _Methods] = {
        PLAY_SERVICE: {"Play": grpc.stream_stream_rpc_method_handler(servicer.play)}
    }
    if authenticator is None:
        services[WATCH_SERVICE] = {
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
    """The methods of both services.

    They receive and return bytes: the referee assembles its messages as bytes, and a request that
    cannot be parsed must reach the referee instead of ending the stream inside gRPC.
    """

    def __init__(self, referee: Referee, authenticator: Authenticator | None) -> None:
        self._referee = referee
        self._authenticator = authenticator

    async def play(self, _: object, context: Context) -> None:
        try:
            session = self._referee.open_session(context, self._authenticator)
        except StreamError as error:
            await abort_call(context, error)
            return
        await session.run()

    async def list_matches(self, data: bytes, context: Context) -> bytes:
        await _parse(watch_pb2.ListMatchesRequest, data, context)
        return list_matches(self._referee.running_matches()).SerializeToString()

    async def watch(self, data: bytes, context: Context) -> None:
        request = await _parse(watch_pb2.WatchRequest, data, context)
        referee = self._referee
        hosted = referee.running_match(request.match_id)
        if hosted is None or not is_public(hosted):
            text = f"no match {request.match_id!r} can be watched now; see ListMatches"
            await abort_call(context, StreamError(ErrorKind.MATCH, text))
            return
        limit = referee.limits.watchers
        if referee.watcher_count >= limit:
            text = f"{limit} watchers are connected, which is the limit; try again later"
            await abort_call(context, StreamError(ErrorKind.TOO_MANY_STREAMS, text))
        referee.watcher_count += 1
        try:
            async for message in follow(hosted, request.after_sequence, referee.flush):
                await context.write(message)
        finally:
            referee.watcher_count -= 1


async def _parse(kind: Any, data: bytes, context: Context) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        text = f"the request is not a serialized {kind.DESCRIPTOR.full_name}"
        await abort_call(context, StreamError(ErrorKind.UNREADABLE_REQUEST, text))
        raise asyncio.CancelledError from None
