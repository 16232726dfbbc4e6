"""The gRPC server of a referee: its services at an address, with or without TLS."""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from asara.v1 import play_pb2
from asara_server import system
from asara_server.network.addresses import (
    ServeError,
    is_loopback,
    join_address,
    listen_at,
    socket_parent,
)
from asara_server.network.connection_gate import ConnectionGate
from asara_server.network.tls import TlsFiles, tls_credentials
from asara_server.referee.limits import LimitSettings
from asara_server.referee.referee import Referee
from asara_server.referee.session import Authenticator
from asara_server.referee.stream_errors import Context, ErrorKind, StreamError, end_call

PLAY_SERVICE: Final = play_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name
_HEALTH_SERVICE: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name

_KEEPALIVE_MS: Final = 20_000
_NEVER_MS: Final = 2**31 - 1
"""A value that gRPC treats as infinite. Its defaults are 2 hours and 1 minute."""
_CLOSE_S: Final = 1.0
"""Seconds for connections to close by themselves after all calls have ended."""

_Play: TypeAlias = Callable[[Any, Context], Awaitable[None]]
_Methods: TypeAlias = dict[str, "grpc.RpcMethodHandler[Any, Any]"]


class RunningServer:
    """A listening gRPC server and, at a TCP address, the gate that forwards connections to it."""

    def __init__(
        self,
        address: str,
        server: grpc.aio.Server,
        gate: ConnectionGate | None = None,
        folder: Path | None = None,
    ) -> None:
        """`folder` contains the socket to which the gate forwards."""
        self.address = address
        """The address at which bots reach the server."""
        self._server = server
        self._gate = gate
        self._folder = folder

    async def stop(self, grace: float | None) -> None:
        """Stop listening; calls in progress have `grace` seconds to end.

        gRPC would wait for connections on which a client sends without pause, so these are broken.
        """
        stopping = asyncio.create_task(self._server.stop(grace))
        if self._gate is not None:
            self._gate.stop_listening()
            await asyncio.wait([stopping], timeout=(grace or 0) + _CLOSE_S)
            self._gate.break_connections()
        await stopping
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


async def serve(
    referee: Referee,
    address: str,
    *,
    tls: TlsFiles | None = None,
    authenticator: Authenticator | None = None,
) -> RunningServer:
    """Listen on `host:port` (port 0: any free one) or `unix:/path`, until the server is stopped.

    With an authenticator, only its bots can connect. An address that only this machine can reach,
    and that has no TLS, also answers health checks and reflection. Raise ServeError for an address
    that is malformed, in use, or open to other machines without TLS, and for a certificate that
    cannot be used.
    """
    credentials = None if tls is None else tls_credentials(tls)
    if address.startswith("unix:"):
        running = await _serve_local(referee, address, credentials, authenticator)
    elif not system.UNIX_SOCKETS:
        _, listener = _listen(address, remote_allowed=False)
        target = join_address(*listener.getsockname()[:2])
        listener.close()  # gRPC listens itself
        running = await _serve_local(referee, target, credentials, authenticator)
    else:
        running = await _serve_tcp(referee, address, credentials, authenticator)
    referee.log.info("listening", address=running.address, tls=tls is not None)
    return running


async def _serve_local(
    referee: Referee,
    target: str,
    credentials: grpc.ServerCredentials | None,
    authenticator: Authenticator | None,
) -> RunningServer:
    """Serve programs of this user at `target`: a Unix socket or, on systems without, a port."""
    limits = referee.limits
    quota = ("grpc.max_allowed_incoming_connections", limits.socket_connections)
    options = [*server_options(limits, limits.request_bytes, keepalive=False), quota]
    server = grpc.aio.server(options=options)
    _add_services(server, _Servicer(referee, authenticator, None), local=credentials is None)
    add_port(server, target, credentials)
    await server.start()
    return RunningServer(target, server)


async def _serve_tcp(
    referee: Referee,
    address: str,
    credentials: grpc.ServerCredentials | None,
    authenticator: Authenticator | None,
) -> RunningServer:
    """Serve behind a gate, at a socket in a directory that only this user can enter."""
    host, listener = _listen(address, remote_allowed=credentials is not None)
    numeric, port = listener.getsockname()[:2]
    local = credentials is None and is_loopback(numeric)
    folder = Path(tempfile.mkdtemp(prefix="asara-", dir=socket_parent()))
    path = folder / "grpc"
    limits = referee.limits
    gate = ConnectionGate(path, limits, referee.log, tls=credentials is not None)
    server = grpc.aio.server(options=server_options(limits, limits.request_bytes, keepalive=True))
    running = RunningServer(join_address(host, port), server, gate, folder)
    try:
        _add_services(server, _Servicer(referee, authenticator, gate), local=local)
        add_port(server, f"unix:{path}", credentials)
        await server.start()
        gate.listen(listener)
    except BaseException:
        listener.close()
        await running.stop(0)
        raise
    return running


