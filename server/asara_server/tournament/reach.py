"""Makes a referee reachable for the bots of this machine, and for nobody else."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from asara_server.referee import Referee
from asara_server.service import serve

_LONGEST_SOCKET_PATH = 100
"""Bytes; the shortest limit among systems is 104."""


@asynccontextmanager
async def local_address(referee: Referee, transport: Literal["unix", "tcp"]) -> AsyncIterator[str]:
    """Serve on a unix socket in a directory that only this user may enter, or on loopback.

    Yields the address for ASARA_ADDRESS.
    """
    folder = Path(tempfile.mkdtemp(prefix="asara-"))
    try:
        socket = folder / "referee"
        fits = len(bytes(socket)) <= _LONGEST_SOCKET_PATH
        wanted = f"unix:{socket}" if transport == "unix" and fits else "127.0.0.1:0"
        server, address = await serve(referee, wanted)
        try:
            yield address
        finally:
            await server.stop(grace=1.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
