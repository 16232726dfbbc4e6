"""Opens hundreds of silent streams and idle connections to the referee, and keeps them open."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import grpc

ADDRESS = os.environ["ASARA_ADDRESS"]
PATH = Path(ADDRESS.removeprefix("unix:"))


async def main() -> None:
    print("sees", len(list(PATH.parent.iterdir())), "sockets", flush=True)
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(ADDRESS, options=options) for _ in range(30)]
    calls = []
    for channel in channels:
        play: Any = channel.stream_stream("/asara.v1.PlayService/Play")
        calls += [play() for _ in range(10)]
    idle: list[socket.socket] = []
    while True:
        while len(idle) < 150:
            one = socket.socket(socket.AF_UNIX)
            try:
                one.connect(str(PATH))
            except OSError:
                break
            idle.append(one)
        await asyncio.sleep(0.2)


asyncio.run(main())