def check_address(address: str, tls: TlsFiles | None) -> None:
    """Check that `serve` can listen on a `host:port`; raise ServeError as `serve` would."""
    if tls is not None:
        tls_credentials(tls)
    _, listener = _listen(address, remote_allowed=tls is not None)
    listener.close()


def server_options(
    limits: LimitSettings, request_bytes: int, *, keepalive: bool
) -> list[tuple[str, int]]:
    """Return the options of gRPC's transport, which refuses requests above `request_bytes`.

    Use `keepalive` for clients on other machines. A Unix socket needs no pings, because the system
    reports every lost connection. Pings could even do harm there. A runner that was stopped could
    conclude that its bots answered too late, and a frozen bot cannot answer. So without
    `keepalive`, gRPC waits without limit for the answers to all its pings, such as those that
    measure a connection.
    """
    options = [
        ("grpc.max_receive_message_length", max(request_bytes, limits.request_bytes)),
        ("grpc.max_concurrent_streams", limits.streams_per_connection),
        ("grpc.server_handshake_timeout_ms", round(limits.hello_s * 1000)),
        ("grpc.max_connection_idle_ms", round(limits.hello_s * 1000)),  # no stream is open
        ("grpc.so_reuseport", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", _KEEPALIVE_MS // 4),
    ]
    if keepalive:
        options += [
            ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
        ]
    else:
        options += [
            ("grpc.keepalive_time_ms", _NEVER_MS),
            ("grpc.http2.ping_timeout_ms", _NEVER_MS),
        ]
    return options


def _listen(address: str, *, remote_allowed: bool) -> tuple[str, socket.socket]:
    danger = (
        "without TLS, tokens and hands can be read on the way: give a certificate and key, or "
        "listen on 127.0.0.1"
    )
    return listen_at(address, remote_allowed=remote_allowed, danger=danger)


def add_port(
    server: grpc.aio.Server, target: str, credentials: grpc.ServerCredentials | None
) -> int:
    """Add an address to a server that has not started; return the port, or raise ServeError."""
    try:
        if credentials is not None:
            return server.add_secure_port(target, credentials)
        return server.add_insecure_port(target)
    except RuntimeError as error:
        raise ServeError(f"cannot listen on {target}: {error}") from None


# Services


def add_play_service(server: grpc.aio.Server, play: _Play) -> None:
    """Add PlayService with `play` as its method, which receives and sends bytes."""
    methods: _Methods = {"Play": grpc.stream_stream_rpc_method_handler(play)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(PLAY_SERVICE, methods),))


def _add_services(server: grpc.aio.Server, servicer: "_Servicer", *, local: bool) -> None:
    """Add PlayService and, at an address that only this machine can use, health and reflection."""
    add_play_service(server, servicer.play)
    if not local:
        return
    health_pb2_grpc.add_HealthServicer_to_server(_Health(), server)
    names = (PLAY_SERVICE, _HEALTH_SERVICE, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)


class _Servicer:
    """The method of PlayService.

    It receives and returns bytes, for two reasons. The referee assembles its messages as bytes. And
    a request that cannot be parsed must reach the referee instead of ending the stream inside gRPC.
    """

    def __init__(
        self, referee: Referee, authenticator: Authenticator | None, gate: ConnectionGate | None
    ) -> None:
        self._referee = referee
        self._authenticator = authenticator
        self._gate = gate

    async def play(self, _: object, context: Context) -> None:
        connection = None
        if self._gate is not None:
            connection = self._gate.by_name.get(context.peer())
            if connection is None or not connection.begin_stream():
                closed = StreamError(ErrorKind.TOO_MANY_STREAMS, "the connection is closed")
                end_call(context, closed)
                return
        await self._referee.open_session(context, self._authenticator, connection).run()


class _Health(health_pb2_grpc.HealthServicer):
    """The standard health check, without anything that a client could keep open or have echoed.

    `Watch` is unimplemented, as the standard permits.
    """

    async def Check(  # noqa: N802 - a method of the service
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        if request.service in {"", PLAY_SERVICE}:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
        context.set_code(grpc.StatusCode.NOT_FOUND)
        return health_pb2.HealthCheckResponse()

    async def Watch(self, request: object, context: Context) -> None:  # noqa: N802
        context.set_code(grpc.StatusCode.UNIMPLEMENTED)
