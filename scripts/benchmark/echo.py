"""A child process with the referee's peer: a bare gRPC server that carries the same messages.

The echo has recordings of matches as the referee sends them, and plays them to the bots repeatedly.
Its response to a reply is what followed in the recording, usually a decision of the next seat, on
another stream. Both servers therefore send the same messages in the same order on the same streams.
As usual with gRPC, requests are parsed and responses serialized by generated messages. All
responses are complete messages in memory before any bot connects. Transport, transport options and
event loop are the same as the referee's.

The echo has no rules, clocks, checks, views, events, records or limits.
"""

import asyncio
import random
from collections.abc import Iterator
from itertools import chain, cycle
from typing import Any, Final

import grpc

from asara.v1.play_pb2 import PlayRequest, PlayResponse
from asara_codec.encode import action_message
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.event_loop import run
from asara_server.match.inputs import Presence
from asara_server.match.match import Match
from asara_server.match.spec import MatchLimits, MatchSpec, Player
from asara_server.network.grpc_server import PLAY_SERVICE, server_options
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stream_errors import Context
from scripts.benchmark.children import options, serve_commands, usage
from scripts.benchmark.referee_server import CLOCKS, bots_of

_RECORDINGS: Final = 4
"""Number of recorded matches per match played."""
_PACE_US: Final = 200
"""Time between two decisions of a recorded match."""

_Step = list[tuple[int, PlayResponse]]
"""Responses up to the next decision, each with its seat."""


class _Stream:
    """A bot's stream, which takes one response at a time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writing = asyncio.Lock()

    async def write(self, response: PlayResponse) -> None:
        async with self._writing:
            await self._context.write(response)


class Echo:
    """Plays recorded matches."""

    def __init__(self, bots: list[str], rules: Rules) -> None:
        self._bots = bots
        self._rules = rules
        self._streams: dict[str, _Stream] = {}
        self._matches: dict[str, tuple[list[str], Iterator[_Step]]] = {}
        """For each match: the bots by seat, and the steps of the recording."""

    async def play(self, _: object, context: Context) -> None:
        """Serve a stream."""
        read = context.read
        hello: Any = await read()
        self._streams[hello.hello.token] = _Stream(context)
        while True:
            request: Any = await read()
            if request is grpc.aio.EOF:
                return
            await self._advance(request.reply.match_id)

    async def _advance(self, match_id: str) -> None:
        names, steps = self._matches[match_id]
        for seat, response in next(steps):
            await self._streams[names[seat]].write(response)

    async def start(self, matches: int) -> dict[str, float]:
        """Keep this number of matches running from now on, once all bots are connected."""
        while len(self._streams) < len(self._bots):  # noqa: ASYNC110 - it is quick
            await asyncio.sleep(0.01)
        for match in range(matches):
            match_id = f"m{match}-1"
            recordings = [record(self._rules, match_id, seed) for seed in range(_RECORDINGS)]
            names = bots_of(match, self._bots, self._rules.seats)
            self._matches[match_id] = names, _steps(cycle(chain.from_iterable(recordings)))
        for match_id in self._matches:
            await self._advance(match_id)
        return {}


def record(rules: Rules, match_id: str, seed: int) -> _Step:
    """Play a match at random; return the referee's messages, each with its seat."""
    rng = random.Random(f"{match_id} {seed}")
    players = tuple(Player(f"bot-{seat}", f"bot-{seat}") for seat in range(rules.seats))
    spec = MatchSpec(match_id, rules, players, CLOCKS, rng.randbytes(32))
    match = Match(spec, MatchLimits())
    match.start({seat: Presence() for seat in range(rules.seats)}, {})
    sent: _Step = []
    decisions = [0] * rules.seats
    now_us = 0
    while True:
        for seat, data in match.outbox:
            sent.append((seat, PlayResponse.FromString(data)))
            decisions[seat] += sent[-1][1].HasField("decision")
        match.outbox.clear()
        if match.asked is None:
            return sent
        now_us += _PACE_US
        answer = action_message(rng.choice(match.state.legal))
        match.reply(match.asked, decisions[match.asked], [answer], now_us)
        match.record_reply(referee_us=0)


def _steps(sent: Iterator[tuple[int, PlayResponse]]) -> Iterator[_Step]:
    """Split messages at decisions. The end of a match joins the next match's first decision."""
    step = []
    for seat, response in sent:
        step.append((seat, response))
        if response.HasField("decision"):
            yield step
            step = []


async def main(address: str, bots: list[str], rules: str, seats: int) -> None:
    echo = Echo(bots, Rules(load_edition(), parse_rule_sets(rules), seats))
    limits = LimitSettings()
    keepalive = not address.startswith("unix:")
    options = server_options(limits, limits.transport_bytes, keepalive=keepalive)
    server = grpc.aio.server(options=options)
    handler: Any = grpc.stream_stream_rpc_method_handler(
        echo.play,
        request_deserializer=PlayRequest.FromString,
        response_serializer=PlayResponse.SerializeToString,
    )
    methods = grpc.method_handlers_generic_handler(PLAY_SERVICE, {"Play": handler})
    server.add_generic_rpc_handlers((methods,))
    server.add_insecure_port(address)
    await server.start()
    await serve_commands({"start": echo.start, "usage": usage})
    await server.stop(None)


if __name__ == "__main__":
    run(main(**options()))
