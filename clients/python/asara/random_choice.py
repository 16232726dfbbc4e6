"""The rule that random starters in every language use to choose; proto/README.md publishes it."""

from __future__ import annotations

from hashlib import sha256


def random_index(seed: str, match_id: str, seat: int, decision_id: int, count: int) -> int:
    """Return the index, below `count`, that the rule chooses for a decision."""
    text = f"{seed}/{match_id}/{seat}/{decision_id}"
    return int.from_bytes(sha256(text.encode()).digest()[:8]) % count
