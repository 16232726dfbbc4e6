"""Settings of the web server."""

import socket
from dataclasses import dataclass, field
from pathlib import Path

from asara_server import bundled


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLimits:
    """Limits that prevent one peer from blocking the server for others."""

    connections: int = 1_024
    """Maximum open connections, including WebSockets; further ones are closed immediately."""
    connections_per_peer: int = 384
    """Maximum open connections from one address."""
    head_s: float = 10.0
    """Seconds for a connection to send the head of its first request."""
    request_s: float = 30.0
    """Seconds for a request and its response together."""
    body_bytes: int = 64 * 1024
    """Maximum bytes of a request."""
    socket_message_bytes: int = 64 * 1024
    """Maximum bytes of a message that a WebSocket may send to the server."""
    play_sockets: int = 128
    """Maximum WebSockets for playing; a referee's Unix socket takes twice as many."""
    hello_s: float = 10.0
    """Seconds from the opening of a WebSocket until its first message must arrive."""
    watchers: int = 512
    """Maximum WebSockets that watch matches."""
    send_s: float = 10.0
    """Seconds for a watcher to take a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What is served, and to whom."""

    sources: tuple[Path, ...] = ()
    """Runs, folders of runs, or folders of replays."""
    hosts: frozenset[str] = field(default_factory=lambda: frozenset({socket.gethostname()}))
    """Names by which browsers may address the server, beyond localhost and numeric addresses."""
    frame_ancestors: tuple[str, ...] = ("'self'",)
    """Origins of the pages that may embed this page, as in a content security policy."""
    logs: bool = True
    """True if viewers see what a bot wrote next to its decisions, provided that they may see its
    view. False if strangers can reach the server."""
    page: Path = field(default_factory=lambda: bundled.page() / "app")
    """Folder of the built page."""
    play_address: str | None = None
    """Address of the referee for bots and people who play: `unix:/path` or `host:port` on this
    machine, without TLS; None if nobody can play."""
    limits: WebLimits = WebLimits()
