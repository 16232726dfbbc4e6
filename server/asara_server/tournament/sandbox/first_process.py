"""The first process of a sandbox's PID namespace. When it ends, the kernel ends all others there.

Without a control group, a sandbox is ended from outside by killing this process. bubblewrap reports
the process number before it starts the program.
"""

import os
import re
import select
import signal
from contextlib import suppress
from pathlib import Path

_MESSAGE_BYTES = 4096


class FirstProcess:
    """The first process of one sandbox; the owner must call `close`."""

    def __init__(self) -> None:
        self.message, self.teller = os.pipe()
        """Descriptors of the pipe through which bubblewrap reports the process number."""
        os.set_blocking(self.message, False)
        self._said = b""
        self._process = -1

    def learn(self) -> int | None:
        """Return the process number; 0 if it will never be known, None if it is not known yet."""
        try:
            while data := os.read(self.message, _MESSAGE_BYTES):
                self._said += data
        except BlockingIOError:
            return None
        told = re.search(rb'"child-pid": (\d+)', self._said)
        pid = int(told[1]) if told else 0
        if pid and self._process < 0:
            with suppress(OSError):
                process = os.pidfd_open(pid)
                if _is_first(pid):
                    self._process = process
                else:  # it has ended, and another process has its number
                    os.close(process)
        return pid if self._process >= 0 else 0

    def kill(self) -> list[int] | None:
        """Kill the first process and so the whole namespace; return its number while any process is
        left.

        None if its number is not known.
        """
        if self.message < 0:
            return []
        pid = self.learn()
        if not pid:
            return None
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
        ended = select.poll()
        ended.register(self._process, select.POLLIN)
        return [] if ended.poll(0) else [pid]

    def close(self) -> None:
        """Forget the process. May be called repeatedly."""
        for descriptor in (self.message, self._process):
            if descriptor >= 0:
                os.close(descriptor)
        self.message = self._process = -1


def _is_first(pid: int) -> bool:
    """Return True if a process is the first process of a nested PID namespace."""
    numbers = re.search(r"^NSpid:(.*)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return numbers is not None and numbers[1].split()[1:][-1:] == ["1"]
