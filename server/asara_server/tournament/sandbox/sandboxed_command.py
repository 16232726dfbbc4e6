"""A program about to run in a sandbox."""

import asyncio
import os
import signal
from dataclasses import dataclass, field

from asara_server.tournament.sandbox.cgroups import Cgroup
from asara_server.tournament.sandbox.first_process import FirstProcess
from asara_server.tournament.sandbox.private_copy import PrivateCopy


@dataclass(eq=False, slots=True)
class SandboxedCommand:
    """A command that runs one program in a sandbox, with resources to release afterwards."""

    argv: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """File descriptors that the command inherits; `close_descriptors` closes them here."""
    cgroup: Cgroup | None = None
    first: FirstProcess | None = None
    """The first process, which ends the sandbox if there is no control group."""
    memory_mib: int = 0
    copied: PrivateCopy | None = None
    """Files that the command copies while it starts; this reference keeps them open until then."""
    began_file: int = -1
    """Descriptor of a file that stays empty until the sandbox begins to run the program."""
    _memory_peak: int | None = field(default=None, init=False)
    _processor_ns: int | None = field(default=None, init=False)
    _exceeded_limit: str = field(default="", init=False)
    _sandbox_failed: bool = field(default=False, init=False)
    _cleanup: asyncio.Task[None] | None = field(default=None, init=False)

    def close_descriptors(self) -> None:
        """Close this process's descriptors, once the command has inherited them or failed."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def program_status(self, status: int) -> int:
        """Convert the command's exit status to the program's: negative if a signal killed it."""
        return 128 - status if 128 < status <= 128 + signal.NSIG else status

    @property
    def sandbox_failed(self) -> bool:
        """True if the sandbox never began to run the program.

        False if the program's files alone filled its memory.
        """
        if self.began_file >= 0:
            began = os.fstat(self.began_file).st_size > 0
            self._sandbox_failed = not (began or self.exceeded_limit())
        return self._sandbox_failed

    def exceeded_limit(self) -> str:
        """Describe the limit that the program exceeded, or return "" if none is known."""
        if self._cleanup is not None:
            return self._exceeded_limit
        if self.cgroup is not None and self.cgroup.ran_out_of_memory():
            return f"it used more than {self.memory_mib:,} MiB of memory"
        return ""

    def memory_peak(self) -> int | None:
        """Return the program's peak memory in bytes; None if unknown."""
        if self._cleanup is None and self.cgroup is not None:
            return self.cgroup.memory_peak()
        return self._memory_peak

    def processor_ns(self) -> int | None:
        """Return the processor time of the program and its children, in nanoseconds.

        None if no control group counts it.
        """
        if self._cleanup is None and self.cgroup is not None:
            return self.cgroup.processor_ns()
        return self._processor_ns

    def kill(self) -> list[int] | None:
        """Kill all processes in the sandbox from outside, and return the remaining processes.

        A process that has not entered its control group yet is killed by its number. None if it is
        not known whether any process is left.
        """
        if self.cgroup is not None:
            return self.cgroup.kill()
        return self.first.kill() if self.first is not None else None

    async def clean_up(self) -> None:
        """Release the copied files and the control group, once all processes have been killed.

        May be called repeatedly.
        """
        self.copied = None
        if self.first is not None:
            self.first.close()
        if self.began_file >= 0:
            self._sandbox_failed = self.sandbox_failed
            os.close(self.began_file)
            self.began_file = -1
        if self.cgroup is not None:
            if self._cleanup is None:
                self._memory_peak = self.cgroup.memory_peak()
                self._processor_ns = self.cgroup.processor_ns()
                self._exceeded_limit = self.exceeded_limit()
                self._cleanup = asyncio.create_task(self.cgroup.remove())
            await asyncio.shield(self._cleanup)
