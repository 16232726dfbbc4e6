"""Hints for a person who plays, computed only from what the seat was sent.

A request contains the seat's open decision, so only who holds the seat can ask. There are no hints
where nobody plays in a browser, and so none in a tournament.
"""

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from asara.v1.preview_pb2 import PreviewRequest
from asara_game import Worlds
from asara_search.analysis import advise
from asara_server.web.preview import answered, impossible_refused, seen_in
from asara_server.web.responses import Part, WebError
from asara_server.web.settings import WebSettings

LONGEST_S: Final = 2.0
"""Seconds after which a slow machine answers with fewer playouts."""


def hint(request: PreviewRequest) -> int:
    """Return the index of the legal action that a search of the seat's worlds chooses.

    The search depends only on the request. Raises PreviewError.
    """
    with impossible_refused():
        seen = seen_in(request)
        action = advise(seen.rules, Worlds(seen).sample, seen.legal, LONGEST_S)
        return seen.legal.index(action)


def hint_part(settings: WebSettings) -> Part:
    """Return the route for hints; it keeps no state between requests."""
    one_at_a_time = asyncio.Lock()

    async def answer(request: Request) -> Response:
        if settings.play_address is None:
            raise WebError(404, "no match is played at this server")
        index = await answered(request, one_at_a_time, hint)
        return JSONResponse({"action": index}, headers={"Cache-Control": "no-store"})

    return Part([Route("/api/hint", answer, methods=["POST"])])
