"""A referee in a process of its own, whose memory and open files a test can measure.

Run as a program: `served.py KIND OPEN_FILES`, with the kind `local`, `remote` or `bots`. It prints
its addresses, and ends with its input.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from asyncio import gather
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from asara_server.event_loop import run
from asara_server.logs import configure
from asara_server.network.bot_server import BotServer
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee

DATA = Path(__file__).parents[1] / "contract/client"
TLS = TlsFiles(DATA / "localhost.pem", DATA / "localhost.key")


class Served:
    """The process, as the test sees it."""

    def __init__(
        self, process: "subprocess.Popen[str]", addresses: list[str], log: IO[str]
    ) -> None:
        self.addresses = addresses
        self._process = process
        self._log = log

    @property
    def log(self) -> str:
        """What the process has written for its organiser so far."""
        self._log.seek(0)
        return self._log.read()

    @property
    def memory_mib(self) -> float:
        """Memory that the process has in use."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize() / 1e6

    @property
    def open_files(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self._process.pid}/fd").iterdir())


@contextmanager
def served(kind: str, open_files: int = 4096) -> Iterator[Served]:
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.network.served", kind, str(open_files)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout
        seen = Served(process, json.loads(process.stdout.readline()), log)
        try:
            yield seen
        finally:
            process.communicate()
            assert process.returncode == 0, seen.log
            assert "Traceback" not in seen.log, seen.log


class Tokens:
    """An authenticator: the token of the bot `token-x` is `secret-x`."""

    def authenticate(self, token: str) -> str | None:
        return token.replace("secret", "token") if token.startswith("secret-") else None

    def connections_changed(self) -> None:
        pass


async def _listen(
    kind: str, referee: Referee, folder: Path
) -> tuple[list[str], Callable[[], Awaitable[object]]]:
    """Return the addresses and what stops the servers."""
    if kind == "bots":
        servers = []
        for name in "ab":
            server = BotServer(referee, f"token-{name}", lambda why: None)
            await server.start(f"unix:{folder / name}")
            referee.register_bot(f"token-{name}", name, authenticator=server)
            servers.append(server)
        return [server.address for server in servers], lambda: gather(
            *(each.stop() for each in servers)
        )
    tokens = Tokens() if kind == "remote" else None
    host = "localhost:0" if kind == "remote" else "127.0.0.1:0"
    running = await serve(
        referee, host, tls=TLS if kind == "remote" else None, authenticator=tokens
    )
    referee.register_bot("token-a", "a", authenticator=tokens)
    return [running.address], lambda: running.stop(0)


async def _main(kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        addresses, stop = await _listen(kind, Referee(), Path(folder))
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        await stop()


if __name__ == "__main__":
    configure("warning")
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]),) * 2)
    run(_main(sys.argv[1]))
