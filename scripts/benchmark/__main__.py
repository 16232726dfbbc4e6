"""The command line of scripts/bench; each benchmark is one function in one module."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scripts.benchmark.audit import audit, replay_size
from scripts.benchmark.bridge import bridge
from scripts.benchmark.channels import channels
from scripts.benchmark.clients import clients
from scripts.benchmark.concurrency import concurrency
from scripts.benchmark.engine import engine
from scripts.benchmark.environment import environment
from scripts.benchmark.figures import BenchError, Figure, show, write_json
from scripts.benchmark.page.web import web
from scripts.benchmark.python_client import python_client
from scripts.benchmark.referee import referee
from scripts.benchmark.search import search
from scripts.benchmark.tournaments.cluster import cluster
from scripts.benchmark.tournaments.standings import standings
from scripts.benchmark.tournaments.tournament import tournament
from scripts.benchmark.worlds import worlds

BENCHMARKS: Final[dict[str, Callable[[bool], list[Figure]]]] = {
    "engine": engine,
    "environment": environment,
    "worlds": worlds,
    "search": search,
    "standings": standings,
    "referee": referee,
    "tournament": tournament,
    "concurrency": concurrency,
    "audit": audit,
    "replay_size": replay_size,
    "bridge": bridge,
    "python_client": python_client,
    "clients": clients,
    "channels": channels,
    "cluster": cluster,
    "web": web,
}
ON_REQUEST: Final = frozenset({"clients", "channels", "cluster", "standings", "web"})
"""Benchmarks that run only if requested by name: they need extra tools, or time and free cores."""


def main() -> int:
    """Run benchmarks and print their results. With --check, return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure the product beside its peers."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join(BENCHMARKS)} [default: all but {', '.join(ON_REQUEST)}]",
    )
    parser.add_argument("--quick", action="store_true", help="use small sizes, for rough numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE")
    parser.add_argument("--check", action="store_true", help="return status 1 if a bar is missed")
    parser.add_argument(
        "--language",
        action="append",
        default=[],
        metavar="NAME",
        help="measure only the client of this language; may be repeated",
    )
    given = parser.parse_args()
    names: list[str] = given.names or [name for name in BENCHMARKS if name not in ON_REQUEST]
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    figures: list[Figure] = []
    try:
        for name in names:
            print(f"Measuring {name}", file=sys.stderr)
            measure = BENCHMARKS[name]
            if measure is clients:
                figures += clients(given.quick, given.language)
            else:
                figures += measure(given.quick)
        if given.json:
            write_json(given.json, figures)
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    show(figures)
    return int(given.check and not all(figure.holds for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
