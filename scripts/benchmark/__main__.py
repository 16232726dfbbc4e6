"""The benchmarks that scripts/bench runs, by name; each is one function in one module."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scripts.benchmark.audit import audit, replay_size
from scripts.benchmark.cluster import cluster
from scripts.benchmark.concurrency import concurrency
from scripts.benchmark.engine import engine
from scripts.benchmark.figures import BenchError, Figure, show, write_json
from scripts.benchmark.referee import referee

BENCHMARKS: Final[dict[str, Callable[[bool], list[Figure]]]] = {
    "engine": engine,
    "referee": referee,
    "concurrency": concurrency,
    "audit": audit,
    "replay_size": replay_size,
    "cluster": cluster,
}
#: Takes minutes and two free cores; measured only when it is named.
ON_REQUEST: Final = frozenset({"cluster"})


def main() -> int:
    """Run them and show what they found; status 1 where --check was given and a bar is missed."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measures the product beside its peers."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join(BENCHMARKS)}; if none, all but {', '.join(ON_REQUEST)}",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: rough numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    given = parser.parse_args()
    names: list[str] = given.names or [name for name in BENCHMARKS if name not in ON_REQUEST]
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    figures: list[Figure] = []
    try:
        for name in names:
            print(f"Measuring {name}", file=sys.stderr)
            figures += BENCHMARKS[name](given.quick)
        if given.json:
            write_json(given.json, figures)
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    show(figures)
    return int(given.check and not all(figure.holds for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
