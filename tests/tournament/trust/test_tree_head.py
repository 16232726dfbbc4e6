"""The tree is that of RFC 6962: the definitions of its section 2.1, word by word."""

from collections.abc import Sequence
from hashlib import sha256

import pytest

from asara_server.tournament.trust.tree_head import (
    leaf_hash,
    levels_of,
    path_in,
    root_from_path,
    root_of,
)


def split(leaves: Sequence[bytes]) -> int:
    """The largest power of two smaller than the number of leaves."""
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return k


def tree_hash(leaves: Sequence[bytes]) -> bytes:
    """MTH of section 2.1."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\0" + leaves[0]).digest()
    k = split(leaves)
    return sha256(b"\1" + tree_hash(leaves[:k]) + tree_hash(leaves[k:])).digest()


def audit_path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PATH of section 2.1.1."""
    if len(leaves) == 1:
        return []
    k = split(leaves)
    if m < k:
        return [*audit_path(m, leaves[:k]), tree_hash(leaves[k:])]
    return [*audit_path(m - k, leaves[k:]), tree_hash(leaves[:k])]


def leaves(number: int) -> list[bytes]:
    return [f"leaf {index}".encode() for index in range(number)]


@pytest.mark.parametrize("size", [*range(20), 31, 32, 33, 64, 100])
def test_roots_and_paths(size: int) -> None:
    data = leaves(size)
    hashes = [leaf_hash(leaf) for leaf in data]
    root = tree_hash(data)
    assert root_of(hashes) == root
    for index in range(size):
        path = path_in(levels_of(hashes), index)
        assert path == audit_path(index, data)
        assert root_from_path(hashes[index], index, size, path) == root


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13])
def test_no_other_place_length_or_leaf_leads_to_the_root(size: int) -> None:
    hashes = [leaf_hash(leaf) for leaf in leaves(size)]
    root = root_of(hashes)
    for index in range(size):
        path = path_in(levels_of(hashes), index)
        for other in range(-1, size + 1):
            if other != index:
                assert root_from_path(hashes[index], other, size, path) != root
        assert root_from_path(leaf_hash(b"other"), index, size, path) != root
        assert root_from_path(hashes[index], index, size, [*path, root]) is None
        if path:
            assert root_from_path(hashes[index], index, size, path[:-1]) is None
            assert root_from_path(hashes[index], index, size, path[::-1]) != root or (
                path == path[::-1]
            )
