"""The live feed: running matches for one other program of the same user, such as `asara web`.

The feed is a local socket in a directory that only its owner may enter. A reader receives every
running match from its beginning, then what is new, in batches. A batch is its length (4 bytes, big
endian) and frames as the journal has them: the number of a match (varint), and a record preceded by
its length. The first record of a match is the header of its replay, and an empty record says that
the match is no longer played. The first batch is GREETING in place of frames. An empty batch says
that the reader has received the beginnings of all matches that were running when it connected.

A record is sent once the journal has it. The records hold the secrets of running matches: what is
shown of them to whom is for the reader to decide.

Nothing is done while nobody reads. With a reader, the matches are looked at every 20 ms, and the
bytes that the journal got are sent to all readers. A reader that is slow is disconnected, never
waited for.
"""

import asyncio
import os
import shutil
import socket
import struct
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from asara_codec.wire_format import delimited, varint
from asara_server.eventlog.log_file import split_frames
from asara_server.eventlog.record_codec import record_bytes
from asara_server.eventlog.replay import ReplayHeader
from asara_server.network import local_socket
from asara_server.network.addresses import socket_parent
from asara_server.network.live_file import LiveFile
from asara_server.referee.hosted import HostedMatch
from asara_server.referee.referee import Referee

GREETING: Final = b"asara live 1"
"""First batch of a feed; the number is that of its format."""
LENGTH: Final = struct.Struct(">I")
"""Length of a batch."""

_INTERVAL_S: Final = 0.02
_MOST_READERS: Final = 8
_MOST_UNREAD: Final = 8 * 1024 * 1024
"""Bytes that may wait for a reader."""
_CATCH_UP_S: Final = 30.0
"""Seconds within which a new reader must have read the running matches."""
_PEER: Final = struct.Struct("3i")
"""Process, user and group at the other end of a socket (SO_PEERCRED)."""

_Frame = tuple[int, bytes]
"""The number of a match, and one or more whole frames of it."""


class _Reader:
    """A connection.

    `known` holds the numbers of the matches that it has received so far, and is None once it has
    received all that were running when it connected.
    """

    __slots__ = ("known", "writer")

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.known: set[int] | None = set()

    def send(self, frames: Iterable[_Frame]) -> None:
        """Send a batch; disconnect the reader if too much waits for it."""
        known = self.known
        batch = b"".join(data for number, data in frames if known is None or number in known)
        if batch and not self.writer.transport.is_closing():
            self.writer.write(LENGTH.pack(len(batch)) + batch)
            if self.writer.transport.get_write_buffer_size() > _MOST_UNREAD:
                self.writer.transport.abort()


class _Progress:
    """The `number` of a match in the feed; `sent` counts its records, the header included."""

    __slots__ = ("number", "sent")

    def __init__(self, number: int) -> None:
        self.number = number
        self.sent = 0


