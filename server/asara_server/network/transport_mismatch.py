"""Recognises clients that use TLS at an address without it, or plain text at one with TLS.

Both are common mistakes of settings, and the libraries report them in words that name neither. Such
a client gets no answer of its own: one of HTTP/2 without TLS makes gRPC dial again without a pause.
"""

from typing import Final

_TLS_HANDSHAKE: Final = b"\x16\x03"
_HTTP2: Final = b"PRI * HTTP/2"
_MOST_CLIENTS: Final = 64
"""Clients that are reported, so that strangers cannot fill the log."""


class MismatchReports:
    """Texts about clients with the wrong transport, one for each client."""

    def __init__(self, *, tls: bool) -> None:
        self._tls = tls
        self._reported: set[str] = set()

    def fault(self, first: bytes) -> str:
        """Return what is wrong with a connection that begins with these bytes, or ""."""
        if self._tls and first.startswith(_HTTP2):
            return "dialled without TLS, which this address needs; its bot needs ASARA_CA"
        if not self._tls and first.startswith(_TLS_HANDSHAKE):
            return "dialled with TLS, which this address does not use; its bot has ASARA_CA set"
        return ""

    def is_new(self, client: str) -> bool:
        """Return True once for each client, for a limited number of clients."""
        if client in self._reported or len(self._reported) >= _MOST_CLIENTS:
            return False
        self._reported.add(client)
        return True
