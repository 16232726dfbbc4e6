"""A process with the referee's peer: a bare gRPC server that carries the same messages.

What it has of the referee: the same transport, options and event loop; one stream per bot; requests
parsed from bytes and responses made into bytes by the generated messages, as gRPC does it for
everybody; and for each request the response that a real match had there, with the announcements of
matches' beginnings and ends before it. What it has not: rules, clocks, checks, views, records, or a
second stream to think of. The responses are whole messages in memory before anybody dials in.
"""

import asyncio
import random
from collections.abc import Iterator
from itertools import chain, count, cycle
from typing import Any, Final

import grpc
import uvloop

from asara.v1.play_pb2 import PlayRequest, PlayResponse
from asara_game.edition import load_edition
from asara_game.rules import Rules, parse_rule_sets
from asara_server.limits import Context, LimitSettings
from asara_server.match import Match
from asara_server.records import Presence
from asara_server.service import PLAY, server_options
from asara_server.spec import ClockSettings, MatchSpec, Player
from asara_server.translate.encode import action_message
from scripts.benchmark.children import obey, options, usage

_MATCHES: Final = 8
#: Between two decisions of a recorded match.
_PACE_US: Final = 200

#: Responses up to the next decision.
_Step = list[PlayResponse]


class Echo:
    """Sends the recorded matches over and over; every stream begins with another one."""

    def __init__(self, seats: list[list[_Step]]) -> None:
        self._seats = seats
        self._streams = count()

    async def play(self, _: object, context: Context) -> None:
        first = next(self._streams) % len(self._seats)
        steps = cycle(chain(*self._seats[first:], *self._seats[:first]))
        read, write = context.read, context.write
        while await read() is not grpc.aio.EOF:
            for response in next(steps):
                await write(response)


def record(rules: Rules, number: int) -> list[list[_Step]]:
    """What the referee sends in a match played at random: by seat, by decision."""
    rng = random.Random(number)
    players = tuple(Player(f"bot-{seat}", f"bot-{seat}") for seat in range(rules.seats))
    spec = MatchSpec(f"m{number}-1", rules, players, ClockSettings(bank_s=1e6), rng.randbytes(32))
    match = Match(spec, LimitSettings().told())
    now_us = 0
    match.start({seat: Presence() for seat in range(rules.seats)}, {})
    told: list[_Step] = [[] for _ in players]
    decisions = [0] * rules.seats
    while True:
        for seat, data in match.outbox:
            told[seat].append(PlayResponse.FromString(data))
            decisions[seat] += told[seat][-1].HasField("decision")
        match.outbox.clear()
        if match.asked is None:
            break
        now_us += _PACE_US
        answer = action_message(rng.choice(match.state.legal))
        match.reply(match.asked, decisions[match.asked], [answer], now_us)
    return [list(_steps(responses)) for responses in told]


def _steps(responses: _Step) -> Iterator[_Step]:
    """Responses by decision; the end of the match goes before the first one of the next."""
    step = [response for response in responses if response.HasField("match_ended")]
    for response in responses:
        if not response.HasField("match_ended"):
            step.append(response)
        if response.HasField("decision"):
            yield step
            step = []


async def main(address: str, rules: str, seats: int) -> None:
    kind = Rules(load_edition(), parse_rule_sets(rules), seats)
    recorded = [steps for number in range(_MATCHES) for steps in record(kind, number)]
    server = grpc.aio.server(options=server_options(LimitSettings()))
    handler: Any = grpc.stream_stream_rpc_method_handler(
        Echo(recorded).play,
        request_deserializer=PlayRequest.FromString,
        response_serializer=PlayResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(PLAY, {"Play": handler}),)
    )
    server.add_insecure_port(address)
    await server.start()
    await obey({"usage": usage})
    await server.stop(None)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(**options()))
