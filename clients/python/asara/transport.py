"""Finds out why a connection fails if only one end uses TLS: gRPC's own message is unclear."""

from __future__ import annotations

import contextlib
import socket
import ssl

_TIMEOUT_S = 2.0
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_SETTINGS = 4  # the first frame of every HTTP/2 server (RFC 9113, 3.4)


def transport_fault(address: str, *, tls: bool) -> str:
    """Return the fault and its remedy if only one end uses TLS, else "".

    `tls` is True if the client uses TLS; the server at `address` is probed. "" is also the result
    if nothing listens there. No secret is sent.
    """
    if address.startswith("unix:"):
        return ""
    host, _, port = address.rpartition(":")
    with (
        contextlib.suppress(OSError, ValueError, OverflowError),
        socket.create_connection((host.strip("[]"), int(port)), _TIMEOUT_S) as connection,
    ):
        connection.settimeout(_TIMEOUT_S)
        if tls and _answers_without_tls(connection):
            return (
                f"the referee at {address} uses no TLS, and ASARA_CA is set: "
                "unset ASARA_CA, or check ASARA_ADDRESS"
            )
        if not tls and _answers_with_tls(connection):
            return (
                f"the referee at {address} uses TLS, and ASARA_CA is not set: set it to the "
                "file of the referee's certificate, which its organiser gives you"
            )
    return ""


def _answers_without_tls(connection: socket.socket) -> bool:
    connection.sendall(_HTTP2_PREFACE)
    frame = b""
    while len(frame) < 4 and (more := connection.recv(4 - len(frame))):
        frame += more
    return len(frame) == 4 and frame[3] == _SETTINGS


def _answers_with_tls(connection: socket.socket) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing but the handshake is sent
    with context.wrap_socket(connection):
        return True
