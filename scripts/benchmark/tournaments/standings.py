"""Standings of large runs: seconds to compute them, and peak memory.

In one run, 1,000 entries play ten duplicate blocks each. In the other, 200 entries play 100,000
matches in mirrored blocks. All tables have four seats. A separate process reads each run from
`results.jsonl` and computes its standings. The peer is reading this file, which every program that
shows a run has to do.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from asara_codec.results import Termination
from asara_server.tournament.standings.match_result import MatchResult, SeatOutcome
from asara_server.tournament.standings.standings import compute_standings
from scripts.benchmark.figures import Bar, Figure

_SEATS: Final = 4
_MIB: Final = 1 << 20


def standings(quick: bool) -> list[Figure]:
    """Measure both runs; with `quick`, each run has a tenth of the matches."""
    share = 10 if quick else 1
    many = _measured(_duplicate(1_000 // share, 10))
    long = _measured(_mirrored(200, 100_000 // share))
    peer = "read the results"
    return [
        Figure("standings_1000_entries", *_seconds(many, peer), Bar(2, most=True, absolute=True)),
        Figure("standings_100k_matches", *_seconds(long, peer), Bar(10, most=True, absolute=True)),
        Figure(
            "standings_100k_memory",
            long["memory"] / _MIB,
            "MiB",
            peer,
            long["read_memory"] / _MIB,
            Bar(500, most=True, absolute=True),
        ),
    ]


def _seconds(found: dict[str, float], peer: str) -> tuple[float, str, str, float]:
    return found["seconds"], "s", peer, found["read_seconds"]


def _measured(results: Iterator[MatchResult]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.jsonl"
        path.write_text("".join(f"{result.to_json()}\n" for result in results))
        command = [sys.executable, "-m", __name__, str(path)]
        done = subprocess.run(command, capture_output=True, check=True)
        found: dict[str, float] = json.loads(done.stdout)
        return found


def _duplicate(entries: int, blocks: int) -> Iterator[MatchResult]:
    dice = random.Random(1)
    tables = 4 * _SEATS
    order: list[int] = []
    for block in range(entries * blocks // tables):
        while len(order) < tables:
            order += [one for one in dice.sample(range(entries), entries) if one not in order]
        seated, order = order[:tables], order[tables:]
        for table in range(4):
            group = seated[table * _SEATS : (table + 1) * _SEATS]
            yield _result(dice, f"r1-basic-{block:05}", table + 1, group, duplicate=True)


def _mirrored(entries: int, matches: int) -> Iterator[MatchResult]:
    dice = random.Random(1)
    for block in range(matches // _SEATS):
        group = dice.sample(range(entries), _SEATS)
        for turn in range(_SEATS):
            seated = group[turn:] + group[:turn]
            yield _result(dice, f"r1-basic-{block:05}", turn + 1, seated, duplicate=False)


def _result(
    dice: random.Random, block: str, number: int, group: list[int], *, duplicate: bool
) -> MatchResult:
    prestige = [round(60 + entry / 20 + dice.gauss(0, 12)) for entry in group]
    return MatchResult(
        match_id=f"{block}-{number}",
        block=block,
        duplicate_deal=block if duplicate else "",
        round=1,
        rule_sets="basic",
        seats=tuple(
            SeatOutcome(
                entry=f"entry {entry:04}",
                rank=1 + sum(other > own for other in prestige),
                prestige=own,
                termination=Termination.COMPLETED,
            )
            for entry, own in zip(group, prestige, strict=True)
        ),
        replay_sha256=f"{dice.getrandbits(256):064x}",
        started="2026-01-01T00:00:00.000+00:00",
        seconds=1.0,
    )


def _measure(path: Path) -> None:
    """Print the time and memory this freshly started process needs for the standings."""
    began = time.perf_counter()
    with path.open() as lines:
        results = [MatchResult.from_json(line) for line in lines]
    read, read_memory = time.perf_counter(), _peak()
    compute_standings("Cup", (), len(results), results)
    found = {
        "read_seconds": read - began,
        "seconds": time.perf_counter() - read,
        "read_memory": read_memory,
        "memory": _peak(),
    }
    print(json.dumps(found))


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    _measure(Path(sys.argv[1]))
