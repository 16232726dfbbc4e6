"""The Merkle tree of a run, and its signed head, which is written when the run ends or is stopped.

Every attempt at a match, void or not, is a leaf: its line of `results.jsonl` without the line
break. Leaves are in schedule order, and attempts at one match in the order in which they were made.
The head binds the root of the tree, and with it every result and every replay, to the manifest.

The tree is that of RFC 6962, section 2.1:

hash of a leaf     SHA-256(0x00 || leaf)
hash of a node     SHA-256(0x01 || left || right)
root of n leaves   their only hash, or the node of the first k leaves and the rest, if k is the
                   largest power of two below n; SHA-256 of nothing if n is 0
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal

from pydantic import Field

from asara_server.tournament.run.run_record import Document
from asara_server.tournament.schedule.schedule import ScheduledMatch
from asara_server.tournament.standings.match_result import MatchResult

TREE_HEAD = "tree_head.json"


class TreeHead(Document):
    """Content of `tree_head.json`."""

    format: Literal["asara tree head 1"] = "asara tree head 1"
    manifest_sha256: str
    state: Literal["finished", "cut short"]
    ended: str
    """Time of the end, ISO 8601, UTC."""
    scheduled: int
    """Number of matches; less than in the manifest if a duel was decided early."""
    played: int
    """Number of matches with a result that counts."""
    void: int
    """Number of matches that were attempted but have no result."""
    attempts: int = Field(ge=0)
    """Number of leaves."""
    root: str
    """Root of the Merkle tree, in hexadecimal."""
    results_sha256: str
    standings_sha256: str
    journal_sha256: str
    out: dict[str, str]
    """Entries that could not be built or started, with the reasons."""
    suspended: dict[str, str]
    """Entries that forfeited too often, with the reasons."""
    tournament_secret: str | None
    """The secret from which all deals are derived; None if the run is not finished."""


def leaf_of(result: MatchResult) -> bytes:
    """Return the leaf of an attempt: its line of `results.jsonl` without the line break."""
    return result.to_json().encode()


def in_order(
    results: Iterable[MatchResult], schedule: Iterable[ScheduledMatch]
) -> list[MatchResult]:
    """Sort attempts in the order of the leaves; unscheduled matches come last."""
    order = {match.match_id: place for place, match in enumerate(schedule)}
    return sorted(
        results,
        key=lambda result: (
            order.get(result.match_id, len(order)),
            result.match_id,
            result.attempt,
        ),
    )


def root_text(results: Iterable[MatchResult], schedule: Iterable[ScheduledMatch]) -> str:
    """Return the root of the tree built from these attempts, in hexadecimal."""
    return root_of([leaf_hash(leaf_of(one)) for one in in_order(results, schedule)]).hex()


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(b"\0" + leaf).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def levels_of(hashes: Sequence[bytes]) -> list[list[bytes]]:
    """Return the hashes of every level of the tree: leaves first, then up to the root."""
    levels = [list(hashes)]
    while len(level := levels[-1]) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        # A hash without a partner moves up unchanged, which yields the tree of the RFC.
        levels.append([_node(*pair) for pair in pairs] + (level[-1:] if len(level) % 2 else []))
    return levels


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree, given the hashes of its leaves."""
    return levels_of(hashes)[-1][0] if hashes else sha256().digest()


def path_in(levels: Sequence[Sequence[bytes]], index: int) -> list[bytes]:
    """Return the audit path of a leaf: the sibling hashes on its way up to the root."""
    path = []
    for level in levels:
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        index //= 2
    return path


def root_from_path(leaf: bytes, index: int, size: int, path: Iterable[bytes]) -> bytes | None:
    """Return the root that an audit path leads to; None if the path has the wrong length.

    `leaf` is the hash of the leaf at this index, and `size` the number of leaves.
    """
    if not 0 <= index < size:
        return None
    found, last = leaf, size - 1
    for sibling in path:
        if last == 0:
            return None
        # A hash without a partner moves up until it has one, on its left.
        while index == last and index % 2 == 0:
            index, last = index // 2, last // 2
        found = _node(sibling, found) if index % 2 else _node(found, sibling)
        index, last = index // 2, last // 2
    return found if last == 0 else None
