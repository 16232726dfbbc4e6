"""Seconds until a new bot has its seat at a public address, with strangers who knock and without.

The referee and the strangers are those of tests/network. Of the strangers, 500 addresses connect
without rest, each with one connection at a time. The bot dials as the clients do, at a referee that
has never seen its address.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from scripts.benchmark.figures import Bar, Figure, compare
from tests.network.crowd import KINDS, crowd
from tests.network.served import served
from tests.network.test_siege import ADDRESSES, seat

BAR: Final = Bar(2, most=True, absolute=True)
"""Seconds until the bot has its seat."""
_OPEN_FILES: Final = 1024
_KINDS: Final[dict[str, Sequence[str]]] = {
    "gate_silent": ("silent",),
    "gate_preface": ("preface",),
    "gate_handshake": ("hello",),
    "gate_any": tuple(KINDS),
}
"""Maps the name of each figure to what the strangers send."""


def gate(quick: bool) -> list[Figure]:
    """Measure the way to a seat for each kind of strangers."""
    rounds = range(1 if quick else 5)
    return [
        compare(
            name,
            [(_seconds(kinds), _seconds(())) for _ in rounds],
            unit="s",
            peer="without strangers",
            bar=BAR,
        )
        for name, kinds in _KINDS.items()
    ]


def _seconds(kinds: Sequence[str]) -> float:
    """Return how long a bot took to its seat at a new referee among strangers of these kinds."""
    with served("remote", _OPEN_FILES) as process:
        address = process.addresses[0]
        if not kinds:
            return _seat(address)
        with crowd(int(address.rpartition(":")[2]), ADDRESSES, *kinds) as strangers:
            strangers.wait_for_knocks(20 * ADDRESSES)
            return _seat(address)


def _seat(address: str) -> float:
    began = time.perf_counter()
    asyncio.run(seat(address, tls=True))
    return time.perf_counter() - began
