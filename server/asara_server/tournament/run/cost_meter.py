"""Measures the costs of playing matches in this process (see `costs`)."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Generic, ParamSpec, Protocol, TypeVar, cast

from asara_server import system
from asara_server.eventlog.journal import Journal
from asara_server.eventlog.replay import Replay
from asara_server.match.inputs import ReplyRecord
from asara_server.match.spec import SECOND_US
from asara_server.process_family import family, processor_ns
from asara_server.tournament.run.costs import RunCosts

P = ParamSpec("P")
T = TypeVar("T")

_WAITED_FOR: Final = slice(13, 15)
"""Fields of `/proc/PID/stat` behind the name: ticks of the children that were waited for."""
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK") if system.LINUX else 1


class MeteredProcess(Protocol):
    """The process of a bot."""

    @property
    def pid(self) -> int: ...

    @property
    def running(self) -> bool: ...

    @property
    def contained(self) -> bool:
        """True if it runs in a sandbox."""

    def group_ns(self) -> int | None:
        """Return the processor time that its control group has counted, in nanoseconds.

        None without a control group.
        """


class CostMeter:
    """Measures from the moment when it is made until `stop`. All of it belongs to one event loop.

    The processor time of bots is

    - of contained bots that of their control groups, which includes all processes that they ever
      had. Without control groups it is that of their running processes, read when they connect and
      after each match, so that the time after the last match is missing;
    - of other bots that of all children of this process that have ended and were waited for, as the
      system counts it, and that of the bots that still run, with their descendants.
    """

    def __init__(
        self, journal: Journal | None = None, *, cores: int = 0, slots: int = 0, plays: bool = True
    ) -> None:
        """`cores` are those of this machine, and `slots` is the number of concurrent matches.

        Without slots no wall time is measured: a worker leaves that to its runner. `plays` is false
        if workers play: then this process has no referee and no bots, and is all runner.
        """
        self._journal = journal
        self._journals_s = 0.0
        """Processor seconds of the journals before this one."""
        self._cores = cores
        self._slots = slots
        self._plays = plays
        self._added = RunCosts()
        """What is counted as it happens; the rest is read from clocks."""
        self._runner_s = 0.0
        self._bots: dict[MeteredProcess, float] = {}
        """Running processes, and the processor seconds that were last known of each."""
        self._contained = False
        """True if the bots are contained."""
        self._ended_s = 0.0
        """Processor seconds of contained bots that have ended."""
        self._slots_since_s = time.monotonic()
        self._own_began_s = time.process_time()
        self._children_began_s = _children_s()
        self._journal_began_s = self._journal_s
        self._taken = RunCosts()
        self._stopped: RunCosts | None = None

    @property
    def costs(self) -> RunCosts:
        """The costs so far; after `stop`, those until then."""
        if self._stopped is not None:
            return self._stopped
        self._add_wall()
        journal_s = self._journal_s - self._journal_began_s
        own_s = time.process_time() - self._own_began_s - journal_s
        runner_s = self._runner_s if self._plays else own_s
        measured = RunCosts(
            bots_cpu_s=max(0.0, self._bots_s() - self._added.start_cpu_s),
            referee_cpu_s=max(0.0, own_s - runner_s),
            journal_cpu_s=journal_s,
            runner_cpu_s=runner_s,
        )
        return self._added + measured

    def take(self) -> RunCosts:
        """Return the costs since the last call of this function, or since the beginning."""
        before, self._taken = self._taken, self.costs
        return self._taken - before

    def stop(self) -> None:
        """Measure no further; to be called when all bots have ended."""
        self._stopped = self.costs

    # What happens

    def add(self, part: RunCosts) -> None:
        """Add costs that were measured elsewhere."""
        self._added += part

    def set_slots(self, slots: int) -> None:
        """Set the number of matches that can be played at once from now on."""
        self._add_wall()
        self._slots = slots

    def use_journal(self, journal: Journal | None) -> None:
        """Measure another journal from now on."""
        self._journals_s = self._journal_s
        self._journal = journal
        if journal is not None:
            self._journals_s -= journal.cpu_s

    def count_match(self, replay: Replay) -> None:
        """Count a match that is over."""
        bots_us = [record.bot_us for record in replay.records if isinstance(record, ReplyRecord)]
        deciding_s = sum(bots_us) / SECOND_US
        self.add(RunCosts(matches=1, decisions=len(bots_us), deciding_s=deciding_s))

    def bot_started(self, process: MeteredProcess) -> None:
        self._bots[process] = 0.0
        self._contained |= process.contained

    def bot_connected(self, process: MeteredProcess, wall_s: float) -> None:
        """Count a process that has just connected for the first time, `wall_s` after its start."""
        cpu_s = self._look(process)
        self.add(RunCosts(starts=1, start_wall_s=wall_s, start_cpu_s=cpu_s))

    def bot_played(self, process: MeteredProcess) -> None:
        """Count what a process has used in a match, before it may be ended."""
        if process.contained and process in self._bots:
            self._look(process)

    def bot_ended(self, process: MeteredProcess) -> None:
        if process in self._bots:
            if process.contained:
                self._ended_s += self._look(process)
            del self._bots[process]

    # Work of the runner

    @contextmanager
    def runner_work(self) -> Iterator[None]:
        """Count what this thread does in the context as work of the runner; commits apart."""
        began_s, journal_s = time.thread_time(), self._journal_s
        try:
            yield
        finally:
            self._runner_s += time.thread_time() - began_s - (self._journal_s - journal_s)

    async def as_runner(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine, and count what it does as work of the runner, without its waits."""
        return await _Metered(self, work)

    async def thread_as_runner(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Call a function in another thread, and count it as work of the runner."""

        def timed() -> tuple[T, float]:
            began_s = time.thread_time()
            result = work(*args, **options)
            return result, time.thread_time() - began_s

        result, used_s = await asyncio.to_thread(timed)
        self._runner_s += used_s
        return result

    # Clocks

    @property
    def _journal_s(self) -> float:
        return self._journals_s + (0.0 if self._journal is None else self._journal.cpu_s)

    def _add_wall(self) -> None:
        now_s = time.monotonic()
        wall_s, self._slots_since_s = now_s - self._slots_since_s, now_s
        if self._slots:
            self.add(
                RunCosts(wall_s=wall_s, core_s=wall_s * self._cores, slot_s=wall_s * self._slots)
            )

    def _bots_s(self) -> float:
        """Processor seconds of all bots so far."""
        if not self._plays:
            return 0.0
        running_s = sum(map(self._look, self._bots))
        if self._contained:
            return self._ended_s + running_s
        return _children_s() - self._children_began_s + running_s

    def _look(self, process: MeteredProcess) -> float:
        """Processor seconds of one bot, with all that is known about its other processes."""
        now_s = used_s(process) or 0.0
        self._bots[process] = now_s = max(now_s, self._bots.get(process, 0.0))
        return now_s


class _Metered(Generic[T]):
    """Awaits a coroutine, and measures each of its steps."""

    def __init__(self, meter: CostMeter, work: Coroutine[Any, Any, T]) -> None:
        self._meter = meter
        self._work = work

    def __await__(self) -> Generator[Any, Any, T]:
        work = self._work
        error: BaseException | None = None
        while True:
            try:
                with self._meter.runner_work():
                    waited = work.send(None) if error is None else work.throw(error)
            except StopIteration as end:
                return cast("T", end.value)
            error = None
            try:
                yield waited
            except BaseException as thrown:  # noqa: BLE001 - the coroutine decides what follows
                error = thrown


def _children_s() -> float:
    """Processor seconds of all children that have ended and were waited for, and of theirs."""
    try:
        import resource
    except ImportError:  # Windows, which does not count it
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def used_s(process: MeteredProcess) -> float | None:
    """Return the processor seconds of a process and its descendants; None if they are unknown."""
    group_ns = process.group_ns()
    if group_ns is not None:
        return group_ns / 1e9
    return (_family_s(process.pid) if process.running else 0.0) or None


def _family_s(pid: int) -> float:
    """Processor seconds of a running process and its descendants; 0 outside Linux.

    Of descendants that have ended, those count that their parents waited for.
    """
    used_s = 0.0
    for one in family(pid):
        with suppress(OSError):  # it has just ended, or this is no Linux
            used_s += processor_ns(one) / 1e9
            fields = Path(f"/proc/{one}/stat").read_bytes().rpartition(b")")[2].split()
            used_s += sum(map(int, fields[_WAITED_FOR])) / _TICKS_PER_S
    return used_s
