"""Checks every request before it reaches a route, and adds headers to every response.

A page of another origin can make a browser send requests here. `Host` must be a name of this
server, because an attacker's own name can be made to resolve to 127.0.0.1 (DNS rebinding). `Origin`
must be this server, because the same-origin policy does not apply to WebSockets.
"""

import asyncio
import ipaddress
import re
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asara_server.logs import logger
from asara_server.web.responses import error_response
from asara_server.web.settings import WebSettings

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")
_METHODS: Final = frozenset({"GET", "HEAD", "POST"})
_MOST_ADDRESS: Final = 4_096
"""Maximum bytes of a path with its query."""


class Guard:
    """ASGI middleware for the checks, limits and headers that all routes share."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self._app = app
        self._limits = settings.limits
        self._hosts = frozenset(host.lower() for host in settings.hosts) | {"localhost"}
        self._ancestors = " ".join(settings.frame_ancestors) or "'none'"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sender = _HeaderSender(send, self._headers(headers.get("host", "")))
        fault = self._fault(scope, headers)
        if fault is not None:
            await _refuse(scope, receive, sender, *fault)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, sender)
        else:
            await self._request(scope, receive, sender)

    def _fault(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return the status and the error sentence if the request is refused, otherwise None."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return 421, f"this server is not called {host[:100]!r}; start it with --host NAME"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return 403, f"pages of {origin[:100]!r} may not use this server"
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > _MOST_ADDRESS:
            return 414, "the address is too long"
        if scope["type"] == "http":
            return self._http_fault(scope, headers)
        return None

    def _http_fault(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        if scope["method"] not in _METHODS:
            return 405, "this server answers GET, HEAD and POST"
        if "transfer-encoding" in headers:
            return 411, "state the length of the request"
        length = headers.get("content-length", "0")
        largest = self._limits.body_bytes
        if not (length.isascii() and length.isdigit()) or len(length) > 12 or int(length) > largest:
            return 413, f"a request may have {largest:,} bytes"
        return None

    def _is_own(self, host: str) -> bool:
        """Return True for localhost, configured names, and numeric addresses (never rebound)."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].lower()
        if name.rstrip(".") in self._hosts:
            return True
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True

    def _headers(self, host: str) -> dict[str, str]:
        # 'self' covers WebSockets of the same host, but not in every browser.
        sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
        return {
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
                f"img-src 'self'; connect-src 'self'{sockets}; base-uri 'none'; "
                f"form-action 'none'; frame-ancestors {self._ancestors}"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }

    async def _request(self, scope: Scope, receive: Receive, send: "_HeaderSender") -> None:
        try:
            async with asyncio.timeout(self._limits.request_s):
                await self._app(scope, receive, send)
        except TimeoutError:
            if send.started:
                raise
            await _refuse(scope, receive, send, 408, "the request took too long")
        except Exception:
            # The error's text may contain paths, so it is only logged.
            logger("web").error("request failed", exc_info=True)
            if send.started:
                raise
            await _refuse(scope, receive, send, 500, "the server could not answer; see its log")


class _HeaderSender:
    """Sends the messages of a response with these headers added."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self._headers = headers
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] in {"http.response.start", "websocket.http.response.start"}:
            self.started = True
            MutableHeaders(scope=message).update(self._headers)
        await self._send(message)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    """Answer with an error; the answer to a WebSocket's handshake is an ordinary response."""
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
    await error_response(status, sentence)(scope, receive, send)
