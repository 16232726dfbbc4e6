"""`asara web` as a process, as a user starts it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command import started
from tests.events import EVENT_S


@contextmanager
def asara_web(*arguments: Path | str, cwd: Path | None = None) -> Iterator[str]:
    """Start `asara web` at a free port; yield its address, such as `http://127.0.0.1:8080`."""
    with started("web", *arguments, "--listen", "127.0.0.1:0", cwd=cwd) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"Showing matches at (http://127\.0\.0\.1:\d+)/\n", line)
        assert found, line + process.stderr.read()
        yield found[1]
        process.terminate()
        process.wait(EVENT_S)
