"""A child process of bots that answer decisions at random and count them.

The same code plays against the referee and against the echo. A bot parses each message and answers
a decision with one of the legal actions. Between two rounds, bots hold back their answers.
"""

import asyncio
import random
import time
from typing import Any, Final

import grpc
import uvloop

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from scripts.benchmark.children import options, serve_commands

MAX_MATCHES: Final = 1_000
_PLAY: Final = "/asara.v1.PlayService/Play"
_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection for each bot, as for real bots
    ("grpc.enable_http_proxy", 0),
)
_QUIET_S: Final = 0.1
"""Seconds without a decision after which a round is over."""


class _Bot:
    """One stream."""

    def __init__(self, address: str, name: str, bots: "Bots") -> None:
        self._bots = bots
        self._name = name
        self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        self._call: Any = self._channel.stream_stream(
            _PLAY,
            request_serializer=PlayRequest.SerializeToString,
            response_deserializer=PlayResponse.FromString,
        )()
        self._writing = asyncio.Lock()  # a stream takes one message at a time
        self._held: list[PlayRequest] = []

    async def run(self) -> None:
        """Play on the stream, which must outlast the benchmark."""
        bots = self._bots
        choice = random.Random(self._name).choice
        hello = Hello(protocol_version=1, token=self._name, max_matches=MAX_MATCHES)
        await self._send(PlayRequest(hello=hello))
        read = self._call.read
        while True:
            response = await read()
            if response is grpc.aio.EOF:
                raise ConnectionError(f"{self._name}: {await self._call.details()}")
            if not response.HasField("decision"):
                continue
            decision = response.decision
            reply = Reply(
                match_id=decision.match_id,
                decision_id=decision.decision_id,
                actions=[choice(decision.legal_actions)],
            )
            if bots.playing:
                bots.answered += 1
                await self._send(PlayRequest(reply=reply))
            else:
                bots.last_held_s = time.monotonic()
                self._held.append(PlayRequest(reply=reply))

    async def send_held(self) -> None:
        """Send the answers that were held back."""
        held, self._held = self._held, []
        for request in held:
            self._bots.answered += 1
            await self._send(request)

    async def close(self) -> None:
        self._call.cancel()
        await self._channel.close()

    async def _send(self, request: PlayRequest) -> None:
        async with self._writing:
            await self._call.write(request)


class Bots:
    """All bots of this process."""

    def __init__(self, address: str, names: list[str]) -> None:
        self.playing = False
        self.answered = 0
        self.last_held_s = 0.0
        self._bots = [_Bot(address, name, self) for name in names]
        self._tasks = [asyncio.create_task(bot.run()) for bot in self._bots]

    async def play(self, seconds: float) -> dict[str, float]:
        """Answer decisions for this long, then wait until no further decision arrives."""
        answered, cpu_s, began_s = self.answered, time.process_time(), time.monotonic()
        self.playing = True
        await asyncio.gather(*(bot.send_held() for bot in self._bots))
        rest_s = began_s + seconds - time.monotonic()
        await asyncio.wait(self._tasks, timeout=rest_s, return_when=asyncio.FIRST_EXCEPTION)
        self.playing = False
        for task in self._tasks:
            if task.done():
                task.result()  # raises the reason why its stream ended
        response = {
            "decisions": self.answered - answered,
            "seconds": time.monotonic() - began_s,
            "cpu_s": time.process_time() - cpu_s,
        }
        self.last_held_s = time.monotonic()
        while time.monotonic() - self.last_held_s < _QUIET_S:  # noqa: ASYNC110 - no event for silence
            await asyncio.sleep(_QUIET_S)
        return response

    async def close(self) -> None:
        """End all streams."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(bot.close() for bot in self._bots))


async def main(address: str, names: list[str]) -> None:
    bots = Bots(address, names)
    try:
        await serve_commands({"play": bots.play})
    finally:
        await bots.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(**options()))
