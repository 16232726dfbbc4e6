"""The application of the web server: its routes, and the checks around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from asara_server.web.guard import Guard
from asara_server.web.page_files import PAGE_ROUTES, PageFiles
from asara_server.web.play_socket import PlayPipe
from asara_server.web.preview import preview_routes
from asara_server.web.responses import error_response
from asara_server.web.run_catalogue import RunCatalogue
from asara_server.web.runs_api import RunsApi
from asara_server.web.settings import WebSettings
from asara_server.web.watch_socket import WatchSockets


def create_app(settings: WebSettings) -> Starlette:
    """Return the application that serves the page, its API and its WebSockets.

    Before a request or a WebSocket reaches a route, `Guard` has checked its Host and Origin.
    `Guard` also limits the size of requests and adds the response headers. A route raises
    `WebError` to send the browser an error.
    """
    catalogue = RunCatalogue(settings.sources)
    runs = RunsApi(catalogue, logs=settings.logs)
    files = PageFiles(settings.page)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with runs.running():
            try:
                yield
            finally:
                await catalogue.close()

    return Starlette(
        routes=[
            *runs.routes(),
            *preview_routes(settings),
            WebSocketRoute("/ws/watch", WatchSockets(settings.limits, catalogue).serve),
            WebSocketRoute("/ws/play", PlayPipe(settings).serve),
            *(Route(path, files.page, name=path) for path in PAGE_ROUTES),
            Route("/{path:path}", files.file),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _error},
        lifespan=running,
    )


async def _error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, error.detail)
