"""A child process that plays a tournament, as `asara tournament run` does, for some seconds."""

import asyncio
import os
import resource
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from asara_game.edition import load_edition
from asara_game.rules import parse_rule_sets
from asara_server.cli.options.log import LogOptions
from asara_server.cli.sessions.setup import log_to_file
from asara_server.event_loop import run
from asara_server.logs import configure
from asara_server.replay.signing import SigningKey
from asara_server.tournament.config.tournament_file import load_tournament
from asara_server.tournament.execution.local_executor import LocalExecutor
from asara_server.tournament.run.directory import RunDirectory
from asara_server.tournament.runner import RunEnd, Runner
from asara_server.tournament.sandbox.probe import find_sandbox
from asara_server.tournament.schedule.schedule import ScheduledMatch
from scripts.benchmark.children import options, serve_commands

_OPEN_FILES = 1_200
"""Descriptors of the process, whatever this machine's limit is: hardly more than the runner requires
for the twelve matches at once of the largest scenario."""
_STOP_S = 60.0
"""Seconds after which a run that does not stop is cancelled."""


class SiegeRun:
    """One run in a folder that holds `siege.toml`."""

    def __init__(self, folder: Path, tables: list[list[str]], honest: list[str]) -> None:
        """`tables` are the entries of each match, in the order in which matches begin."""
        self._folder = folder
        self._honest = set(honest)
        basic = parse_rule_sets("basic")
        self._matches = [
            ScheduledMatch(f"m{number:04}", 1, basic, tuple(entries))
            for number, entries in enumerate(tables)
        ]
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._playing: asyncio.Task[RunEnd] | None = None
        self._runner: Runner | None = None

    async def listen(self) -> dict[str, float]:
        """Begin the run; return the port of the address for bots on other machines."""
        self._playing = asyncio.create_task(self._run())
        waits: list[asyncio.Future[Any]] = [self._playing, self._address]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if self._playing.done():
            self._playing.result()  # raises why it failed
        address = await self._address
        return {"port": int(address.rpartition(":")[2]), "pid": os.getpid()}

    async def play(self, seconds: float) -> dict[str, float]:
        """Play for this time; return the outcome for the honest entries."""
        assert self._playing is not None
        assert self._runner is not None
        await asyncio.wait([self._playing], timeout=seconds)
        self._runner.stop()
        await asyncio.wait([self._playing], timeout=_STOP_S)
        late = not self._playing.done()
        self._playing.cancel()
        await asyncio.wait([self._playing])
        failed = late or self._playing.cancelled() or self._playing.exception() is not None
        outcome = {"failed": float(failed), "matches": 0.0, "forfeits": 0.0, "out": 0.0}
        if failed:
            if not late and not self._playing.cancelled():
                print(f"siege: run failed: {self._playing.exception()!r}", file=sys.stderr)
            return outcome
        end = self._playing.result()
        for result in end.results:
            honest = [seat for seat in result.seats if seat.entry in self._honest]
            outcome["matches"] += all(seat.entry in self._honest for seat in result.seats)
            outcome["forfeits"] += sum(seat.termination.forfeit for seat in honest)
        outcome["out"] = len(self._honest & {*end.unstartable, *end.suspended})
        return outcome

    async def _run(self) -> RunEnd:
        folder = self._folder
        key = folder / "key.pem"
        with (
            closing(RunDirectory.create(folder / "run")) as directory,
            log_to_file(LogOptions(None, "console"), directory.path / "run.log"),
        ):
            self._runner = Runner(
                load_tournament(folder / "siege.toml"),
                self._matches,
                edition=load_edition(),
                directory=directory,
                key=SigningKey.new(),
                sandbox=find_sandbox(hidden=(key,), shared=(folder,)),
                executor=LocalExecutor(on_listening=self._address.set_result),
            )
            return await self._runner.run()


async def main(folder: str, tables: list[list[str]], honest: list[str]) -> None:
    configure("error")
    siege = SiegeRun(Path(folder), tables, honest)
    await serve_commands({"listen": siege.listen, "play": siege.play})


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    given: dict[str, Any] = options()
    run(main(**given))
