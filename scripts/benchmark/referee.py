"""The referee over gRPC, beside a bare gRPC echo that carries the same messages.

Two servers stand beside each other, each a process of its own on a unix socket: the referee, which
plays four-player matches with all rule sets, and the echo (`echo` says what it has and lacks).
Processes of bots with the same code play against either, on as many streams and with as many
decisions open at once: as many matches as there are streams. Every decision is one request and one
response on both sides. The referee keeps its journal, as in a tournament; the echo has none. They
are measured in turns of about a second; the other side is quiet meanwhile.

`referee` counts decisions per second of the clock, as bots see it. Where the bots need more of the
machine than the server, that flatters the referee; so `referee_cpu` tells the processor time of the
two server processes per decision, which nothing flatters.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from asara_server.eventlog.journal import Durability
from scripts.benchmark.children import Child
from scripts.benchmark.figures import Bar, Figure, compare

BAR = Bar(0.75)
_STREAMS = 8
_MATCHES = 8
#: Processes that share the streams.
_LOADS = 2
_GAME = {"rules": "pro+gifts+genie", "seats": 4}


class Side:
    """A server and the bots that play against it."""

    def __init__(self, server: Child, loads: list[Child]) -> None:
        self.server = server
        self._loads = loads

    def start(self, matches: int) -> None:
        """Begin so many matches, up to their first decisions."""
        self.server.ask(do="start", matches=matches)
        self._tell_loads(0)

    def play(self, seconds: float) -> tuple[float, float]:
        """Play for so long: decisions per second, and the server's processor time per decision.

        The first counts what bots answered in that time, the second all that the server did.
        """
        before = self.server.ask(do="usage")["cpu_s"]
        answers = self._tell_loads(seconds)
        used = self.server.ask(do="usage")["cpu_s"] - before
        decisions = sum(answer["decisions"] for answer in answers)
        rate = sum(answer["decisions"] / answer["seconds"] for answer in answers)
        return rate, used / decisions

    def _tell_loads(self, seconds: float) -> list[dict[str, float]]:
        for load in self._loads:
            load.tell(do="play", seconds=seconds)
        return [load.receive() for load in self._loads]


@contextmanager
def side(
    kind: str, loads: int = _LOADS, durability: Durability | None = "normal"
) -> Iterator[Side]:
    """A server of this kind, `court` or `echo`, with bots that have dialled in.

    The court keeps a journal as durable as that, or none.
    """
    bots = [f"bot-{number}" for number in range(_STREAMS)]
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as folder, ExitStack() as stack:
        address = f"unix:{Path(folder) / 'socket'}"
        own = {"durability": durability} if kind == "court" else {}
        server = stack.enter_context(Child(kind, address=address, bots=bots, **own, **_GAME))
        children = [
            stack.enter_context(Child("load", address=address, names=bots[number::loads]))
            for number in range(loads)
        ]
        yield Side(server, children)


def referee(quick: bool) -> list[Figure]:
    """Decisions per second over the network, and what each costs the server."""
    seconds = 0.2 if quick else 1.0
    rates, costs = [], []
    with side("court") as court, side("echo") as echo:
        court.start(_MATCHES)
        echo.start(_MATCHES)
        for number in range(3 if quick else 10):
            rate, cost = court.play(seconds)
            peer_rate, peer_cost = echo.play(seconds)
            if number:  # the first round fills caches
                rates.append((rate, peer_rate))
                costs.append((cost * 1e6, peer_cost * 1e6))
    peer = "bare gRPC echo"
    return [
        compare("referee", rates, unit="decisions/s", peer=peer, bar=BAR),
        compare("referee_cpu", costs, unit="µs/decision", peer=peer),
    ]
