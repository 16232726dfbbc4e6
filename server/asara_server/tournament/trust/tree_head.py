"""The signed head of a run's Merkle tree, written when the run ends or is stopped.

Every attempt at a match, void or not, is a leaf: its line of `results.jsonl` without the line
break. Leaves are in schedule order, and attempts at one match in the order in which they were made.
The head binds the root of the tree, and with it every result and every replay, to the manifest.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from asara_server.tournament.standings.match_result import MatchResult
from asara_server.tournament.trust.merkle_tree import leaf_hash, root_of
from asara_server.tournament.trust.signed_file import Document

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


def schedule_order(match_ids: Iterable[str]) -> dict[str, int]:
    """Return each match's position in the schedule."""
    return {match_id: place for place, match_id in enumerate(match_ids)}


def leaf_of(result: MatchResult) -> bytes:
    """Return the leaf of an attempt: its line of `results.jsonl` without the line break."""
    return result.to_json().encode()


def in_order(results: Iterable[MatchResult], order: Mapping[str, int]) -> list[MatchResult]:
    """Sort attempts in the order of the leaves; unscheduled matches come last."""
    return sorted(
        results,
        key=lambda result: (
            order.get(result.match_id, len(order)),
            result.match_id,
            result.attempt,
        ),
    )


def leaf_hashes(results: Sequence[MatchResult], order: Mapping[str, int]) -> list[bytes]:
    """Return the hashes of the leaves, in leaf order."""
    return [leaf_hash(leaf_of(result)) for result in in_order(results, order)]


def root_text(results: Sequence[MatchResult], order: Mapping[str, int]) -> str:
    """Return the root of the tree built from these attempts, in hexadecimal."""
    return root_of(leaf_hashes(results, order)).hex()
