"""Requests that the web server refuses, and the headers of every response."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from asara_server.web.app import create_app
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


@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/nothing", "/runs/none", "/nothing.js"])
def test_every_response_has_the_headers_of_security(client: TestClient, path: str):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


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
    assert client.request(method, "/api/runs").status_code == 405


@pytest.mark.parametrize("length", ["70000", "-1", "٣", "9" * 40])
def test_a_large_request_is_refused_before_it_is_read(client: TestClient, length: str):
    headers = {b"Content-Length": length.encode()}
    assert client.post("/api/runs", content=b"", headers=headers).status_code == 413


def test_a_long_address_is_refused(client: TestClient):
    assert client.get("/api/runs", params={"x": "y" * 5_000}).status_code == 414


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f"]
)
def test_no_path_leads_out_of_the_page(client: TestClient, path: str):
    answer = client.get(path)
    assert answer.status_code in {404, 503}
    assert "root:" not in answer.text


def test_sockets_of_one_peer_are_limited_as_long_as_they_are_open():
    settings = WebSettings(limits=WebLimits(sockets_per_peer=1))
    with TestClient(create_app(settings), base_url=OWN) as client:
        for _ in range(2):
            with client.websocket_connect("ws://localhost/ws/watch"):
                assert refusal(client, {}) == 503
