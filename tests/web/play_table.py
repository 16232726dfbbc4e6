"""A running `asara play`, and bots that sit down at it through its links."""

import asyncio
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.cli.command import started
from tests.events import EVENT_S
from tests.referee.harness import play_bot
from tests.web.play_pipe import WebStream


class Table:
    """The process, and the links that it printed."""

    def __init__(self, process: "subprocess.Popen[str]", links: list[str]) -> None:
        self.process = process
        self.links = links

    def ended(self) -> tuple[int, str, str]:
        """Wait for the end; return the status, standard output and standard error."""
        stdout, stderr = self.process.communicate(timeout=EVENT_S)
        return self.process.returncode, stdout, stderr

    def printed(self, line: str) -> bool:
        """Wait for a line on standard error; return False if the table ends without it."""
        assert self.process.stderr is not None
        return line in self.process.stderr

    def stopped(self) -> tuple[int, str, str]:
        """Stop the table while it analyses its last match; return the same as `ended`."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("The match is being analysed"):
                self.process.send_signal(signal.SIGTERM)
                break
        return self.ended()


@contextmanager
def play_table(*words: str, people: int = 1) -> Iterator[Table]:
    """Run `asara play`; yield it once it has printed the links."""
    words = ("--no-browser", "--people", str(people), *words)
    with started("play", *words) as process:
        assert process.stdout is not None
        links: list[str] = []
        while len(links) < people:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            if "http://" in line:
                links.append(line.strip())
        yield Table(process, links)


def parts_of(link: str) -> tuple[str, dict[str, str]]:
    """Return the address of a link, and what its fragment says."""
    split = urlsplit(link)
    fragment = parse_qs(split.fragment, strict_parsing=True)
    return split.netloc, {name: values[0] for name, values in fragment.items()}


async def sit_down(link: str, *, stay: Callable[[], object] | None = None) -> Any:
    """Play a match through a link at random, and leave when `stay` is over; return its end."""
    address, fragment = parts_of(link)
    stream = WebStream(address)
    await stream.hello(fragment["token"])
    await stream.expect("welcome")
    (ended,) = await play_bot(stream)
    if stay:
        await asyncio.to_thread(stay)
    await (await stream.socket()).close()
    return ended
