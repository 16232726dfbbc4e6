"""Certificates and private keys of servers."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from asara_server.bounded_file import MIB, read_bounded
from asara_server.network.addresses import ServeError


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Paths of the server's certificate (with its chain) and private key, both PEM."""

    certificate: Path
    key: Path


def tls_credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    """Read and check the certificate and key; raise ServeError if they cannot be used."""
    held: list[bytes] = []
    for path, content in ((tls.certificate, "certificate"), (tls.key, "private key")):
        try:
            held.append(read_bounded(path, MIB))
        except OSError as error:
            raise ServeError(f"TLS {content} {path}: {error.strerror}") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            tls.certificate, tls.key, password=_refuse_password
        )
    except (ssl.SSLError, _EncryptedKeyError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise ServeError(
            f"TLS certificate {tls.certificate} with private key {tls.key}: {reason}; "
            "both must be PEM files that belong together, the key without a password"
        ) from None
    return grpc.ssl_server_credentials([(held[1], held[0])])


class _EncryptedKeyError(Exception):
    pass


def _refuse_password() -> str:
    raise _EncryptedKeyError("the key is encrypted")