class LiveFeed:
    """Sends the running matches of a referee to all readers."""

    def __init__(self, referee: Referee) -> None:
        self._referee = referee
        self._readers: set[_Reader] = set()
        self._matches: dict[HostedMatch, _Progress] = {}
        self._last_number = 0
        self._over: list[_Frame] = []
        """Frames of matches that were over since the last batch."""
        self._timer: asyncio.TimerHandle | None = None

    async def connect(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one reader until it disconnects or is too slow."""
        if len(self._readers) >= _MOST_READERS or not is_own(writer.get_extra_info("socket")):
            writer.transport.abort()
            return
        writer.write(LENGTH.pack(len(GREETING)) + GREETING)
        if not self._readers:
            self._start()
        reader = _Reader(writer)
        self._readers.add(reader)
        try:
            async with asyncio.timeout(_CATCH_UP_S):
                await self._catch_up(reader)
            await stream.read(1)  # a reader sends nothing: it has disconnected
        except (TimeoutError, OSError):
            pass  # it is slow, or gone
        finally:
            writer.transport.abort()
            self._readers.discard(reader)
            if not self._readers:
                self._stop()

    async def _catch_up(self, reader: _Reader) -> None:
        """Send a reader what has happened so far, one match at a time."""
        self._send_news()
        assert reader.known is not None
        for hosted, progress in list(self._matches.items()):
            if hosted in self._matches and progress.number not in reader.known:
                reader.known.add(progress.number)
                reader.send([(progress.number, _frames(hosted, progress.number, 0, progress.sent))])
                await reader.writer.drain()
                await asyncio.sleep(0)  # bots are not kept waiting for more than one match
        self._send_news()
        reader.known = None
        reader.writer.write(LENGTH.pack(0))

    def close(self) -> None:
        """Send the readers what is new, then disconnect them."""
        if self._readers:
            self._send_news()
            for reader in self._readers:
                reader.writer.close()

    # While somebody reads

    def _start(self) -> None:
        self._referee.on_match_over(self._match_over)
        self._schedule()

    def _stop(self) -> None:
        self._referee.on_match_over(None)
        for hosted in self._matches:
            hosted.fed = None
        self._matches.clear()
        self._over.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        """Send next at a multiple of the interval.

        The moment of a batch must not depend on when the first of its records was made: that may
        be within a turn, of which viewers are to learn nothing.
        """
        loop = asyncio.get_running_loop()
        moment = (loop.time() // _INTERVAL_S + 1) * _INTERVAL_S
        self._timer = loop.call_at(moment, self._tick)

    def _tick(self) -> None:
        self._schedule()
        self._send_news()

    def _send_news(self) -> None:
        """Send all readers what is new."""
        frames = list(self._news())  # may add to those of matches that are over
        frames = self._over + frames
        self._over = []
        if frames:
            for reader in list(self._readers):
                reader.send(frames)

    def _news(self) -> Iterator[_Frame]:
        for hosted in self._referee.flushed_matches():
            if (frame := self._new_frames(hosted)) is not None:
                yield frame

    def _new_frames(self, hosted: HostedMatch) -> _Frame | None:
        """Return what is new in a match, with its header if it is new itself."""
        assert hosted.match is not None
        progress = self._matches.get(hosted)
        if progress is None:
            self._last_number += 1
            progress = self._matches[hosted] = _Progress(self._last_number)
            for reader in self._readers:
                if reader.known is not None:
                    reader.known.add(progress.number)
        first, progress.sent = progress.sent, 1 + len(hosted.match.records)
        new = progress.sent - first
        if not new:
            return None
        # A referee with a journal has encoded the records already.
        fed, hosted.fed = hosted.fed, []
        if first and fed is not None and len(fed) == new:
            return progress.number, _joined(progress.number, fed)
        return progress.number, _frames(hosted, progress.number, first, progress.sent)

    def _match_over(self, hosted: HostedMatch, journaled: bool) -> None:
        if hosted.match is None:
            return
        if journaled and (frame := self._new_frames(hosted)) is not None:
            self._over.append(frame)
        if (progress := self._matches.pop(hosted, None)) is not None:
            self._over.append((progress.number, _joined(progress.number, [b""])))
            hosted.fed = None


def _frames(hosted: HostedMatch, number: int, first: int, end: int) -> bytes:
    """Return records of a match as frames; number 0 of them is the header."""
    match = hosted.match
    assert match is not None
    records = [record_bytes(record) for record in match.records[max(first - 1, 0) : end - 1]]
    if not first:
        header = ReplayHeader.of(match.spec, match.limits, hosted.started_unix_ms)
        records.insert(0, record_bytes(header))
    return _joined(number, records)


def _joined(number: int, records: Iterable[bytes]) -> bytes:
    prefix = varint(number)
    return b"".join([prefix + delimited(record) for record in records])


def is_own(connection: socket.socket) -> bool:
    """Return True if the process at the other end of a Unix socket has this process's user."""
    try:
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    except (AttributeError, OSError):  # not Linux: the directory's permissions decide alone
        return True
    return bool(_PEER.unpack(data)[1] == os.getuid())


@asynccontextmanager
async def live_feed(
    referee: Referee, folder: Path, make: Callable[[Referee], LiveFeed] = LiveFeed
) -> AsyncIterator[None]:
    """Offer the matches of a referee in the context; `live.json` in `folder` names the socket.

    Matches are played without a feed if it cannot be offered, as on a full disk.
    """
    feed = make(referee)
    async with AsyncExitStack() as stack:
        try:
            sockets = Path(tempfile.mkdtemp(prefix="asara-", dir=socket_parent()))
            stack.callback(shutil.rmtree, sockets, ignore_errors=True)
            path = sockets / "live"
            server = await local_socket.listen(feed.connect, path, backlog=_MOST_READERS)
            stack.callback(feed.close)
            stack.callback(server.close)
            LiveFile.write(folder, path)
            stack.callback(_remove_file, folder)
        except OSError as error:
            referee.log.warning("no live feed", detail=error.strerror or str(error))
        yield


def _remove_file(folder: Path) -> None:
    with suppress(OSError):  # the directory was made read-only or has gone
        LiveFile.remove(folder)


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
