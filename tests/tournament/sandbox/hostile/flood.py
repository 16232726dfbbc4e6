"""Floods its output from two threads, and the referee with replies."""

import os
import sys
import threading
from collections.abc import Iterator

import grpc

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply


def scream(stream: int) -> None:
    while True:
        os.write(stream, b"x" * 65_536)


def requests() -> Iterator[PlayRequest]:
    yield PlayRequest(hello=Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"]))
    while True:
        yield PlayRequest(reply=Reply(match_id="m" * 1000, decision_id=1))


for stream in (1, 2):
    threading.Thread(target=scream, args=[stream], daemon=True).start()
channel = grpc.insecure_channel(os.environ["ASARA_ADDRESS"])
play = channel.stream_stream(
    "/asara.v1.PlayService/Play",
    request_serializer=PlayRequest.SerializeToString,
    response_deserializer=PlayResponse.FromString,
)
try:
    for _ in play(requests()):
        pass
except grpc.RpcError:
    sys.exit("refused")
