"""A program about to run in a sandbox."""

import asyncio
import os
import signal
from dataclasses import dataclass, field

from asara_server.tournament.sandbox.cgroups import Cgroup
from asara_server.tournament.sandbox.spec import PrivateCopy


@dataclass(eq=False, slots=True)
class SandboxedCommand:
    """The command that runs one program in a sandbox, and the resources to release afterwards."""

    argv: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """File descriptors that the command inherits; `close_descriptors` closes them here."""
    cgroup: Cgroup | None = None
    memory_mb: int = 0
    copied: PrivateCopy | None = None
    """Files that the command copies while it starts; kept so that they stay open until then."""
    _memory_peak: int | None = field(default=None, init=False)
    _processor_ns: int | None = field(default=None, init=False)
    _cleanup: asyncio.Task[None] | None = field(default=None, init=False)

    def close_descriptors(self) -> None:
        """Close this process's copies, once the command has inherited them or failed to start."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def program_status(self, status: int) -> int:
        """Convert the command's exit status to the program's: negative if a signal killed it."""
        return 128 - status if 128 < status <= 128 + signal.NSIG else status

    def exceeded_limit(self) -> str:
        """Return which limit the program exceeded, in words, or "" if none is known."""
        if self.cgroup is not None and self.cgroup.ran_out_of_memory():
            return f"it used more than {self.memory_mb:,} MiB of memory"
        return ""

    def memory_peak(self) -> int | None:
        """Return the most bytes of memory that the program has used; None if that is unknown."""
        if self._cleanup is None and self.cgroup is not None:
            return self.cgroup.memory_peak()
        return self._memory_peak

    async def forget(self) -> None:
        """Empty the kernel's caches of the program's files and names; it goes on running."""
        if self.cgroup is not None and self._cleanup is None:
            await asyncio.to_thread(self.cgroup.empty_caches)

    def processor_ns(self) -> int | None:
        """Return the processor time of the program and its children, in nanoseconds.

        None if no control group counts it.
        """
        if self._cleanup is None and self.cgroup is not None:
            return self.cgroup.processor_ns()
        return self._processor_ns

    async def clean_up(self) -> None:
        """Release the copied files, and remove the control group after its processes were killed.

        May be called repeatedly.
        """
        self.copied = None
        if self.cgroup is not None:
            if self._cleanup is None:
                self._memory_peak = self.cgroup.memory_peak()
                self._processor_ns = self.cgroup.processor_ns()
                self._cleanup = asyncio.create_task(self.cgroup.remove())
            await asyncio.shield(self._cleanup)
