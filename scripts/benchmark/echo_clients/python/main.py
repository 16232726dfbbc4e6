"""A bare client of grpcio: answers every message with 16 bytes, with the transport of the kit."""

import os
from queue import SimpleQueue

import grpc

_ANSWER = bytes(16)
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", 64 * 2**20),
)


def main() -> None:
    requests: SimpleQueue[bytes | None] = SimpleQueue()
    requests.put(_ANSWER)
    with grpc.insecure_channel(os.environ["ASARA_ADDRESS"], options=_OPTIONS) as channel:
        play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/asara.v1.PlayService/Play"
        )
        for _ in play(iter(requests.get, None)):
            requests.put(_ANSWER)
        requests.put(None)


if __name__ == "__main__":
    main()
