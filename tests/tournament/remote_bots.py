"""Tournaments with entries on other machines: their files, and bots that connect over TLS."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from asara_server.referee.stall_clock import StallClock
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.token_store import new_token
from asara_server.tournament.config.tournament_file import Tournament, load_tournament
from asara_server.tournament.execution.match_runner import LocalExecutor
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, Runner, RunSetup
from asara_server.tournament.schedule.schedule import planned_matches
from asara_server.tournament.standings.match_result import MatchResult
from tests.referee.harness import Stream
from tests.tournament.sample_bots import GOOD, HEADER

DATA = Path(__file__).parents[1] / "contract/client"
CERTIFICATE = DATA / "localhost.pem"
CLOCKS = "[clocks]\nstart_up_s = 20\ntime_bank_s = 30\nreconnect_s = 20\n"
KEY = SigningKey.new()


def remote_table(**settings: object) -> str:
    """The table [remote] of a tournament file."""
    lines = {
        "listen": "localhost:0",
        "certificate": str(CERTIFICATE),
        "key": str(DATA / "localhost.key"),
        "tokens": "tokens.json",
        **settings,
    }
    return "[remote]\n" + "".join(f"{key} = {value!r}\n" for key, value in lines.items())


def write_cup(
    folder: Path,
    remote: Sequence[str],
    header: str = HEADER,
    clocks: str = CLOCKS,
    **settings: object,
) -> tuple[Path, dict[str, str]]:
    """A tournament of entries on other machines, and their tokens by name."""
    text = header + clocks + remote_table(**settings)
    for name in remote:
        text += f'\n[[entries]]\nname = "{name}"\ntoken = "{name}"\n'
    path = folder / "cup.toml"
    path.write_text(text)
    return path, {name: new_token(folder / "tokens.json", name) for name in remote}


def dial_in(folder: Path, address: str, token: str) -> subprocess.Popen[str]:
    """Start a bot like an author on another machine."""
    ca = str(CERTIFICATE)
    return start_bot(folder, {"ASARA_ADDRESS": address, "ASARA_TOKEN": token, "ASARA_CA": ca})


def start_bot(folder: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a bot with these variables and no others of ASARA."""
    (folder / "far.py").write_text(GOOD)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASARA_")}
    return subprocess.Popen(
        [sys.executable, "far.py"],
        cwd=folder,
        env={**kept, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


class Run:
    """A run that is being played, and bots that connect."""

    def __init__(self, tournament: Tournament, directory: RunDirectory) -> None:
        self.results: list[MatchResult] = []
        self.opened: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        executor = LocalExecutor(on_listening=self.opened.set_result)
        planned = planned_matches(tournament)
        setup = RunSetup(tournament, planned, directory, KEY, executor=executor)
        self.runner = Runner(setup, finished=self.results.append)
        self.playing = asyncio.create_task(self.runner.run())
        self._channels: list[grpc.aio.Channel] = []

    async def end(self) -> RunEnd:
        return await self.playing

    async def call(self, *, tls: bool = True) -> Stream:
        """Open a stream to the address for remote bots, and send nothing."""
        address = await self.opened
        options = [("grpc.use_local_subchannel_pool", 1)]
        if tls:
            credentials = grpc.ssl_channel_credentials(CERTIFICATE.read_bytes())
            channel = grpc.aio.secure_channel(address, credentials, options)
        else:
            channel = grpc.aio.insecure_channel(address, options)
        self._channels.append(channel)
        return Stream(channel)

    async def dial(self, token: str, **hello: Any) -> Stream:
        """Open a stream with a Hello that is accepted."""
        stream = await self.call()
        await stream.hello(token, **hello)
        await stream.expect("welcome")
        return stream

    async def refused(self, token: str) -> tuple[grpc.StatusCode, str | None]:
        """Open a stream with a Hello that is refused, and return how it ends."""
        stream = await self.call()
        await stream.hello(token)
        return await stream.ending()

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close()
        self.playing.cancel()
        await asyncio.wait([self.playing])


@asynccontextmanager
async def running(file: Path, *, resume: bool = False) -> AsyncIterator[Run]:
    """Play a run in the folder `run` beside the file."""
    out = file.parent / "run"
    tournament = load_tournament(file)
    opened = RunDirectory.reopen(out) if resume else RunDirectory.create(out)
    with closing(opened) as directory:
        run = Run(tournament, directory)
        try:
            yield run
        finally:
            await run.close()


class Clock:
    """The clock of the wait for bots, which a test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(StallClock, "now_s", lambda _: self.now)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
