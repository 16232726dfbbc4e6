"""Reads the live feed of a program that plays matches; see `live_feed` for the format."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from asara_server.eventlog.journal_format import split_frames
from asara_server.network import local_socket
from asara_server.network.live_feed import GREETING, LENGTH, is_own

_LARGEST_BATCH: Final = 16 * 1024 * 1024
_CONNECT_S: Final = 2.0

Batch = list[tuple[int, bytes]]
"""Numbers of matches in the feed, and records; empty once all beginnings have been received."""


class LiveFeedError(Exception):
    """There is no feed, or it has ended, or it is not one; the text says which."""


@asynccontextmanager
async def open_feed(path: Path) -> AsyncIterator[AsyncIterator[Batch]]:
    """Connect to a feed; yield its batches. Raises LiveFeedError at its end, too.

    `path` may be a stranger's: nothing else is sent there than what it holds, and programs of
    other users are refused.
    """
    writer = None
    try:
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await local_socket.connect(path)
                if not is_own(writer.get_extra_info("socket")):
                    raise LiveFeedError(f"{path}: is offered by another user")
                if await _read_batch(reader, len(GREETING)) != GREETING:
                    raise LiveFeedError(f"{path}: was made by another version of asara")
        except TimeoutError:
            raise LiveFeedError(f"{path}: does not answer") from None
        except (OSError, ValueError) as error:  # ValueError: no path, or no socket
            raise LiveFeedError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        yield _batches(reader)
    finally:
        if writer is not None:
            writer.transport.abort()


async def _batches(reader: asyncio.StreamReader) -> AsyncIterator[Batch]:
    while True:
        data = await _read_batch(reader, _LARGEST_BATCH)
        try:
            batch = list(split_frames(data))
        except ValueError as error:
            raise LiveFeedError(f"the feed is damaged: {error}") from None
        yield batch


async def _read_batch(reader: asyncio.StreamReader, largest: int) -> bytes:
    try:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        if length > largest:
            raise LiveFeedError("the feed is damaged: a batch is too long")
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, OSError):
        raise LiveFeedError("the feed has ended") from None
