"""Addresses at which a program listens: host:port, or the path of a Unix socket."""

import errno
import ipaddress
import os
import socket
import tempfile
from typing import Final, Literal

from asara_server import system
from asara_server.user_error import UserError

_MAX_PARENT_BYTES: Final = 75
"""Maximum length of a directory in which directories for sockets are made. Some systems limit the
path of a socket to 104 bytes."""
_SHORT_PARENT: Final = "/tmp"  # noqa: S108 - mkdtemp makes a directory that only this user may enter


LOCAL_TRANSPORT: Final[Literal["unix", "tcp"]] = "unix" if system.UNIX_SOCKETS else "tcp"
"""How the bots on this machine connect to the referee. With TCP, the referee listens on a free
loopback port."""


class ServeError(UserError, ValueError):
    """Raised for an address or certificate that cannot be used; the text explains what to do."""


def split_address(address: str) -> tuple[str, int]:
    """Return the host (without brackets) and the port; raise ServeError."""
    host, colon, digits = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (digits.isascii() and digits.isdigit()):
        raise ServeError(f"address {address!r}: write host:port, such as 127.0.0.1:7777")
    if len(digits) > 5 or int(digits) > 65_535:
        raise ServeError(f"address {address!r}: a port is at most 65535")
    return host, int(digits)


def join_address(host: str, port: int) -> str:
    """Return host:port, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reachable_address(address: str) -> str:
    """Return an address for other machines: a wildcard is replaced by this machine's name."""
    host, _, port = address.rpartition(":")
    return f"{socket.gethostname()}:{port}" if host in {"0.0.0.0", "[::]"} else address  # noqa: S104


def listen_at(address: str, *, remote_allowed: bool, danger: str) -> tuple[str, socket.socket]:
    """Return the host of `host:port`, and a socket that listens there; port 0 takes any free port.

    Raise ServeError if the address is malformed or in use, or if other machines can reach it and
    `remote_allowed` is False; `danger` then states the risk and the remedy.
    """
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ServeError(f"address {address!r}: no such host {host!r} ({reason})") from None
    except UnicodeError:
        raise ServeError(f"address {address!r}: {host!r} is not a host name") from None
    numbers = [str(entry[4][0]) for entry in found]
    remote = [number for number in numbers if not is_loopback(number)]
    if remote and not remote_allowed:
        raise ServeError(
            f"address {address!r} ({remote[0]}) can be reached from other machines, and {danger}"
        )
    return host, _listener(address, numbers[0], port)


def _listener(address: str, numeric: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
    both = numeric == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((numeric, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        reason = {
            errno.EADDRINUSE: "another program listens there; choose another port, or 0",
            errno.EACCES: "ports below 1024 need special rights; choose a higher one",
            errno.EADDRNOTAVAIL: "this machine does not have that address",
        }.get(error.errno or 0, error.strerror or str(error))
        raise ServeError(f"cannot listen on {address!r}: {reason}") from None


def is_loopback(numeric: str) -> bool:
    """True if only this machine can reach a numeric address."""
    return ipaddress.ip_address(numeric.partition("%")[0]).is_loopback


def client_network(host: str) -> str:
    """Return an IPv4 address, or the first 64 bits of an IPv6 address as a network.

    Limits count these as one client. Text that is no address is returned as it is.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def free_address() -> str:
    """Return a currently unused address of the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return join_address("127.0.0.1", probe.getsockname()[1])


def socket_parent() -> str:
    """Return a directory for directories of sockets; its path is short, as socket paths must be."""
    usual = tempfile.gettempdir()
    short = len(os.fsencode(usual)) <= _MAX_PARENT_BYTES or not system.UNIX_SOCKETS
    return usual if short else _SHORT_PARENT
