"""Compares the referee over gRPC with a bare gRPC echo that carries the same messages.

The two servers are separate processes, each on a Unix socket: the referee, which plays four-player
matches with all rule sets, and the echo (see `echo`). Bot processes run the same code against both
servers, with the same number of streams. As many matches run as there are streams, so the number of
open decisions is the same too. Every decision is one request and one response on both sides. The
referee keeps its journal, as in a tournament; the echo has no journal. The servers are measured
alternately, for about a second each, while the other one is idle.

The bare echo uses gRPC as installed. The one in `referee_alike` runs without an event engine, like
`asara_server`. Turning it off saves both servers about 25 µs per decision.

`referee` counts decisions per second of wall time, as bots see it. If the bots use more of the
machine than the server, this number flatters the referee. `referee_cpu` therefore reports the
processor time of each server process per decision, which is not affected.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scripts.benchmark.children import AS_INSTALLED, Child, child
from scripts.benchmark.figures import Bar, Figure, compare

BAR = Bar(0.85)
CPU_BAR = Bar(1.5, most=True)
_STREAMS = 8
_MATCHES = 8
_GENERATORS = 2
"""Number of bot processes that share the streams."""
_GAME = {"rules": "pro+gifts+genie", "seats": 4}


class Side:
    """A server and the bots that play against it."""

    def __init__(self, server: Child, generators: list[Child], folder: Path) -> None:
        self.server = server
        self.folder = folder
        """Folder of the server's socket, where the referee's journal is."""
        self._generators = generators

    def start(self, matches: int) -> None:
        """Begin this number of matches, up to their first decisions."""
        self.server.call("start", matches=matches)
        self._play(0)

    def play(self, seconds: float) -> tuple[float, float]:
        """Play; return decisions per second, and the server's processor time per decision.

        Decisions per second count what bots answered in this time; processor time covers all of the
        server's work.
        """
        before = self.server.call("usage")["cpu_s"]
        played = self._play(seconds)
        used = self.server.call("usage")["cpu_s"] - before
        decisions = sum(response["decisions"] for response in played)
        rate = sum(response["decisions"] / response["seconds"] for response in played)
        return rate, used / decisions

    def _play(self, seconds: float) -> list[dict[str, float]]:
        for generator in self._generators:
            generator.send("play", seconds=seconds)
        return [generator.receive() for generator in self._generators]


@contextmanager
def side(
    kind: str,
    generators: int = _GENERATORS,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Side]:
    """Run a server, `referee_server` or `echo`, with connected bots.

    `variables` are added to the environment of the server.
    """
    bots = [f"bot-{number}" for number in range(_STREAMS)]
    with tempfile.TemporaryDirectory(prefix="asara-bench-") as folder, ExitStack() as stack:
        address = f"unix:{Path(folder) / 'socket'}"
        server = stack.enter_context(child(kind, variables, address=address, bots=bots, **_GAME))
        children = [
            stack.enter_context(
                child("load_generator", address=address, names=bots[number::generators])
            )
            for number in range(generators)
        ]
        yield Side(server, children, Path(folder))


def referee(quick: bool) -> list[Figure]:
    """Measure decisions per second over the network, and the server's cost per decision."""
    seconds = 0.2 if quick else 1.0
    bare: list[tuple[float, float]] = []
    alike: list[tuple[float, float]] = []
    bare_cpu: list[tuple[float, float]] = []
    alike_cpu: list[tuple[float, float]] = []
    with (
        side("referee_server") as ours,
        side("echo", variables=AS_INSTALLED) as echo,
        side("echo") as other_echo,
    ):
        for each in (ours, echo, other_echo):
            each.start(_MATCHES)
        for number in range(3 if quick else 10):
            rate, cost = ours.play(seconds)
            for peer, rates, costs in (
                (echo, bare, bare_cpu),
                (other_echo, alike, alike_cpu),
            ):
                peer_rate, peer_cost = peer.play(seconds)
                if number:  # the first round fills caches
                    rates.append((rate, peer_rate))
                    costs.append((cost * 1e6, peer_cost * 1e6))
    rate_unit, cost_unit = "decisions/s", "µs/decision"
    names = ("bare gRPC echo", "echo without event engine")
    return [
        compare("referee", bare, unit=rate_unit, peer=names[0], bar=BAR),
        compare("referee_cpu", bare_cpu, unit=cost_unit, peer=names[0], bar=CPU_BAR),
        compare("referee_alike", alike, unit=rate_unit, peer=names[1]),
        compare("referee_alike_cpu", alike_cpu, unit=cost_unit, peer=names[1]),
    ]
