"""Peers that read nothing: they keep neither memory nor connections."""

import asyncio
import socket
import struct

import pytest

from asara_server.web import server as web_server
from asara_server.web.settings import WebLimits, WebSettings
from tests.events import EVENT_S
from tests.web.play_pipe import serving

HANDSHAKE = (
    "GET /ws/watch?run=x HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def connected(address):
    """A connection with the least room for what it is sent."""
    host, port = address.split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (host, int(port)))
    return connection


async def deaf(address):
    """A connection with an open WebSocket."""
    connection = await connected(address)
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(connection, HANDSHAKE.format(address).encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += await loop.sock_recv(connection, 1)
    assert b"101 Switching Protocols" in received
    return connection


async def test_pings_whose_answers_are_not_read_end_the_connection():
    ping = bytes((0x89, 0x80 | 125)) + bytes(4) + bytes(125)
    async with serving(WebSettings()) as address:
        connection = await deaf(address)
        with pytest.raises(ConnectionError):
            await _send(connection, ping * 400_000)
        connection.close()


async def test_a_peer_that_does_not_answer_a_close_is_disconnected(monkeypatch):
    monkeypatch.setattr(web_server, "_CLOSE_S", 0.2)
    async with serving(WebSettings(limits=WebLimits(hello_s=0.1))) as address:
        connection = await deaf(address)
        loop = asyncio.get_running_loop()
        received = b""
        async with asyncio.timeout(EVENT_S):
            while data := await _receive(loop, connection):
                received += data
        assert struct.pack(">H", 4003) in received
        connection.close()


@pytest.mark.long
@pytest.mark.parametrize("requests", [1, 100])
async def test_a_response_that_is_not_read_ends_the_connection(tmp_path, requests):
    (tmp_path / "index.html").write_bytes(bytes(7_000_000))
    settings = WebSettings(page=tmp_path, limits=WebLimits(request_s=0.3))
    async with serving(settings) as address:
        connection = await connected(address)
        await _send(connection, f"GET / HTTP/1.1\r\nHost: {address}\r\n\r\n".encode() * requests)
        received = 0
        async with asyncio.timeout(EVENT_S):
            while data := await _receive(asyncio.get_running_loop(), connection, 1 << 20):
                received += len(data)
        assert 0 < received < 7_000_000
        connection.close()


async def _send(connection, data):
    await asyncio.wait_for(asyncio.get_running_loop().sock_sendall(connection, data), EVENT_S)


async def _receive(loop, connection, size=100):
    try:
        return await loop.sock_recv(connection, size)
    except ConnectionResetError:
        return b""
