"""A bare grpcio client: answers every message with 16 bytes, using the kit's transport."""

import asyncio
import os

import grpc

_ANSWER = bytes(16)
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", 64 * 2**20),
)


async def main() -> None:
    async with grpc.aio.insecure_channel(os.environ["ASARA_ADDRESS"], options=_OPTIONS) as channel:
        play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/asara.v1.PlayService/Play"
        )
        call = play()
        await call.write(_ANSWER)
        while await call.read() is not grpc.aio.EOF:
            await call.write(_ANSWER)


if __name__ == "__main__":
    asyncio.run(main())
