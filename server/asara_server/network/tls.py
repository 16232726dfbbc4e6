"""Certificates and private keys of servers."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from asara_server.network.addresses import ServeError


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Paths of the server's certificate (with its chain) and private key, both PEM."""

    certificate: Path
    key: Path


def tls_credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    """What these files hold; raises ServeError where they cannot be used."""
    for path, what in ((tls.certificate, "certificate"), (tls.key, "private key")):
        try:
            path.read_bytes()
        except OSError as error:
            raise ServeError(f"TLS {what} {path}: {error.strerror}") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            tls.certificate, tls.key, password=_no_password
        )
    except (ssl.SSLError, _NoPasswordError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise ServeError(
            f"TLS certificate {tls.certificate} with private key {tls.key}: {reason}; "
            "both must be PEM files that belong together, the key without a password"
        ) from None
    return grpc.ssl_server_credentials([(tls.key.read_bytes(), tls.certificate.read_bytes())])


class _NoPasswordError(Exception):
    pass


def _no_password() -> str:
    raise _NoPasswordError("the key is encrypted")
