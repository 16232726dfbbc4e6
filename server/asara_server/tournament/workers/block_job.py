"""Deal blocks as units of work: what a worker is told, what it hands back, and how it plays one.

`play_block` is what every worker runs, whether it is a process of this machine or one of a cluster.
It has a referee of its own, which only bots that it starts can reach, and no journal: a block that
a worker does not hand in is played again, by the same deals.

A worker is told the secrets of the deals it plays, and nothing that others follow from. It hands
back replays without a signature: the runner alone has the key.
"""

import asyncio
import atexit
import os
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import NamedTuple, Self

from asara_game.edition import Edition, load_edition
from asara_server.event_loop import new_event_loop, seldom_collect
from asara_server.logs import Fact, gather
from asara_server.referee.referee import Referee
from asara_server.replay.file import replay_records
from asara_server.tournament.config.tournament_file import Entry
from asara_server.tournament.execution.local_referee import local_referee
from asara_server.tournament.execution.match_settings import MatchSettings
from asara_server.tournament.sandbox.bubblewrap import Sandbox, SandboxError, find_sandbox
from asara_server.tournament.sandbox.spec import SandboxConfig
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult

_LOOK_S = 1.0
"""Between two looks whether a block is still wanted."""


class UnfitWorkerError(Exception):
    """A worker cannot play these blocks; the text names it, and says why and what to do."""


class Program(NamedTuple):
    """What must be the same wherever matches of a run are played."""

    asara: str
    python: str
    """Major and minor version."""
    edition_sha256: str

    @classmethod
    def here(cls) -> Self:
        python = ".".join(platform.python_version_tuple()[:2])
        return cls(version("asara"), python, _edition().sha256.hex())


@dataclass(frozen=True, slots=True)
class WorkerRequirements:
    """What must be so where a worker is."""

    program: Program
    paths: tuple[tuple[str, Path], ...]
    """Names of entries, and files or directories of theirs."""
    sandbox_config: SandboxConfig | None

    def missing(self) -> list[str]:
        """What is not so in this process, in words."""
        told = ("asara", "Python", "the edition of the game")
        found = [
            f"it has {what} {ours}, and the runner {theirs}: install the same on both"
            for what, ours, theirs in zip(told, Program.here(), self.program, strict=True)
            if ours != theirs
        ]
        found += [
            f"entry {name}: {path} does not exist there; entries must be on a file system that "
            "all machines share, at the same path"
            for name, path in self.paths
            if not path.exists()
        ]
        if self.sandbox_config is not None:
            try:
                _sandbox(self.sandbox_config)
            except SandboxError as error:
                found.append(f"--sandbox bubblewrap: {error}")
        return found


def worker_requirements(
    entries: tuple[Entry, ...], built: Mapping[str, Path], sandbox_config: SandboxConfig | None
) -> WorkerRequirements:
    """What matches of these entries need; `built` has the directories that builds made."""
    paths = [
        (entry.name, path)
        for entry in entries
        for path in (built.get(entry.name, entry.directory), *entry.readable)
    ]
    return WorkerRequirements(Program.here(), tuple(paths), sandbox_config)


@dataclass(frozen=True, slots=True)
class BlockJob:
    """A deal block to be played, as far as it is not over."""

    run: str
    """Names the run, so that all its blocks can be stopped."""
    needs: WorkerRequirements
    match_settings: MatchSettings
    matches: tuple[tuple[ScheduledMatch, int], ...]
    """Each with the attempt to begin with."""
    secrets: Mapping[str, bytes]
    """By the name of the match as it is played, for all attempts that may be made."""
    excluded: Mapping[str, str]
    """Entries that forfeit, and why."""
    log_level: int
    """Lowest level of the facts that are handed back."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What a worker hands back."""

    place: str
    """Where it was played."""
    played: tuple[tuple[MatchResult, tuple[bytes, ...] | None], ...]
    """Attempts at matches in the order in which they ended, each with the records of its replay;
    None where it was void."""
    cut: tuple[str, ...]
    """How far matches were that were stopped in the middle."""
    logs: tuple[tuple[str, bytes], ...]
    """What bots printed, by the path of the file in the folder of logs."""
    facts: tuple[Fact, ...]
    """What the referee logged."""


class WorkerContext(NamedTuple):
    """Where a block is played."""

    name: str
    private: tuple[Path, ...] = ()
    """What no bot may see there."""
    wanted: Callable[[], bool] = lambda: True
    """Whether anybody still waits for the block."""


def play_block(task: BlockJob, place: WorkerContext | None = None) -> BlockResult:
    """Play a block in this process, in any thread; all its bots have ended on return.

    `place` describes the worker; without it, the process is one of `ProcessWorkers`. Raises
    UnfitWorkerError if the block cannot be played here.
    """
    place = place or WorkerContext(f"worker process {os.getpid()}")
    contain = task.needs.sandbox_config
    if contain is not None:
        contain = contain._replace(secret=(*contain.secret, *place.private))
    if missing := task.needs.missing():
        raise UnfitWorkerError("\n".join(f"{place.name}: {line}" for line in missing))
    sandbox = None if contain is None else _sandbox(contain)
    return _stage().play(task, place, sandbox)


