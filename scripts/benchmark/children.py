"""Child processes of a benchmark, servers and clients, which receive commands as JSON lines.

The benchmark uses `child`, and the child uses `serve_commands`. A child ends when its standard
input ends, so no child outlives the benchmark.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from scripts.benchmark.figures import BenchError

AS_INSTALLED: Final[Mapping[str, str]] = {"GRPC_EXPERIMENTS": ""}
"""Variables for a peer whose gRPC keeps its event engine, which `asara_server` turns off."""

_ROOT: Final = Path(__file__).parents[2]
_END_S: Final = 5.0

Commands = Mapping[str, Callable[..., Awaitable[dict[str, float]]]]
"""Coroutine functions by command name; they return the response."""


class Child:
    """A module of this package that runs in a separate process."""

    def __init__(self, module: str, process: "subprocess.Popen[str]") -> None:
        self._module = module
        self._process = process

    def send(self, command: str, **arguments: object) -> None:
        """Send a command; `receive` waits for the response."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self) -> dict[str, float]:
        """Wait for the response to the oldest command that has none yet."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        response: dict[str, float] = json.loads(line)
        return response

    def call(self, command: str, **arguments: object) -> dict[str, float]:
        """Send a command and wait for the response."""
        self.send(command, **arguments)
        return self.receive()

    def _ended(self) -> BenchError:
        status = self._process.wait()
        return BenchError(f"the process {self._module} ended with status {status}: see above")


@contextmanager
def child(
    module: str, variables: Mapping[str, str] | None = None, **options: object
) -> Iterator[Child]:
    """Run a module of this package as a child until the context exits.

    The context begins when the child is ready. `variables` are added to the child's environment.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", f"scripts.benchmark.{module}", json.dumps(options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env={**os.environ, **(variables or {})},
        text=True,
    )
    try:
        started = Child(module, process)
        started.receive()
        yield started
    finally:
        assert process.stdin
        process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def serve_commands(commands: Commands) -> None:
    """Carry out commands from standard input, one after the other, until it ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _respond({})  # ready
    while line := await reader.readline():
        arguments: dict[str, Any] = json.loads(line)
        _respond(await commands[arguments.pop("command")](**arguments))


def options() -> dict[str, Any]:
    """Return the options of this child."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    return given


def _respond(response: dict[str, float]) -> None:
    sys.stdout.write(json.dumps(response) + "\n")
    sys.stdout.flush()


async def usage() -> dict[str, float]:
    """Return this process's usage: `cpu_s` so far, and bytes of `memory` now."""
    return {"cpu_s": time.process_time(), "memory": _memory()}


def _memory() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # not Linux: the maximum so far
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * resource.getpagesize()
