"""The standard health check, without what a client could keep open or have echoed."""

from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from asara_server.referee.stream_errors import Context

SERVICE_NAME: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


class HealthServicer(health_pb2_grpc.HealthServicer):
    """Answers `Check`; `Watch` is unimplemented, as the standard permits."""

    def __init__(self, names: frozenset[str]) -> None:
        """`names` are the services that are served; "" is the server as a whole."""
        self._names = names

    async def Check(  # noqa: N802 - a method of the service
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        if request.service in self._names:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
        context.set_code(grpc.StatusCode.NOT_FOUND)
        return health_pb2.HealthCheckResponse()

    async def Watch(self, request: object, context: Context) -> None:  # noqa: N802
        context.set_code(grpc.StatusCode.UNIMPLEMENTED)
