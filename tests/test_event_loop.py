"""The event loop closes each descriptor once."""

import asyncio
import os
from collections.abc import Callable

import pytest

from asara_server.event_loop import new_event_loop, read_pipe
from tests.events import until

LOOPS = pytest.mark.parametrize(
    "make_loop", [new_event_loop, asyncio.new_event_loop], ids=["ours", "asyncio's"]
)


@LOOPS
def test_a_pipe_is_closed_once(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """A second time would close what another thread has opened meanwhile.

    A loop that closes the descriptor itself closes the file as well, which then must not do it.
    """

    async def scenario(*, file_closes: bool) -> bool:
        read_end, write_end = os.pipe()
        reader = asyncio.StreamReader()
        transport = await read_pipe(read_end, lambda: asyncio.StreamReaderProtocol(reader))
        os.write(write_end, b"all")
        os.close(write_end)
        assert await reader.read() == b"all"
        transport.close()
        await until(lambda: not is_open(read_end))
        return bool(transport.get_extra_info("pipe").closefd) == file_closes

    with asyncio.Runner(loop_factory=make_loop) as runner:
        of_asyncio = isinstance(runner.get_loop(), asyncio.BaseEventLoop)
        assert runner.run(scenario(file_closes=of_asyncio))


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
