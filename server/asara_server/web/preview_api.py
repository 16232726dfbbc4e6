"""`POST /api/preview`: a PreviewRequest in, a PreviewResponse out."""

import asyncio

from google.protobuf.message import DecodeError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from asara.v1.preview_pb2 import PreviewRequest
from asara_codec.encode import serialize
from asara_server.web.part import Part
from asara_server.web.preview import PreviewError, preview
from asara_server.web.responses import PROTOBUF, WebError


def preview_part() -> Part:
    """Return the route for previews, which keeps nothing between requests."""
    one_at_a_time = asyncio.Lock()  # watchers and players need the processor, too

    async def answer(request: Request) -> Response:
        return await _preview(request, one_at_a_time)

    return Part([Route("/api/preview", answer, methods=["POST"])])


async def _preview(request: Request, one_at_a_time: asyncio.Lock) -> Response:
    try:
        message = PreviewRequest.FromString(await request.body())
    except DecodeError:
        raise WebError(400, "the request is no PreviewRequest") from None
    try:
        async with one_at_a_time:
            response = await asyncio.to_thread(preview, message)
    except PreviewError as error:
        raise WebError(422, str(error)) from None
    headers = {"Cache-Control": "no-store"}
    return Response(serialize(response), headers=headers, media_type=PROTOBUF)
