"""The queue of one stream's responses, with a stream that the test controls."""

import asyncio
from dataclasses import replace

from asara_server.referee.limits import LimitSettings
from asara_server.referee.session import ResponseWriter
from tests.events import turns

LIMITS = replace(LimitSettings(), responses_unread=2, unread_bytes=100, unread_patience_s=1.0)


class Stream:
    """A stream whose messages are taken one by one, when the test says so."""

    def __init__(self) -> None:
        self.writer = ResponseWriter(self._write, LIMITS, lambda: self.now_us)
        self.now_us = 0
        self.begun: list[bytes] = []
        self._taking: list[asyncio.Future[None]] = []

    async def _write(self, message: bytes) -> None:
        self.begun.append(message)
        taken = asyncio.get_running_loop().create_future()
        self._taking.append(taken)
        await taken

    async def take(self, error: Exception | None = None) -> None:
        """Take the message that is being written, or break."""
        taken = self._taking.pop(0)
        if error is None:
            taken.set_result(None)
        else:
            taken.set_exception(error)
        await turns(3)


async def writing(*messages: bytes) -> Stream:
    """A stream whose writer has begun to write these messages."""
    stream = Stream()
    for message in messages:
        stream.writer.add(message)
    await turns(3)
    return stream


async def test_it_is_overfull_once_a_write_takes_too_long() -> None:
    stream = await writing(b"a", b"b", b"c", b"d")
    stream.now_us = 1_000_000
    assert stream.writer.overfull() == ""
    stream.now_us += 1
    assert stream.writer.overfull() == (
        "3 responses (4 bytes) wait unread; 2 (100 bytes) may"  # and one is being written
    )
    await stream.take()
    assert stream.writer.overfull() == ""


async def test_it_is_overfull_at_once_with_too_many_bytes() -> None:
    stream = await writing(bytes(60))
    stream.writer.add(bytes(40))
    assert stream.writer.overfull() == ""
    stream.writer.add(b"x")
    assert stream.writer.overfull().startswith("2 responses (101 bytes)")


async def test_a_burst_after_a_pause_is_no_fault_of_the_bot() -> None:
    stream = await writing(b"a")
    await stream.take()
    stream.now_us = 5_000_000
    for message in (b"b", b"c", b"d", b"e"):
        stream.writer.add(message)
        assert stream.writer.overfull() == ""
