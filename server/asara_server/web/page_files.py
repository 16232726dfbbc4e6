"""The built page. Its files are read when the server starts, so that no request opens a path."""

import gzip
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from asara_server.bounded_file import MIB, read_bounded
from asara_server.web.responses import accepts, error_response, tagged_response

_LARGEST: Final = 8 * MIB
_MOST_FILES: Final = 200
_BROTLI: Final = ".br"
_FOREVER: Final = "public, max-age=31536000, immutable"
_HASHED: Final = re.compile(r"/assets/.+-[\w-]{8}\.\w+")
"""Files whose names change with their content."""

_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}

PAGE_ROUTES: Final = (
    "/",
    "/runs/{run}",
    "/runs/{run}/matches",
    "/runs/{run}/matches/{match}",
    "/runs/{run}/blocks/{block}",
    "/play",
)
"""Addresses at which the page shows something; at other addresses, it is sent with status 404."""

_NOT_BUILT: Final = (
    "<!doctype html><meta charset=utf-8><title>ASARA</title>"
    "<p>The page has not been built. In a checkout, run <code>scripts/web</code>."
)


@dataclass(frozen=True)
class PageFile:
    content: bytes
    media_type: str
    hashed: bool
    brotli: bytes | None = None
    """The content compressed with Brotli when the page was built, because Python has no Brotli."""

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)


class PageFiles:
    """The files of the page, by path."""

    def __init__(self, folder: Path) -> None:
        self._files = dict(_files(folder))

    async def file(self, request: Request) -> Response:
        """Return the file at the request's path, or the page with status 404."""
        found = self._files.get(request.url.path)
        if found is None:
            if request.url.path.startswith("/api/"):
                return error_response(404, "there is nothing at this address")
            return self._page(request, 404)
        if found.hashed:
            headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
            # Browsers accept Brotli over HTTPS and on localhost.
            if found.brotli is not None and accepts(request, "br"):
                headers["Content-Encoding"] = "br"
                return Response(found.brotli, 200, headers, media_type=found.media_type)
            if accepts(request, "gzip", "*"):
                headers["Content-Encoding"] = "gzip"
                return Response(found.gzipped, 200, headers, media_type=found.media_type)
        cache = _FOREVER if found.hashed else "no-cache"
        return tagged_response(request, found.content, found.media_type, cache=cache)

    async def page(self, request: Request) -> Response:
        """Return the page; its script reads the address."""
        return self._page(request, 200)

    def _page(self, request: Request, status: int) -> Response:
        index = self._files.get("/index.html")
        if index is None:
            return HTMLResponse(_NOT_BUILT, 503, {"Cache-Control": "no-store"})
        return tagged_response(request, index.content, index.media_type, status=status)


def _files(folder: Path) -> Iterator[tuple[str, PageFile]]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    compressed = {path for path in paths if path.suffix == _BROTLI}
    for path in [path for path in paths if path not in compressed][:_MOST_FILES]:
        name = f"/{path.relative_to(folder).as_posix()}"
        media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0]
        if media_type is not None:
            content = read_bounded(path, _LARGEST)
            smaller = path.with_name(path.name + _BROTLI)
            brotli = read_bounded(smaller, _LARGEST) if smaller in compressed else None
            yield name, PageFile(content, media_type, bool(_HASHED.fullmatch(name)), brotli)
