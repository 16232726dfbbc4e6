"""The WebSocket `/ws/watch?run=RUN`: one match, for a viewer.

The first message from the browser is a WatchRequest; every message to the browser is a
WatchResponse. The events of a running match are sent as they happen. A match whose replay is
published is sent in full immediately. The WebSocket is closed with the status and the reason of a
gRPC call.
"""

import asyncio
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from starlette.websockets import WebSocket, WebSocketDisconnect

from asara.v1.watch_pb2 import WatchRequest
from asara_server.journal.replay import ReplayError
from asara_server.journal.resimulate import resimulated
from asara_server.logs import logger
from asara_server.referee.stream_errors import ErrorKind, StreamError
from asara_server.replay.file import SUFFIX, read_replay
from asara_server.text import plain
from asara_server.web.live_matches import LiveMatch
from asara_server.web.responses import (
    WebError,
    close,
    close_with_error,
    receive_bytes,
    receive_first,
)
from asara_server.web.run_catalogue import RunCatalogue, Source
from asara_server.web.settings import WebLimits

_LARGEST_REQUEST: Final = 4 * 1024
_KEPT_MATCHES: Final = 16
"""Number of finished matches that are kept, so that the next watcher need not wait."""
_EXPECTED: Final = "a binary message with a WatchRequest"


class WatchSockets:
    """Serves the watchers of matches."""

    def __init__(self, limits: WebLimits, catalogue: RunCatalogue) -> None:
        self._limits = limits
        self._catalogue = catalogue
        self._watchers = 0
        self._one_at_a_time = asyncio.Lock()  # simulations take processor time from others
        self._simulated = lru_cache(_KEPT_MATCHES)(_simulated)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one watcher until the match is over, or either side closes."""
        await socket.accept()
        self._watchers += 1
        try:
            if self._watchers > self._limits.watchers:
                text = f"{self._limits.watchers} watchers are connected, which is the limit"
                raise StreamError(ErrorKind.TOO_MANY_STREAMS, f"{text}; try again later")
            kind, seconds = ErrorKind.EMPTY_REQUEST, self._limits.hello_s
            data = await receive_first(socket, seconds, _EXPECTED, kind, "a WatchRequest")
            await self._serve(socket, _parse(data))
            await close(socket, grpc.StatusCode.OK, "", "")
        except StreamError as error:
            await close_with_error(socket, error)
        except WebSocketDisconnect:
            pass
        finally:
            self._watchers -= 1

    async def _serve(self, socket: WebSocket, request: WatchRequest) -> None:
        """Send the messages until the end of the match; raises anything that ends it early."""
        receiving = asyncio.create_task(_expect_nothing(socket))
        sending = asyncio.create_task(self._send_match(socket, request))
        tasks = receiving, sending
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            (sending if sending.done() else receiving).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_match(self, socket: WebSocket, request: WatchRequest) -> None:
        run = socket.query_params.get("run", "")
        match_id, after = request.match_id, request.after_sequence
        try:
            source = await asyncio.to_thread(self._catalogue.find, run)
        except WebError as error:
            raise StreamError(ErrorKind.MATCH, plain(str(error), longest=100)) from None
        match = await self._catalogue.live(source).find(match_id)
        if match is None:
            async with self._one_at_a_time:
                match = await asyncio.to_thread(self._finished, source, match_id)
        async for message in match.watch(after):
            await self._send(socket, message)

    def _finished(self, source: Source, match_id: str) -> LiveMatch:
        """Return a match whose replay is published; raises StreamError."""
        path = source.replays / f"{match_id}{SUFFIX}"
        about = None
        if path.parent == source.replays and not path.name.startswith("."):
            with suppress(OSError, ValueError):
                about = path.lstat()
        if about is None or not S_ISREG(about.st_mode):  # a link may lead anywhere
            text = f"no match '{plain(match_id, longest=64)}' can be watched now"
            raise StreamError(ErrorKind.MATCH, text)
        return self._simulated(path, about.st_mtime_ns, about.st_size)

    async def _send(self, socket: WebSocket, message: bytes) -> None:
        """Send a message; raises StreamError if the browser reads too slowly.

        Nothing is queued for the browser: events that happen in the meantime go into the next
        message.
        """
        seconds = self._limits.send_s
        try:
            async with asyncio.timeout(seconds):
                await socket.send_bytes(message)
        except TimeoutError:
            text = f"nothing was read for {seconds:g} s; connect again to go on"
            raise StreamError(ErrorKind.RESPONSES_UNREAD, text) from None


def _simulated(path: Path, _modified_ns: int, _size: int) -> LiveMatch:
    """Return the match in a replay, given what tells versions of the file apart."""
    try:
        replay = read_replay(path)
        *_, (match, _) = resimulated(replay)
    except ReplayError as error:
        logger("web").warning("replay cannot be shown", detail=str(error))
        text = "the replay of this match is damaged: see `asara audit`"
        raise StreamError(ErrorKind.MATCH, text) from None
    return LiveMatch.over(replay.header, match)


async def _expect_nothing(socket: WebSocket) -> None:
    """Wait until the browser leaves; raises WebSocketDisconnect and StreamError."""
    await receive_bytes(socket, _EXPECTED)
    text = "send one WatchRequest; open another WebSocket for another match"
    raise StreamError(ErrorKind.UNREADABLE_REQUEST, text)


def _parse(data: bytes) -> WatchRequest:
    if len(data) > _LARGEST_REQUEST:
        text = f"a request may have {_LARGEST_REQUEST:,} bytes"
        raise StreamError(ErrorKind.REQUEST_TOO_LARGE, text)
    try:
        return WatchRequest.FromString(data)
    except DecodeError:
        text = f"the request is not a serialized {WatchRequest.DESCRIPTOR.full_name}"
        raise StreamError(ErrorKind.UNREADABLE_REQUEST, text) from None
