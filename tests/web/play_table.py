"""A running `asara play`, and bots that sit down at it through its links."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.cli.command import command_line, environment
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


@contextmanager
def play_table(*words: str, people: int = 1) -> Iterator[Table]:
    """Run `asara play`; yield it once it has printed the links."""
    process = subprocess.Popen(
        command_line("play", "--no-browser", "--people", str(people), *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    links: list[str] = []
    killer = threading.Timer(300, process.kill)
    killer.start()
    try:
        while len(links) < people:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            if "http://" in line:
                links.append(line.strip())
        yield Table(process, links)
    finally:
        killer.cancel()
        with process:  # waits for it, and closes its pipes
            process.kill()


def parts_of(link: str) -> tuple[str, dict[str, str]]:
    """Return the address of a link, and what its fragment says."""
    split = urlsplit(link)
    fragment = parse_qs(split.fragment, strict_parsing=True)
    return split.netloc, {name: values[0] for name, values in fragment.items()}


async def sit_down(link: str, *, leave: bool = True) -> Any:
    """Play a match through a link at random; return its end."""
    address, fragment = parts_of(link)
    stream = WebStream(address)
    await stream.hello(fragment["token"])
    await stream.expect("welcome")
    (ended,) = await play_bot(stream)
    if leave:
        await (await stream.socket()).close()
    return ended
