"""Addresses of the form host:port that a program may listen on, and what is wrong with others."""

import errno
import ipaddress
import socket


class ServeError(ValueError):
    """An address or certificate that the referee cannot or will not use; says what to do."""


def split_address(address: str, *, or_else: str = "") -> tuple[str, int]:
    """Host, without brackets, and port; raises ServeError.

    `or_else` names what may be written instead, for the error.
    """
    host, colon, digits = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (digits.isascii() and digits.isdigit()):
        raise ServeError(f"address {address!r}: write host:port, such as 127.0.0.1:7777{or_else}")
    if len(digits) > 5 or int(digits) > 65_535:
        raise ServeError(f"address {address!r}: a port is at most 65535")
    return host, int(digits)


def join_address(host: str, port: int) -> str:
    """The opposite of `split_address`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def dialled_address(address: str) -> str:
    """The address that others dial: a machine's name instead of "all its addresses"."""
    host, _, port = address.rpartition(":")
    return f"{socket.gethostname()}:{port}" if host in {"0.0.0.0", "[::]"} else address  # noqa: S104


def numeric_host(address: str, host: str, *, remote_allowed: bool, danger: str) -> str:
    """The numeric address of a host.

    Raises ServeError where there is no such host, or where other machines can reach it and may
    not; `danger` says in words what could happen then, and what to do instead.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ServeError(f"address {address!r}: no such host {host!r} ({reason})") from None
    except UnicodeError:
        raise ServeError(f"address {address!r}: {host!r} is not the name of a host") from None
    numbers = [str(entry[4][0]) for entry in found]
    remote = [n for n in numbers if not ipaddress.ip_address(n.partition("%")[0]).is_loopback]
    if remote and not remote_allowed:
        raise ServeError(
            f"address {address!r} ({remote[0]}) can be reached from other machines, and {danger}, "
            "or allow it expressly"
        )
    return numbers[0]


def check_port(address: str, numeric: str, port: int) -> None:
    """Try a port before a library does whose own message does not say why it cannot be had.

    Raises ServeError.
    """
    if port == 0:
        return
    family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((numeric, port))
        except OSError as error:
            reason = {
                errno.EADDRINUSE: "another program listens there; choose another port, or 0",
                errno.EACCES: "ports below 1024 need special rights; choose a higher one",
                errno.EADDRNOTAVAIL: "this machine does not have that address",
            }.get(error.errno or 0, error.strerror or str(error))
            raise ServeError(f"cannot listen on {address!r}: {reason}") from None
