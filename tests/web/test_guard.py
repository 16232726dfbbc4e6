"""Requests that the web server refuses, and the headers of every response."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from asara_server.web.app import create_app
from asara_server.web.guard import Guard
from asara_server.web.settings import WebLimits, WebSettings

OWN = "http://localhost"


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(WebSettings()), base_url=OWN) as client:
        yield client


def refusal(client: TestClient, headers: dict[str, str]) -> int:
    """Return the status with which a WebSocket is refused."""
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        client.websocket_connect("ws://localhost/ws/watch", headers=headers),
    ):
        pass
    status: int = refused.value.status_code
    return status


@pytest.mark.parametrize("host", ["evil.example", "", "localhost.evil.example", "a b", "x" * 300])
def test_another_name_of_the_server_is_refused(client: TestClient, host: str):
    answer = client.get("/api/runs", headers={"Host": host})
    assert answer.status_code == 421
    assert "--host NAME" in answer.json()["error"]


@pytest.mark.parametrize("host", ["localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]:8080"])
def test_localhost_and_numeric_addresses_are_own_names(client: TestClient, host: str):
    assert client.get("/api/runs", headers={"Host": host}).status_code == 200


def test_a_configured_name_is_an_own_name():
    settings = WebSettings(hosts=frozenset({"Cup.example"}))
    with TestClient(create_app(settings), base_url="https://cup.example") as client:
        assert client.get("/api/runs").status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://evil-localhost", "null", "http://localhost:1", "http://"],
)
def test_a_page_of_another_origin_is_refused(client: TestClient, origin: str):
    answer = client.get("/api/runs", headers={"Origin": origin})
    assert answer.status_code == 403
    assert refusal(client, {"Origin": origin}) == 403


def test_the_own_origin_is_accepted(client: TestClient):
    assert client.get("/api/runs", headers={"Origin": OWN}).status_code == 200


def test_pages_that_may_embed_are_named_in_the_policy():
    settings = WebSettings(frame_ancestors=("'self'", "https://club.example"))
    with TestClient(create_app(settings), base_url=OWN) as client:
        policy = client.get("/").headers["content-security-policy"]
    assert policy.endswith("frame-ancestors 'self' https://club.example")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(client: TestClient, method: str):
    answer = client.request(method, "/api/runs")
    assert answer.status_code == 405
    assert answer.json() == {"error": "this server answers GET, HEAD and POST"}


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f"]
)
def test_no_path_leads_out_of_the_page(client: TestClient, path: str):
    answer = client.get(path)
    assert answer.status_code in {404, 503}
    assert "root:" not in answer.text


# The guard alone, around an application of the test's

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'{}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def scope(kind: str = "http", **changes: Any) -> Scope:
    found = {"type": kind, "method": "GET", "raw_path": b"/", "query_string": b"", "headers": []}
    return found | {"headers": [(b"host", b"localhost")], "client": ("1.2.3.4", 5)} | changes


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
    guard = Guard(app, WebSettings(hosts=frozenset(), limits=WebLimits(body_bytes=9, **limits)))
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
    peer = await asked(respond, scope(headers=[(b"host", host.encode())]))
    found, headers, _ = peer.answer()
    for name in ("content-length", "content-type", "cache-control"):  # of a refusal
        headers.pop(name, None)
    assert (found, headers) == (
        status,
        {
            "content-security-policy": POLICY.format(sockets),
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        },
    )


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"headers": [(b"host", b"localhost"), (b"content-length", b"9")]}, 200),
        ({"headers": [(b"host", b"localhost"), (b"content-length", b"10")]}, 413),
        ({"headers": [(b"host", b"localhost"), (b"content-length", b"0" * 12)]}, 200),
        ({"headers": [(b"host", b"localhost"), (b"content-length", b"0" * 13)]}, 413),
        ({"headers": [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]}, 411),
        ({"raw_path": b"/" * 4_000, "query_string": b"x" * 96}, 200),
        ({"raw_path": b"/" * 4_000, "query_string": b"x" * 97}, 414),
    ],
)
async def test_limits_are_exact(changes: dict[str, Any], status: int):
    assert (await asked(respond, scope(**changes))).answer()[0] == status


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
