"""Connects with its token again and again, as fast as it can."""

import contextlib
import os
from typing import Any

import grpc

from asara.v1.play_pb2 import Hello, PlayRequest

hello = PlayRequest(hello=Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"]))
channel = grpc.insecure_channel(os.environ["ASARA_ADDRESS"])
play: Any = channel.stream_stream(
    "/asara.v1.PlayService/Play", request_serializer=lambda request: request.SerializeToString()
)
while True:
    call = play(iter([hello]))
    with contextlib.suppress(grpc.RpcError):
        next(call)
    call.cancel()