def stop_blocks(run: str, finish_s: float) -> None:
    """Stop the blocks of a run that are played in this process, and those that it still gets.

    Open decisions have `finish_s` seconds to be answered. What is over is handed in.
    """
    _stage().stop(run, finish_s)


def abandon_blocks(patience_s: float) -> None:
    """End all blocks of this process at once; returns when no bot is left, or after so long."""
    _stage().abandon(patience_s)


@dataclass(eq=False)
class _Playing:
    """A block that is being played."""

    task: BlockJob
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    finish_s: float = 0.0

    def stop(self, finish_s: float) -> None:
        self.finish_s = finish_s
        self.stopping.set()

    async def play(self, place: WorkerContext, sandbox: Sandbox | None) -> BlockResult:
        task = self.task
        facts: list[Fact] = []
        log = gather(facts, task.log_level)
        referee = Referee(log=log.bind(part="referee"))
        played: list[tuple[MatchResult, tuple[bytes, ...] | None]] = []
        cut: list[str] = []
        with TemporaryDirectory(prefix="asara-block-") as folder:
            async with local_referee(
                task.match_settings,
                referee,
                edition=_edition(),
                secret_of=lambda match_id, _block: task.secrets[match_id],
                sandbox=sandbox,
                logs=Path(folder),
                excluded=task.excluded,
                log=log.bind(part="runner"),
            ) as local:
                stopper = asyncio.create_task(self._stop(referee))
                try:
                    for match, attempt in task.matches:
                        if self.stopping.is_set():
                            break
                        async for one in local.match_runner.play(match, attempt):
                            records = None if one.replay is None else replay_records(one.replay)
                            played.append((one.result, records))
                    if self.stopping.is_set():
                        cut = await stopper
                finally:
                    stopper.cancel()
                    await asyncio.gather(stopper, return_exceptions=True)
            logs = _printed(Path(folder))
        return BlockResult(place.name, tuple(played), tuple(cut), logs, tuple(facts))

    async def _stop(self, referee: Referee) -> list[str]:
        await self.stopping.wait()
        return await referee.stop(finish_s=self.finish_s)


class _Stage:
    """The event loop on which all blocks of this process are played, in a thread of its own.

    gRPC takes one loop in a process. The sandbox ends programs with the thread that started them,
    so that it has to be one that lasts.
    """

    def __init__(self) -> None:
        _keep_descriptors()
        seldom_collect()
        self._loop = new_event_loop()
        self._playing: dict[_Playing, asyncio.Task[BlockResult]] = {}
        self._stopped: set[str] = set()
        """Runs of which nothing begins here any more."""
        self._thread = Thread(target=self._loop.run_forever, name="asara", daemon=True)
        self._thread.start()
        atexit.register(self._close)

    def play(self, task: BlockJob, place: WorkerContext, sandbox: Sandbox | None) -> BlockResult:
        """Play a block; waits for its end."""
        playing = _Playing(task)
        future = asyncio.run_coroutine_threadsafe(self._play(playing, place, sandbox), self._loop)
        while not wait([future], _LOOK_S).done:
            if not place.wanted():
                self._loop.call_soon_threadsafe(playing.stop, 0.0)
        return future.result()

    def stop(self, run: str, finish_s: float) -> None:
        self._loop.call_soon_threadsafe(self._stop, run, finish_s)

    def abandon(self, patience_s: float) -> None:
        wait([asyncio.run_coroutine_threadsafe(self._abandon(), self._loop)], patience_s)

    async def _play(
        self, playing: _Playing, place: WorkerContext, sandbox: Sandbox | None
    ) -> BlockResult:
        if playing.task.run in self._stopped:
            playing.stop(0.0)
        task = asyncio.create_task(playing.play(place, sandbox))
        self._playing[playing] = task
        try:
            return await task
        finally:
            del self._playing[playing]

    def _stop(self, run: str, finish_s: float) -> None:
        self._stopped.add(run)
        for playing in self._playing:
            if playing.task.run == run:
                playing.stop(finish_s)

    async def _abandon(self) -> None:
        tasks = list(self._playing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _close(self) -> None:
        """When the process ends: a thread must not be in the loop while Python goes."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LOOK_S)


_lock = Lock()
_stages: list[_Stage] = []
"""None or one; a cluster's workers may have several threads that ask for it."""


def _stage() -> _Stage:
    with _lock:
        if not _stages:
            _stages.append(_Stage())
        return _stages[0]


def _keep_descriptors() -> None:
    """Let no bot have the pipes by which this process, as a worker, was started and is told.

    uvloop closes nothing that may be inherited, and whoever writes to them is believed.
    """
    for path in Path("/dev/fd").iterdir():
        if int(path.name) > 2:
            with suppress(OSError):  # that of the listing itself
                os.set_inheritable(int(path.name), False)


@cache
def _edition() -> Edition:
    return load_edition()


@cache
def _sandbox(sandbox_config: SandboxConfig) -> Sandbox:
    """One for the whole process: it is tried when it is made. May raise SandboxError."""
    return find_sandbox(secret=sandbox_config.secret, shared=sandbox_config.shared)


def _printed(folder: Path) -> tuple[tuple[str, bytes], ...]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
