"""A process of bots: they take the first thing that comes to hand, and count.

The same code plays against the referee and against the echo. A bot parses what it is sent and
answers a decision by one of its legal actions at random. Between two rounds, decisions are held and
not answered.
"""

import asyncio
import random
import time
from typing import Any, Final

import grpc
import uvloop

from asara.v1.play_pb2 import Hello, PlayRequest, PlayResponse, Reply
from scripts.benchmark.children import obey, options

MOST_MATCHES: Final = 1_000
_PLAY: Final = "/asara.v1.PlayService/Play"
_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection for each bot, as bots are processes
    ("grpc.enable_http_proxy", 0),
)
#: Seconds without a message after which all is quiet.
_QUIET_S: Final = 0.1


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
        self.held: list[PlayRequest] = []

    async def talk(self) -> None:
        """Serve the stream for as long as it lasts, which must be longer than the benchmark."""
        bots = self._bots
        choice = random.Random(self._name).choice
        hello = Hello(protocol_version=1, token=self._name, max_matches=MOST_MATCHES)
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
                bots.heard_s = time.monotonic()
                self.held.append(PlayRequest(reply=reply))

    async def hang_up(self) -> None:
        """End the stream."""
        self._call.cancel()
        await self._channel.close()

    async def let_go(self) -> None:
        """Send what was held."""
        held, self.held = self.held, []
        for request in held:
            self._bots.answered += 1
            await self._send(request)

    async def _send(self, request: PlayRequest) -> None:
        async with self._writing:
            await self._call.write(request)


class Bots:
    """All streams of this process."""

    def __init__(self, address: str, names: list[str]) -> None:
        self.playing = False
        self.answered = 0
        #: When a decision came that was held.
        self.heard_s = 0.0
        self._bots = [_Bot(address, name, self) for name in names]
        self._talks = [asyncio.create_task(bot.talk()) for bot in self._bots]

    async def play(self, seconds: float) -> dict[str, float]:
        """Answer decisions for so long, and wait until what is on its way has come."""
        answered, cpu_s, began_s = self.answered, time.process_time(), time.monotonic()
        self.playing = True
        await asyncio.gather(*(bot.let_go() for bot in self._bots))
        rest_s = began_s + seconds - time.monotonic()
        await asyncio.wait(self._talks, timeout=rest_s, return_when=asyncio.FIRST_EXCEPTION)
        self.playing = False
        for talk in self._talks:
            if talk.done():
                talk.result()  # raises why its stream ended
        answer = {
            "decisions": self.answered - answered,
            "seconds": time.monotonic() - began_s,
            "cpu_s": time.process_time() - cpu_s,
        }
        self.heard_s = time.monotonic()
        while time.monotonic() - self.heard_s < _QUIET_S:  # noqa: ASYNC110 - silence sets no event
            await asyncio.sleep(_QUIET_S)
        return answer

    async def hang_up(self) -> None:
        """End all streams."""
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await asyncio.gather(*(bot.hang_up() for bot in self._bots))


async def main(address: str, names: list[str]) -> None:
    bots = Bots(address, names)
    try:
        await obey({"play": bots.play})
    finally:
        await bots.hang_up()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(**options()))
