"""The peer of the whole job: bot processes, and a bare loop that sends them recorded matches.

The loop starts the same bots as `asara tournament run`, two for each concurrent match, and keeps
them running. It sends what the referee sent in the matches of some replays, and answers each reply
with the messages that followed in the replay. Messages are parsed and serialized as usual in gRPC.

The loop has no rules, clocks, checks, views, journal, replays, results, logs or sandbox.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import grpc

from asara.v1.play_pb2 import Goodbye, PlayRequest, PlayResponse, Welcome
from asara_server.event_loop import run
from asara_server.journal.resimulate import resimulated
from asara_server.network.grpc_server import PLAY_SERVICE, server_options
from asara_server.referee.limits import LimitSettings
from asara_server.referee.stream_errors import Context
from asara_server.replay.file import read_replay
from scripts.benchmark.children import options
from scripts.benchmark.tournaments.job import BOT

_SEATS: Final = 2

_Step = list[tuple[int, PlayResponse]]
"""Responses up to the next decision or to the end of the match, each with its seat."""


class _Table:
    """Two bots that play one match after another."""

    def __init__(self) -> None:
        self.contexts: dict[int, Context] = {}
        """Contexts by seat; complete once `connected` is set."""
        self.connected = asyncio.Event()
        self.answered = asyncio.Event()

    async def play(self, matches: Iterator[list[_Step]]) -> None:
        """Play the remaining matches, which are shared with other tables."""
        await self.connected.wait()
        for match in matches:
            for step in match:
                self.answered.clear()
                for seat, response in step:
                    await self.contexts[seat].write(response)
                if response.HasField("decision"):
                    await self.answered.wait()
        for context in self.contexts.values():
            await context.write(PlayResponse(goodbye=Goodbye(reason="measured")))

    async def serve(self, seat: int, context: Context) -> None:
        """Read everything a bot sends, until its stream ends."""
        await context.write(PlayResponse(welcome=Welcome(protocol_version=1, entry="bench")))
        self.contexts[seat] = context
        if len(self.contexts) == _SEATS:
            self.connected.set()
        while await context.read() is not grpc.aio.EOF:
            self.answered.set()


def steps(replay: Path) -> list[_Step]:
    """Return the messages that the referee sent in a match."""
    found: list[_Step] = [[]]
    for match, _ in resimulated(read_replay(replay)):
        for seat, data in match.outbox:
            found[-1].append((seat, PlayResponse.FromString(data)))
            if found[-1][-1][1].HasField("decision"):
                found.append([])
    return found


@asynccontextmanager
async def _server(address: str, tables: Sequence[_Table]) -> AsyncIterator[None]:
    async def play(_: object, context: Context) -> None:
        hello: Any = await context.read()
        table, seat = map(int, hello.hello.token.split("-"))
        await tables[table].serve(seat, context)

    limits = LimitSettings()
    server = grpc.aio.server(
        options=server_options(limits, limits.transport_bytes, keepalive=False)
    )
    handler: Any = grpc.stream_stream_rpc_method_handler(
        play,
        request_deserializer=PlayRequest.FromString,
        response_serializer=PlayResponse.SerializeToString,
    )
    methods = grpc.method_handlers_generic_handler(PLAY_SERVICE, {"Play": handler})
    server.add_generic_rpc_handlers((methods,))
    server.add_insecure_port(address)
    await server.start()
    yield
    await server.stop(None)


async def main(recorded: Sequence[list[_Step]], matches: int, concurrency: int) -> None:
    """Play this number of matches; print the seconds from starting the bots to their end."""
    inherited = {name: os.environ[name] for name in os.environ if not name.startswith("GRPC_")}
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as folder:
        address = f"unix:{folder}/socket"
        tables = [_Table() for _ in range(concurrency)]
        async with _server(address, tables):
            began = time.perf_counter()
            bots = [
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "main.py"),
                    cwd=BOT,
                    env={
                        **inherited,
                        "ASARA_ADDRESS": address,
                        "ASARA_TOKEN": f"{table}-{seat}",
                        "ASARA_SEED": str(seat),
                    },
                )
                for table in range(concurrency)
                for seat in range(_SEATS)
            ]
            left = islice(cycle(recorded), matches)
            await asyncio.gather(*(table.play(left) for table in tables))
            statuses = [await bot.wait() for bot in bots]
            seconds = time.perf_counter() - began
    if any(statuses):
        sys.exit(f"bots ended with the statuses {statuses}")
    sys.stdout.write(json.dumps({"seconds": seconds}) + "\n")


if __name__ == "__main__":
    given = options()
    recordings = [steps(path) for path in sorted(Path(given["replays"]).iterdir())]
    run(main(recordings, given["matches"], given["concurrency"]))
