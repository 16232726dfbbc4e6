"""The API about runs: JSON about runs and their matches, and replay files."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from asara_server.journal.replay import ReplayError
from asara_server.replay.file import parse_replay
from asara_server.replay.replay_view import parse_viewer, replay_view
from asara_server.text import plain
from asara_server.tournament.bots.output import decision_texts
from asara_server.web.match_list import LARGEST_PAGE, MatchFilter
from asara_server.web.open_run import OpenRun
from asara_server.web.responses import PROTOBUF, WebError, json_response, tagged_response
from asara_server.web.run_catalogue import RunCatalogue, SourceKind

T = TypeVar("T")

KEY_HEADER: Final = "Asara-Referee-Key"
"""Response header with the public key of the run's referee, in hexadecimal digits."""

_READERS: Final = 2
"""Number of threads that read files and play matches again."""
_QUEUED: Final = 64
"""Number of requests that may wait for these threads; further ones get status 503."""
_MOST_RESULTS: Final = 300_000
"""Maximum number of results kept of runs that nobody is looking at any more."""
_KEPT_VIEWS: Final = 64
_PAGE: Final = 100


class RunsApi:
    """Answers requests about runs. Files are read in threads, so no request delays others."""

    def __init__(self, catalogue: RunCatalogue, *, logs: bool) -> None:
        """With `logs`, views include what bots wrote."""
        self._catalogue = catalogue
        self._logs = logs
        self._opened: dict[str, OpenRun] = {}
        self._waiting = 0
        self._readers = ThreadPoolExecutor(_READERS, "reader")
        self._computer = ThreadPoolExecutor(1, "standings")
        self._views = lru_cache(_KEPT_VIEWS)(_view_bytes)

    def routes(self) -> list[Route]:
        run = "/api/runs/{run}"
        return [
            Route("/api/runs", self.runs),
            Route(run, self.run),
            Route(f"{run}/details", self.details),
            Route(f"{run}/matches", self.matches),
            Route(f"{run}/matches/{{match}}/view", self.view),
            Route(f"{run}/matches/{{match}}/replay", self.replay),
            Route(f"{run}/matches/{{match}}/analysis", self.analysis),
            Route(f"{run}/blocks/{{block}}", self.block),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the libraries for standings, which takes a second; on exit, end the threads."""
        self._computer.submit(import_module, "asara_server.tournament.standings.standings")
        try:
            yield
        finally:
            for threads in (self._readers, self._computer):
                threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        if self._waiting >= _QUEUED:
            raise WebError(503, "too many requests at once; try again in a moment")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, function)
        finally:
            self._waiting -= 1

    async def _open(self, request: Request) -> OpenRun:
        """Return the current state of the run in the address."""
        name = request.path_params["run"]
        try:
            source = await self._in_thread(lambda: self._catalogue.find(name))
        except WebError:
            self._opened.pop(name, None)
            raise
        run = self._opened.pop(name, None)
        if run is None or run.source != source:
            run = OpenRun(source, self._computer)
        self._opened[name] = run  # most recently used last
        await self._in_thread(run.refresh)
        self._forget_old()
        return run

    def _forget_old(self) -> None:
        kept = sum(len(run.matches.results) for run in self._opened.values())
        for name in list(self._opened)[:-1]:
            if kept <= _MOST_RESULTS:
                return
            kept -= len(self._opened.pop(name).matches.results)

    async def runs(self, request: Request) -> Response:
        """All runs: unfinished ones first, then the most recent."""
        return json_response(request, {"runs": await self._in_thread(self._catalogue.summaries)})

    async def run(self, request: Request) -> Response:
        run = await self._open(request)
        live = self._catalogue.live(run.source)
        running = await live.tables() if run.is_played else []
        return json_response(request, run.json(await run.standings.get(), running))

    async def details(self, request: Request) -> Response:
        """Tables that the page shows on request; null until they are computed."""
        run = await self._open(request)
        if run.status is None:
            raise WebError(404, "a folder of replays has no report")
        standings = await run.standings.get()
        tables = None if standings is None else await run.details.get(standings)
        return json_response(request, {"tables": tables})

    async def matches(self, request: Request) -> Response:
        """A page of the matches that pass a filter; with `order=latest`, the latest come first.

        `state=running` cannot be combined with other filters. It lists the running matches that may
        be watched.
        """
        query = request.query_params
        if query.get("state") == "running":
            run = await self._open(request)
            running = await self._catalogue.live(run.source).rows()
            return json_response(request, {"total": len(running), "offset": 0, "matches": running})
        wanted = MatchFilter.of(query)
        order = query.get("order", "")
        if order not in {"", "latest"}:
            raise WebError(400, "order: write latest, or leave it out")
        offset = _number(query.get("offset", "0"), "offset", 10**9)
        limit = _number(query.get("limit", str(_PAGE)), "limit", LARGEST_PAGE)
        run = await self._open(request)
        page = partial(run.page, wanted, offset=offset, limit=limit, latest_first=order == "latest")
        total, rows = await self._in_thread(page)
        return json_response(request, {"total": total, "offset": offset, "matches": rows})

    async def block(self, request: Request) -> Response:
        """The finished matches of a block."""
        run = await self._open(request)
        name = request.path_params["block"]
        rows = await self._in_thread(lambda: run.block(name))
        if not rows:
            raise WebError(404, f"no match of the block {plain(name, 100)!r} is over")
        return json_response(request, {"block": name, "matches": rows})

    async def replay(self, request: Request) -> Response:
        """The signed replay file; a response header contains the run's public key."""
        run = await self._open(request)
        match = request.path_params["match"]
        content = await self._in_thread(lambda: run.replay_bytes(match))
        response = tagged_response(request, content, "application/octet-stream")
        response.headers["Content-Disposition"] = "attachment"
        key = await self._in_thread(run.public_key)
        if key is not None:
            response.headers[KEY_HEADER] = key.hex()
        return response

    async def view(self, request: Request) -> Response:
        """A match as one viewer may see it, as a ReplayView."""
        viewer = request.query_params.get("viewer", "everybody")
        run = await self._open(request)
        match = request.path_params["match"]

        def view() -> bytes:
            with_logs = self._logs and run.source.kind is SourceKind.RUN
            folder = run.source.directory if with_logs else None
            return self._views(run.replay_bytes(match), viewer, folder)

        return tagged_response(request, await self._in_thread(view), PROTOBUF)

    async def analysis(self, request: Request) -> Response:
        """The analysis of a match in a finished run; null if there is none."""
        run = await self._open(request)
        match = request.path_params["match"]
        return json_response(request, await self._in_thread(lambda: run.analysis(match)))


def _view_bytes(data: bytes, viewer: str, folder: Path | None) -> bytes:
    """Return a serialized ReplayView; raises WebError for a damaged or a forged replay.

    The view includes what bots wrote to the logs of the run in `folder`.
    """
    try:
        found = parse_viewer(viewer)
    except ValueError as error:
        raise WebError(400, f"viewer: {error}") from None
    try:
        replay = parse_replay(data)
        header = replay.header
        logs = decision_texts(folder, header.match_id, header.entries) if folder else None
        return replay_view(replay, found, logs).SerializeToString(deterministic=True)
    except ReplayError as error:
        raise WebError(422, f"this replay cannot be shown: {plain(str(error))}") from None


def _number(text: str, name: str, largest: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10) or int(text) > largest:
        raise WebError(400, f"{name}: write a number from 0 to {largest:,}")
    return int(text)
