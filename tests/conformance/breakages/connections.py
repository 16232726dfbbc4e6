"""Breakages of cases in `09-connections.yaml`."""

import os
import socket
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

import grpc

from asara import client, stream, transport
from asara.errors import ConfigurationError
from asara.settings import Settings
from tests.conformance.breakages.breakage import around, breaks, put


@breaks("tcp-address", Settings, "complete")
def expect_a_socket(original: Any, *arguments: Any) -> Any:
    done = original(*arguments)
    if not done.ca and not done.address.startswith("unix:"):
        raise ConfigurationError("ASARA_ADDRESS: expected a Unix socket")
    return done


@breaks("tls", Settings, "credentials")
def trust_the_authorities_of_the_system(original: Any, self: Settings) -> Any:
    return original(self) and grpc.ssl_channel_credentials()


def dial_through(context: ssl.SSLContext) -> None:
    """Let a relay in this process do TLS, as the context says, and dial that without TLS."""

    @around(client, "open_stream")
    def connect(original: Any, address: str, credentials: Any) -> Any:
        if credentials is None:
            return original(address, credentials)
        host, _, port = address.rpartition(":")
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(
            target=_relay, args=(listener, host, int(port), context), daemon=True
        ).start()
        return original(f"127.0.0.1:{listener.getsockname()[1]}", None)

    context.set_alpn_protocols(["h2"])


def _relay(listener: socket.socket, host: str, port: int, context: ssl.SSLContext) -> None:
    near, _ = listener.accept()
    try:
        far = context.wrap_socket(socket.create_connection((host, port)), server_hostname=host)
    except OSError:
        near.close()
        return
    for source, target in ((near, far), (far, near)):
        threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        target.close()


@breaks("tls-another-authority")
def trust_any_certificate() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    dial_through(context)


@breaks("tls-another-name")
def trust_any_name() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    authority = os.environ.get("ASARA_CA", "")
    if Path(authority).is_file():
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError:
            return  # the client itself reports it
    dial_through(context)


def overlook_the_fault(*, tls: bool) -> None:
    @around(transport, "transport_fault")
    def fault(original: Any, address: str, **given: Any) -> Any:
        return "" if given["tls"] is tls else original(address, **given)


@breaks("tls-at-the-referee-only")
def overlook_that_the_referee_uses_tls() -> None:
    overlook_the_fault(tls=False)


@breaks("tls-at-the-bot-only")
def overlook_that_the_referee_uses_no_tls() -> None:
    overlook_the_fault(tls=True)


@breaks("ca-is-absent", Settings, "credentials")
def print_a_traceback(original: Any, self: Settings) -> Any:
    if self.ca:
        Path(self.ca).read_bytes()
    return original(self)


@breaks("ca-is-no-certificate", Settings, "credentials")
def say_nothing_about_the_file(original: Any, self: Settings) -> Any:
    try:
        return original(self)
    except ConfigurationError as error:
        if "PEM" not in str(error):
            raise
        sys.exit(2)


def with_keepalive(time_ms: int, timeout_ms: int) -> tuple[tuple[str, int], ...]:
    return (
        ("grpc.keepalive_time_ms", time_ms),
        ("grpc.keepalive_timeout_ms", timeout_ms),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.ping_timeout_ms", timeout_ms),
    )


@breaks("keepalive-ping")
def send_no_pings() -> None:
    put(stream, "_KEEPALIVE_OPTIONS", ())


@breaks("keepalive-lost-connection")
def wait_long_for_an_answer() -> None:
    put(stream, "_KEEPALIVE_OPTIONS", with_keepalive(20_000, 120_000))


@breaks("no-ping-on-unix-sockets")
def ping_on_unix_sockets() -> None:
    put(stream, "_CHANNEL_OPTIONS", (*stream._CHANNEL_OPTIONS, *with_keepalive(10_000, 20_000)))
