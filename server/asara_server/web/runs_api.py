"""The API about runs: JSON about runs and their matches, and the files of replays."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from asara_server.web.part import Part
from asara_server.web.responses import json_response
from asara_server.web.run_catalogue import RunCatalogue


def runs_part(catalogue: RunCatalogue) -> Part:
    """Return the routes about runs."""
    api = RunsApi(catalogue)
    return Part([Route("/api/runs", api.runs)])


class RunsApi:
    def __init__(self, catalogue: RunCatalogue) -> None:
        self._catalogue = catalogue

    async def runs(self, request: Request) -> Response:
        sources = self._catalogue.sources().values()
        return json_response(request, {"runs": [{"name": one.name} for one in sources]})
