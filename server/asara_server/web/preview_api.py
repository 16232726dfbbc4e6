"""`POST /api/preview`: a PreviewRequest in, a PreviewResponse out."""

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
    return Part([Route("/api/preview", _preview, methods=["POST"])])


async def _preview(request: Request) -> Response:
    try:
        message = PreviewRequest.FromString(await request.body())
    except DecodeError:
        raise WebError(400, "the request is no PreviewRequest") from None
    try:
        response = preview(message)
    except PreviewError as error:
        raise WebError(422, str(error)) from None
    headers = {"Cache-Control": "no-store"}
    return Response(serialize(response), headers=headers, media_type=PROTOBUF)
