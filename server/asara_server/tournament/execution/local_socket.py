"""Serves a referee to the bots of this machine and user only."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from asara_server.network.grpc_server import serve
from asara_server.referee.referee import Referee

_MAX_PARENT_BYTES = 75
"""Longest path in which the socket's directory is made; systems limit the whole path to 104."""
_SHORT_PARENT = "/tmp"  # noqa: S108 - mkdtemp makes a directory that only this user may enter


@asynccontextmanager
async def local_address(referee: Referee, transport: Literal["unix", "tcp"]) -> AsyncIterator[str]:
    """Serve on a unix socket in a directory that only this user may enter, or on loopback.

    Yields the address for ASARA_ADDRESS.
    """
    folder = Path(tempfile.mkdtemp(prefix="asara-", dir=_socket_parent()))
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


def _socket_parent() -> str:
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= _MAX_PARENT_BYTES else _SHORT_PARENT
