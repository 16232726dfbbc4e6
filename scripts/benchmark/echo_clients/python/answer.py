"""A client written with only grpc.aio and the generated messages, as a user might write it.

The client parses what it receives and answers a decision with the first legal action. grpc.aio
takes less processor time than blocking gRPC.
"""

import asyncio
import os

import grpc

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply

_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", 64 * 2**20),
)


async def main() -> None:
    async with grpc.aio.insecure_channel(os.environ["ASARA_ADDRESS"], options=_OPTIONS) as channel:
        play: grpc.aio.StreamStreamMultiCallable[PlayRequest, PlayResponse] = channel.stream_stream(
            "/asara.v1.PlayService/Play",
            request_serializer=PlayRequest.SerializeToString,
            response_deserializer=PlayResponse.FromString,
        )
        call = play()
        hello = Hello(protocol_version=1, token=os.environ["ASARA_TOKEN"], max_matches=16)
        await call.write(PlayRequest(hello=hello))
        while isinstance(response := await call.read(), PlayResponse):
            if response.HasField("goodbye"):
                return
            if response.HasField("decision"):
                decision = response.decision
                reply = Reply(
                    match_id=decision.match_id,
                    decision_id=decision.decision_id,
                    actions=decision.legal_actions[:1],
                )
                await call.write(PlayRequest(reply=reply))


if __name__ == "__main__":
    asyncio.run(main())
