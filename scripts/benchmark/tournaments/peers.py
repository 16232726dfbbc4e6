"""The peers of the whole job: the bare loop, kaggle-environments and Pelita."""

import json
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from scripts.benchmark.children import Child
from scripts.benchmark.figures import BenchError
from scripts.benchmark.processor_time import Usage, run

_ROOT: Final = Path(__file__).parents[3]
_TIMEOUT_S: Final = 300.0
_PELITA_ROUNDS: Final = (10, 600)
"""Number of rounds in the short and in the long match."""
_PELITA_MOVES: Final = 4
"""Number of moves in a round."""


class Rate(NamedTuple):
    """Matches, steps or moves per second, and processor seconds for each."""

    per_s: float
    cpu_s: float


def check_installed() -> None:
    """Raise BenchError if a peer is not installed."""
    for module in ("kaggle_environments", "pelita"):
        if find_spec(module) is None:
            raise BenchError(
                f"{module}, a peer of `tournament`, is not installed: run scripts/bench, which "
                "installs it, or .venv/bin/python -m pip install -e '.[bench]'"
            )


def play_floor(
    replays: Path, matches: int, concurrency: int, variables: Mapping[str, str] | None = None
) -> Rate:
    """Play recorded matches in the bare loop, with bots that run as long as the loop.

    `variables` are added to the environment of the loop, but not to the bots' environment.
    """
    given = {"replays": str(replays), "matches": matches, "concurrency": concurrency}
    command = [sys.executable, "-m", "scripts.benchmark.tournaments.floor", json.dumps(given)]
    usage = run(command, folder=_ROOT, timeout_s=_TIMEOUT_S, environment=variables)
    seconds = json.loads(usage.printed.splitlines()[-1])["seconds"]
    return Rate(matches / seconds, usage.cpu_s / matches)


def play_kaggle(kaggle: Child, seconds: float) -> float:
    """Return the steps per second of the agents in a `kaggle_steps` process."""
    played = kaggle.call("play", seconds=seconds)
    return played["steps"] / played["seconds"]


def play_pelita() -> Rate:
    """Play a short and a long match; only their difference counts, so the start cancels out."""
    short, long = map(_pelita, _PELITA_ROUNDS)
    moves = _PELITA_MOVES * (_rounds_of(long) - _rounds_of(short))
    seconds = max(long.seconds - short.seconds, 1e-3)
    return Rate(moves / seconds, (long.cpu_s - short.cpu_s) / moves)


def _pelita(rounds: int) -> Usage:
    player = find_spec("pelita.player")
    assert player is not None
    assert player.origin is not None
    bot = str(Path(player.origin).with_name("RandomPlayers.py"))
    pelita = str(Path(sys.executable).with_name("pelita"))
    command = [pelita, "--null", "--seed", "1", "--rounds", str(rounds), bot, bot]
    return run(command, timeout_s=_TIMEOUT_S)


def _rounds_of(usage: Usage) -> int:
    """Return the number of rounds played; a match ends early if one side has eaten everything."""
    found = re.search(r"Finished after (\d+) round", usage.printed)
    if found is None:
        raise BenchError(f"pelita did not finish its match:\n{usage.printed}")
    return int(found[1])
