"""Processes of a benchmark: servers and clients, each told what to do by lines of JSON.

`Child` is the side of the benchmark, `obey` that of the process. A child whose standard input ends
has nothing more to do, so none outlives the benchmark.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from scripts.benchmark.figures import BenchError

_ROOT: Final = Path(__file__).parents[2]
_END_S: Final = 5.0


class Child:
    """A module of this package that runs in a process of its own."""

    def __init__(self, module: str, **options: object) -> None:
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"scripts.benchmark.{module}", json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
            text=True,
        )

    def __enter__(self) -> "Child":
        self.receive()  # it says when it is ready
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def tell(self, **command: object) -> None:
        """Say what to do; `receive` waits for the answer."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._lost() from None

    def receive(self) -> dict[str, float]:
        """The answer to what was told."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise self._lost()
        answer: dict[str, float] = json.loads(line)
        return answer

    def ask(self, **command: object) -> dict[str, float]:
        """Say what to do, and wait until it is done."""
        self.tell(**command)
        return self.receive()

    def _lost(self) -> BenchError:
        status = self._process.wait()
        return BenchError(f"the process {self._module} ended with status {status}: see above")


Commands = Mapping[str, Callable[..., Awaitable[dict[str, float]]]]


async def obey(commands: Commands) -> None:
    """Do what the lines on standard input say, to their end."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _answer({})
    while line := await reader.readline():
        options: dict[str, Any] = json.loads(line)
        _answer(await commands[options.pop("do")](**options))


def options() -> dict[str, Any]:
    """What the benchmark gave this process."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    return given


def _answer(answer: dict[str, float]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def usage() -> dict[str, float]:
    """What this process has used so far: seconds of processor, and bytes of memory now."""
    return {"cpu_s": time.process_time(), "memory": _memory()}


def _memory() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # not Linux: the most it ever was
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * resource.getpagesize()
