"""The Merkle tree of RFC 6962, section 2.1: one hash that binds a list of leaves in order. Pure.

hash of a leaf     SHA-256(0x00 || leaf)
hash of a node     SHA-256(0x01 || left || right)
root of n leaves   their only hash, or the node of the first k leaves and the rest, if k is the
                   largest power of two below n; SHA-256 of nothing if n is 0
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(b"\0" + leaf).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree, given the hashes of its leaves."""
    if not hashes:
        return sha256().digest()
    level = list(hashes)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        # A hash without a partner moves up unchanged, which yields the tree of the RFC.
        level = [_node(*pair) for pair in pairs] + (level[-1:] if len(level) % 2 else [])
    return level[0]


def inclusion_path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    """Return the audit path of a leaf: the sibling hashes on its way up to the root."""
    return path_in(levels_of(hashes), index)


def levels_of(hashes: Sequence[bytes]) -> list[list[bytes]]:
    """Return the hashes of every level of the tree except the root, leaves first."""
    levels = []
    level = list(hashes)
    while len(level) > 1:
        levels.append(level)
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [_node(*pair) for pair in pairs] + (level[-1:] if len(level) % 2 else [])
    return levels


def path_in(levels: Sequence[Sequence[bytes]], index: int) -> list[bytes]:
    """Return the audit path of a leaf, like `inclusion_path`, using precomputed levels."""
    path = []
    for level in levels:
        beside = index ^ 1
        if beside < len(level):
            path.append(level[beside])
        index //= 2
    return path


def root_from_path(leaf: bytes, index: int, size: int, path: Iterable[bytes]) -> bytes | None:
    """Return the root that an audit path leads to; None if the path has the wrong length.

    `leaf` is the hash of the leaf at this index, and `size` the number of leaves.
    """
    if not 0 <= index < size:
        return None
    found, last = leaf, size - 1
    for beside in path:
        if last == 0:
            return None
        # A hash without a partner moves up until it has one, on its left.
        while index == last and index % 2 == 0:
            index, last = index // 2, last // 2
        found = _node(beside, found) if index % 2 else _node(found, beside)
        index, last = index // 2, last // 2
    return found if last == 0 else None


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()
