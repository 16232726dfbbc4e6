"""Seconds until a new bot gets its seat at a public address, with and without strangers.

The referee and the strangers come from tests/network. The strangers use 500 addresses, which
connect without pause, each with one connection at a time. The bot connects like the clients do, to
a referee that has never seen its address.
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
    """Measure the time until the bot has its seat, for each kind of stranger."""
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
    """Return how long a bot takes to get its seat at a new referee among these strangers."""
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
