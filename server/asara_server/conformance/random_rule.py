"""The published rule by which random programs choose; see proto/README, "Random legal actions"."""

from hashlib import sha256


def random_index(seed: str, match_id: str, seat: int, decision_id: int, legal: int) -> int:
    """Return the index of the action to choose; `legal` is the number of legal actions."""
    digest = sha256(f"{seed}/{match_id}/{seat}/{decision_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % legal
