"""A program about to run in a sandbox."""

import asyncio
import os
import signal
from dataclasses import dataclass, field

from asara_server.tournament.sandbox.cgroups import Cgroup


@dataclass(eq=False, slots=True)
class SandboxedCommand:
    """One program about to be started in the sandbox, and what is to be cleared away after it."""

    command: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """To be passed on to the command, and closed here once it has started."""
    group: Cgroup | None = None
    memory_mb: int = 0
    _clearing: asyncio.Task[None] | None = field(default=None, init=False)

    def started(self) -> None:
        """The command has the descriptors now, or could not be started."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def ending(self, code: int) -> int:
        """The status of the program itself; negative for a signal, as usual."""
        return 128 - code if 128 < code <= 128 + signal.NSIG else code

    def reason(self) -> str:
        """What the sandbox did to the program, in words; mostly nothing."""
        if self.group is not None and self.group.out_of_memory():
            return f"it used more than {self.memory_mb:,} MB of memory"
        return ""

    async def clear(self) -> None:
        """Once all processes were killed. Who calls it again waits for the first."""
        if self.group is not None:
            if self._clearing is None:
                self._clearing = asyncio.create_task(self.group.remove())
            await asyncio.shield(self._clearing)
