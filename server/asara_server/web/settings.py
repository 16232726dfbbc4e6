"""Settings of the web server."""

import socket
from dataclasses import dataclass, field
from pathlib import Path

from asara_server import bundled


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLimits:
    """Limits that keep one peer from taking the server away from the others."""

    connections: int = 1_024
    """Open connections, WebSockets included; further ones are closed at once."""
    connections_per_peer: int = 512
    """Those from one address."""
    sockets: int = 768
    """Open WebSockets; further ones are refused with status 503."""
    sockets_per_peer: int = 384
    """Those from one address."""
    head_s: float = 10.0
    """Seconds within which a connection must have sent the head of its first request."""
    request_s: float = 30.0
    """Seconds for a request and its response together."""
    body_bytes: int = 64 * 1024
    """Bytes of the largest request."""
    socket_message_bytes: int = 64 * 1024
    """Bytes of the largest message that a WebSocket may send to the server."""
    play_sockets: int = 128
    """WebSockets over which bots and people play; a referee's Unix socket takes twice as many."""
    hello_s: float = 10.0
    """Seconds from the opening of a WebSocket to its first message."""
    watchers: int = 512
    """WebSockets that watch matches."""
    send_s: float = 10.0
    """Seconds within which a watcher must have taken a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What is served, and to whom."""

    sources: tuple[Path, ...] = ()
    """Runs, folders of runs, or folders of replays."""
    hosts: frozenset[str] = field(default_factory=lambda: frozenset({socket.gethostname()}))
    """Names by which browsers may call the server, besides localhost and numeric addresses."""
    frame_ancestors: tuple[str, ...] = ("'self'",)
    """Origins of the pages that may embed this one, as in a content security policy."""
    logs: bool = True
    """True if what bots wrote is shown beside their decisions, to whom may see their view; False if
    strangers can reach the server."""
    page: Path = field(default_factory=lambda: bundled.page() / "app")
    """Folder of the built page."""
    play_address: str | None = None
    """Address of the referee at which bots and people play: `unix:/path` or `host:port` of this
    machine, without TLS; None if nobody can play."""
    limits: WebLimits = WebLimits()
