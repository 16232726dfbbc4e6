"""Makes a referee reachable for the bots of this machine, and for nobody else."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee

_LONGEST_FOLDER = 75
"""Bytes of the path that the socket's directory is made in; systems take paths up to 104 bytes."""
_SHORT = "/tmp"  # noqa: S108 - mkdtemp makes a directory there that only this user may enter


@asynccontextmanager
async def local_address(referee: Referee, transport: Literal["unix", "tcp"]) -> AsyncIterator[str]:
    """Serve on a unix socket in a directory that only this user may enter, or on loopback.

    Yields the address for ASARA_ADDRESS.
    """
    folder = Path(tempfile.mkdtemp(prefix="asara-", dir=_SHORT if _too_long() else None))
    try:
        socket = folder / "referee"
        wanted = f"unix:{socket}" if transport == "unix" else "127.0.0.1:0"
        server, address = await serve(referee, wanted)
        try:
            yield address
        finally:
            await server.stop(grace=1.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _too_long() -> bool:
    return len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER
