"""Requests that the web server refuses, and the headers of every response."""

import asyncio
import json
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from asara_server.web.app import create_app
from asara_server.web.guard import Guard
from asara_server.web.settings import WebLimits, WebSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'{}; base-uri 'none'; form-action 'none'; frame-ancestors {}"
)


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f"]
)
def test_no_path_leads_out_of_the_page(path: str):
    with TestClient(create_app(WebSettings()), base_url="http://localhost") as client:
        answer = client.get(path)
    assert answer.status_code in {404, 503}
    assert "root:" not in answer.text


def test_a_websocket_of_a_page_of_another_origin_is_refused():
    with (
        TestClient(create_app(WebSettings()), base_url="http://localhost") as client,
        pytest.raises(WebSocketDenialResponse) as refused,
        client.websocket_connect("ws://localhost/ws/watch", headers={"Origin": "http://evil"}),
    ):
        pass
    assert refused.value.status_code == 403


# The guard alone, around an application of the test's


def scope(method: str = "GET", **headers: str) -> dict[str, Any]:
    """A request with these headers, whose names have underscores for hyphens."""
    pairs = ({"host": "localhost"} | headers).items()
    return {
        "type": "http",
        "method": method,
        "raw_path": b"/",
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in pairs],
    }


class Peer:
    """Sends a request without a body; `sent` are the messages that it is sent."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        return {"type": "http.request"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        start, body = self.sent
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], headers, body["body"]

    def refusal(self) -> tuple[int, str]:
        status, _, body = self.answer()
        return status, json.loads(body)["error"]


async def respond(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"so"})


async def asked(app: ASGIApp, request: Scope, **limits: Any) -> Peer:
    """Return a peer after its request."""
    peer = Peer()
    settings = WebSettings(
        hosts=frozenset({"Cup.example"}),
        frame_ancestors=("'self'", "https://club.example"),
        limits=WebLimits(body_bytes=9, **limits),
    )
    guard = Guard(app, settings)
    await guard(request, peer.receive, peer.send)
    return peer


@pytest.mark.parametrize(
    ("host", "status", "sockets"),
    [
        ("localhost:8", 200, " ws://localhost:8 wss://localhost:8"),
        ("evil", 421, " ws://evil wss://evil"),
        ("localhost; script-src *", 421, ""),
    ],
)
async def test_responses_have_these_headers_and_no_others(host: str, status: int, sockets: str):
    peer = await asked(respond, scope(host=host))
    found, headers, _ = peer.answer()
    for name in ("content-length", "content-type", "cache-control"):  # of a refusal
        headers.pop(name, None)
    assert (found, headers) == (
        status,
        {
            "content-security-policy": POLICY.format(sockets, "'self' https://club.example"),
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        },
    )


NAMES = ("localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]:8080", "cup.example")
OTHER_NAMES = ("evil.example", "", "localhost.evil.example", "a b", "x" * 300)
OTHER_ORIGINS = (
    *("http://evil.example", "http://evil-localhost", "null", "http://localhost:1"),
    "http://",
)


@pytest.mark.parametrize(
    ("request_scope", "status"),
    [
        *((scope(host=name), 200) for name in NAMES),
        *((scope(host=name), 421) for name in OTHER_NAMES),
        (scope(origin="http://localhost"), 200),
        *((scope(origin=origin), 403) for origin in OTHER_ORIGINS),
        *((scope(method), 405) for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH")),
        (scope(content_length="9"), 200),
        (scope(content_length="10"), 413),
        (scope(content_length="0" * 12), 200),
        (scope(content_length="0" * 13), 413),
        (scope(transfer_encoding="chunked"), 411),
        (scope() | {"raw_path": b"/" * 4_000, "query_string": b"x" * 96}, 200),
        (scope() | {"raw_path": b"/" * 4_000, "query_string": b"x" * 97}, 414),
    ],
)
async def test_requests_are_answered_or_refused(request_scope: Scope, status: int):
    peer = await asked(respond, request_scope)
    assert peer.answer()[0] == status
    if status == 421:
        assert "--host NAME" in peer.refusal()[1]


async def test_a_request_that_takes_too_long_is_ended():
    async def waiting(*_: object) -> None:
        await asyncio.Event().wait()

    peer = await asked(waiting, scope(), request_s=0.0)
    assert peer.refusal() == (408, "the request took too long")


async def test_an_error_is_logged_and_not_shown():
    async def failing(*_: object) -> None:
        raise ValueError("/home/ann")

    with capture_logs() as logs:
        peer = await asked(failing, scope())
    assert peer.refusal() == (500, "the server could not answer; see its log")
    assert logs == [
        {"part": "web", "event": "request failed", "log_level": "error", "exc_info": True}
    ]


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
async def test_an_error_within_a_response_ends_the_connection(error: type[Exception]):
    async def failing(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    with capture_logs(), pytest.raises(error):
        await asked(failing, scope())
