"""A referee in a process of its own, whose memory and open files a test can measure.

Run as a program: `served.py OPEN_FILES`. It prints its address, which uses TLS and is for bots from
elsewhere, and ends with its input.
"""

import asyncio
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import grpc

from asara_server.event_loop import run
from asara_server.logs import configure
from asara_server.network.grpc_server import serve
from asara_server.network.tls import TlsFiles
from asara_server.referee.referee import Referee

DATA = Path(__file__).parents[1] / "contract/client"
TLS = TlsFiles(DATA / "localhost.pem", DATA / "localhost.key")


def secure_channel(address: str, *options: tuple[str, int | str]) -> grpc.aio.Channel:
    """A connection of its own over TLS."""
    credentials = grpc.ssl_channel_credentials(TLS.certificate.read_bytes())
    options = (("grpc.use_local_subchannel_pool", 1), *options)
    return grpc.aio.secure_channel(address, credentials, options=options)


class Served:
    """The process, as the test sees it."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, log: IO[str]) -> None:
        self.address = address
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
def served(open_files: int = 4096) -> Iterator[Served]:
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.network.served", str(open_files)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout
        seen = Served(process, process.stdout.readline().strip(), log)
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


async def _main() -> None:
    referee, tokens = Referee(), Tokens()
    running = await serve(referee, "localhost:0", tls=TLS, authenticator=tokens)
    referee.register_bot("token-a", "a", authenticator=tokens)
    sys.stdout.write(f"{running.address}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await running.stop(0)


if __name__ == "__main__":
    configure("warning")
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
    run(_main())
